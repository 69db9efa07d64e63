package manifest

import (
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

const (
	rulesPath = "spec.podFailurePolicy.rules"
	// AnnotationPath is the path of the names of rules in a Job.
	AnnotationPath = "metadata.annotations[" + rulename.Annotation + "]"
)

// NamePath returns the path of the name of a rule in a Job, as in KEP-4443.
func NamePath(rule int) string { return fmt.Sprintf("%s[%d].name", rulesPath, rule) }

// Problem is a problem in a field of a Job.
type Problem struct {
	Path string // path in the Job, see Job.At
	Text string
	// Unquoted is set if the value would be a string if it were in quotes.
	Unquoted bool
}

// RemoveNames removes the field name from the rules of the Job's podFailurePolicy (KEP-4443), which API servers before 1.38 do
// not have. It returns a name for each rule, "" if the rule has none, or nil if no rule has the field. Names that are not
// strings are reported as Problems and returned as "". rulename.Validate checks whether names are valid.
func (j *Job) RemoveNames() (rulename.Names, []Problem) {
	rules := j.rules()
	names := make(rulename.Names, len(rules))
	given := false
	var problems []Problem
	for i := range rules {
		rule := fieldsOf(rules[i])
		value, found := rule["name"]
		if !found {
			continue
		}
		given = true
		delete(rule, "name")
		name, isText := value.(string)
		if !isText && value != nil {
			problems = append(problems, j.notTextProblem("the name of a rule", NamePath(i), value))
		}
		names[i] = name
	}
	if !given {
		return nil, nil
	}
	return names, problems
}

// notTextProblem returns the Problem that a value is not a string, and quotes the value as written.
func (j *Job) notTextProblem(what, path string, value any) Problem {
	switch value.(type) {
	case map[string]any:
		return Problem{Path: path, Text: what + " is text, not an object"}
	case []any:
		return Problem{Path: path, Text: what + " is text, not a list"}
	}
	written := fmt.Sprint(value)
	if as := j.Object.Written(j.At(path)); as != "" {
		written = as
	}
	return Problem{Path: path, Text: fmt.Sprintf("%s is text; quote %s", what, written), Unquoted: true}
}

func (j *Job) rules() []any {
	rules, _ := fieldsOf(fieldsOf(j.Content["spec"])["podFailurePolicy"])["rules"].([]any)
	return rules
}

// Annotation returns the annotation with the names of rules; "" if it is missing or not a string.
func (j *Job) Annotation() string {
	return textOf(fieldsOf(fieldsOf(j.Content["metadata"])["annotations"])[rulename.Annotation])
}

// MoveNames moves the names of rules into the annotation. The names must be valid (PFN-16 to PFN-22), and so must an existing
// annotation: if both are given, they must be equal.
func (j *Job) MoveNames() []error {
	names, problems := j.RemoveNames()
	problems = append(problems, j.checkNames(names, len(problems) == 0)...)
	var all []error
	for _, p := range problems {
		all = append(all, j.Object.Errorf(j.At(p.Path), "%s", p.Text))
	}
	value := rulename.Format(names)
	if value == "" || len(all) > 0 {
		return all
	}
	metadata, ok := objectIn(j.Content, "metadata")
	if !ok {
		return []error{j.Object.Errorf(j.At("metadata"), "metadata is not an object")}
	}
	annotations, ok := objectIn(metadata, "annotations")
	if !ok {
		return []error{j.Object.Errorf(j.At("metadata.annotations"), "annotations are not an object")}
	}
	annotations[rulename.Annotation] = value
	return nil
}

// checkNames checks the names taken from the rules, the annotation, and, if all names could be read, whether both are equal.
// Without podFailurePolicy there are no rules and no problems (PFN-12).
func (j *Job) checkNames(names rulename.Names, all bool) []Problem {
	if len(names) > rulename.MaxRules { // checking each could take forever
		return []Problem{{Path: rulesPath, Text: fmt.Sprintf("there are %d rules, but at most %d are allowed", len(names), rulename.MaxRules)}}
	}
	var problems []Problem
	for _, v := range rulename.Validate(names) {
		problems = append(problems, Problem{Path: NamePath(v.Rule), Text: v.String()})
	}
	problems = append(problems, j.CheckAnnotation()...)
	rules := len(j.rules())
	if rules == 0 {
		return problems
	}
	annotated, violations := rulename.Parse(j.Annotation(), rules)
	for _, v := range violations {
		problems = append(problems, Problem{Path: AnnotationPath, Text: "annotation " + rulename.Annotation + ": " + v.String()})
	}
	if len(problems) == 0 && all && annotated != nil && names != nil && !slices.Equal(annotated, names) {
		problems = append(problems, Problem{Path: AnnotationPath, Text: fmt.Sprintf("annotation %s: the rules have different names (%s); remove one of the two",
			rulename.Annotation, rulename.Format(names))})
	}
	return problems
}

// CheckAnnotation checks that the annotation with the names is a string; otherwise it would be passed on or overwritten.
func (j *Job) CheckAnnotation() []Problem {
	value := fieldsOf(fieldsOf(j.Content["metadata"])["annotations"])[rulename.Annotation]
	if _, isText := value.(string); isText || value == nil {
		return nil
	}
	return []Problem{j.notTextProblem("the annotation "+rulename.Annotation, AnnotationPath, value)}
}

// SetManagedBy sets spec.managedBy.
func (j *Job) SetManagedBy(value string) error {
	spec, ok := objectIn(j.Content, "spec")
	if !ok {
		return j.Object.Errorf(j.At("spec"), "spec is not an object")
	}
	spec["managedBy"] = value
	return nil
}

// ManagedBy returns spec.managedBy, "" if it is missing or not a string.
func (j *Job) ManagedBy() string { return textOf(fieldsOf(j.Content["spec"])["managedBy"]) }

// objectIn returns the object in a field, after creating it if it is missing, or false if the field is not an object.
func objectIn(parent map[string]any, name string) (map[string]any, bool) {
	if parent[name] == nil {
		parent[name] = map[string]any{}
	}
	found, ok := parent[name].(map[string]any)
	return found, ok
}
