package pods

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// FailureText is the cause of a pod's failure; Failure is set if it was recognized, rather than only quoted.
type FailureText struct {
	Failure *cause.Failure
	Text    string
}

// container returns the name of the failed container, "" if it is unknown.
func (f FailureText) container() string {
	if f.Failure == nil {
		return ""
	}
	return f.Failure.Container
}

// brief formats the cause without the container: "exit 137 OOMKilled".
func (f FailureText) brief() string {
	if f.Failure == nil {
		return f.Text
	}
	return f.Failure.Short()
}

// short formats the cause as "exit 137 OOMKilled (main)": the part that differs between causes comes first.
func (f FailureText) short() string {
	if container := f.container(); container != "" {
		return f.brief() + " (" + container + ")"
	}
	return f.brief()
}

// BriefCauses formats the causes in short form, with the container if it is not the same for all.
func BriefCauses(causes []FailureText) []string {
	containers := map[string]bool{}
	for _, c := range causes {
		containers[c.container()] = true
	}
	delete(containers, "")
	out := make([]string, len(causes))
	for i, c := range causes {
		switch {
		case c.container() == "":
			out[i] = wording.Sentence(c.brief())
		case len(containers) > 1:
			out[i] = c.short()
		default:
			out[i] = c.brief()
		}
	}
	return out
}
