package tui

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// failureText is why a pod failed: as a value, if more is known than the words of others.
type failureText struct {
	failure *cause.Failure
	text    string
}

// container is the one that failed, "" if none is known.
func (f failureText) container() string {
	if f.failure == nil {
		return ""
	}
	return f.failure.Container
}

// brief leaves out the container: "exit 137 OOMKilled".
func (f failureText) brief() string {
	if f.failure == nil {
		return f.text
	}
	return f.failure.Short()
}

// short is "exit 137 OOMKilled (main)": what tells causes apart comes first.
func (f failureText) short() string {
	if container := f.container(); container != "" {
		return f.brief() + " (" + container + ")"
	}
	return f.brief()
}

// briefCauses are causes in short, with the container where that is not always the same.
func briefCauses(causes []failureText) []string {
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
