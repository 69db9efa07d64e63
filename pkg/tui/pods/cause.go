package pods

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// FailureText is why a pod failed: as a value, if more is known than the words of others.
type FailureText struct {
	Failure *cause.Failure
	Text    string
}

// container is the one that failed, "" if none is known.
func (f FailureText) container() string {
	if f.Failure == nil {
		return ""
	}
	return f.Failure.Container
}

// brief leaves out the container: "exit 137 OOMKilled".
func (f FailureText) brief() string {
	if f.Failure == nil {
		return f.Text
	}
	return f.Failure.Short()
}

// short is "exit 137 OOMKilled (main)": what differs between causes comes first.
func (f FailureText) short() string {
	if container := f.container(); container != "" {
		return f.brief() + " (" + container + ")"
	}
	return f.brief()
}

// BriefCauses are causes in short, with the container where that is not always the same.
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
