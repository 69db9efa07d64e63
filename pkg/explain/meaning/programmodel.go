package meaning

import "fmt"

// ErrorModelMissing is that Hugging Face has no model or data set of a name, or does not show it to the program: it answers alike.
const ErrorModelMissing ErrorKind = "ModelMissing"

func modelText(subject string) string {
	if noHost.MatchString(subject) {
		return "the name of its model is missing: it asks Hugging Face for “" + subject + "”"
	}
	return "Hugging Face has no " + subject + ", or does not show it without a token"
}

// modelAdvice says where the name of a model and the token for it come from.
func modelAdvice(e *KnownError, c Container) string {
	place := c.sourceOf([]string{e.Subject})
	if noHost.MatchString(e.Subject) {
		return "give the program the name of its model, which it may have from " + place
	}
	token := "a token that may see it, in variable HF_TOKEN from a Secret"
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN"} {
		if v := c.variable(name); v != nil {
			token = "a token that may see it: " + c.placeOf(v)
		}
	}
	return fmt.Sprintf("correct the name %s in %s; or, if it is private, give the program %s", e.Subject, place, token)
}
