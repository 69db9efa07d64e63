package section

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// OwnCauses are the causes of pods that failed on their own, as far as is known: without the pods that the Job's controller
// stopped. Causes with the same text are one, and those that failed indexes for good come first.
func OwnCauses(r *explain.Report) []explain.Cause {
	var own []explain.Cause
	for i := range r.Causes {
		c := r.Causes[i]
		if isStopped(&c) {
			continue
		}
		same := func(other explain.Cause) bool { return other.Text == c.Text && other.Action == c.Action }
		if at := slices.IndexFunc(own, same); at >= 0 {
			own[at].Count += c.Count
			continue
		}
		own = append(own, c)
	}
	slices.SortStableFunc(own, func(x, y explain.Cause) int {
		return rank(&y) - rank(&x)
	})
	return own
}

// rank is higher for causes that decided something.
func rank(c *explain.Cause) int {
	switch {
	case c.FailedIndexes != "" || c.Action == "FailJob":
		return 2
	case c.Action == "Ignore":
		return 0
	}
	return 1
}

// isStopped reports whether the Job's controller stopped the pods.
func isStopped(c *explain.Cause) bool { return c.Consequence || c.Stopped != "" }

// StoppedPods are how many pods the Job's controller stopped, and why: for the reason of most of them.
func StoppedPods(r *explain.Report) (pods int32, reason explain.StopReason) {
	most := int32(0)
	for i := range r.Causes {
		c := &r.Causes[i]
		if !isStopped(c) {
			continue
		}
		if pods += c.Count; c.Count > most {
			most, reason = c.Count, c.Stopped
		}
	}
	return pods, reason
}
