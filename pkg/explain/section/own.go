package section

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// OwnCauses returns the causes of pods that failed on their own, as far as is known: without the pods that the Job's
// controller stopped. Causes with the same text and rule are merged.
func OwnCauses(r *explain.Report) []explain.Cause {
	var own []explain.Cause
	for i := range r.Causes {
		c := r.Causes[i]
		if c.IsStopped() {
			continue
		}
		same := func(other explain.Cause) bool {
			return other.Text != "" && other.Text == c.Text && other.Action == c.Action && other.RuleName == c.RuleName && ptr.Equal(other.Rule, c.Rule)
		}
		if at := slices.IndexFunc(own, same); at >= 0 {
			own[at].Count += c.Count
			continue
		}
		own = append(own, c)
	}
	return own
}

// StoppedNote returns "7 other pods were stopped when the Job failed", "" for none.
func StoppedNote(r *explain.Report) string {
	pods, reason := StoppedPods(r)
	if pods == 0 {
		return ""
	}
	return words.StoppedText(pods, reason, r.Verdict.Outcome, len(OwnCauses(r)) > 0)
}

// StoppedPods returns the number of pods that the Job's controller stopped, and the most frequent reason.
func StoppedPods(r *explain.Report) (pods int32, reason explain.StopReason) {
	most := int32(0)
	for i := range r.Causes {
		c := &r.Causes[i]
		if !c.IsStopped() {
			continue
		}
		if pods += c.Count; c.Count > most {
			most, reason = c.Count, c.Stopped
		}
	}
	return pods, reason
}
