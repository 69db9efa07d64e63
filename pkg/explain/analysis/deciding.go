package analysis

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// decidingCause is how the pod ended that the chain of evidence leads to; nil if it leads to none, or if nothing has failed.
func decidingCause(v *explain.Verdict, chain []explain.Evidence) *explain.DecidingCause {
	if v.Fate != explain.FateFailed && v.Fate != explain.FateFailing {
		return nil
	}
	var found *explain.DecidingCause
	for i := range chain {
		switch link := &chain[i]; link.Kind {
		case explain.EvidencePod:
			if found != nil {
				return found // Further pods are only examples.
			}
			found = &explain.DecidingCause{Text: link.Text, Reason: link.Reason, Pod: link.Pod}
		case explain.EvidenceContainer:
			pod := ""
			if found != nil {
				pod = found.Pod
			}
			return &explain.DecidingCause{
				Text: link.Text, ExitCode: link.ExitCode, Reason: link.Reason, Container: link.Container, Pod: cmp.Or(link.Pod, pod),
			}
		}
	}
	return found
}
