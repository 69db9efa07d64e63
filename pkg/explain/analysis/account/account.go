// Package account accounts for all failures that the status of a Job counts, including failures of pods that no longer exist.
package account

import (
	"cmp"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// Accounting attributes each failure that the status counts to the source of its cause.
//
// Its invariant: the parts FromPods, FromEvents, Stopped, FromCondition and Unexplained add up to Counted, and none of them
// is negative. Only explain, which moves failures from Unexplained to another part, changes them.
type Accounting struct {
	// Counted is the number of failures that the status counts, or has recorded to count next.
	Counted int32
	// FromPods counts failures of pods that exist; FromEvents, failures that only our controller's events show; Stopped,
	// pods that were deleted while they ran, by the Job's controller or by others; FromCondition, the failure that the
	// Job's condition names; Unexplained, failures without a known cause.
	FromPods, FromEvents, Stopped, FromCondition, Unexplained int32
	// CountedStopped is the number of pods, in all parts, that the Job's own controller deleted: they have no cause of their own.
	CountedStopped int32
	// Causes are the failures by cause, the most frequent first and consequences of the end of the Job last. They include
	// failures that a rule ignores, and failures that the status does not count yet.
	Causes []explain.Cause
}

// Of accounts for all failures of the Job; fs are the failures of pods that exist. A report on a part of the Job has only
// the causes of fs, because the status does not count that part separately.
func Of(in *facts.Facts, fs *failures.Failures, o explain.Options) *Accounting {
	a := &Accounting{}
	for _, g := range fs.Groups {
		c := g.Cause(in)
		indexes := fs.FailedIndexes(g)
		c.FailedIndexes, c.FailedIndexCount = indexes.String(), int32(indexes.Len())
		a.Causes = append(a.Causes, c)
	}
	if o.IsNarrow() {
		return a
	}
	a.Counted = max(in.CountedFailures(), 0)
	a.Unexplained = a.Counted

	// Pods are the best source.
	inPods := map[cause.Cause]countedCause{}
	for i, g := range fs.Groups {
		known, again := inPods[g.Kind.Cause]
		if !again {
			known.place = i
		}
		n := countedPods(in, g)
		known.pods += n
		inPods[g.Kind.Cause] = known
		if !g.Ignored() {
			a.explainStopped(&a.FromPods, n, g.Consequence || g.Stopped() != "")
		}
	}

	a.addEvents(in, fs, inPods)
	a.addStopped(in, fs)

	for i := range a.Causes {
		a.Causes[i].NeverStarted = fs.NeverStarted != nil && a.Causes[i].Stopped != ""
	}

	// The condition is the last resort: it names one pod.
	failedOnItsOwn := func(c explain.Cause) bool { return c.Stopped == "" }
	if in.Decision.MatchedPod.Name != "" && !slices.ContainsFunc(a.Causes, failedOnItsOwn) {
		a.Causes = append(a.Causes, conditionCause(in))
		a.explain(&a.FromCondition, 1)
	}
	return a
}

// explain moves at most n failures from Unexplained to another part, and returns the number moved.
func (a *Accounting) explain(part *int32, n int32) int32 {
	n = max(min(n, a.Unexplained), 0)
	*part += n
	a.Unexplained -= n
	return n
}

// explainStopped is explain, and adds the failures to CountedStopped if the Job's controller stopped the pods.
func (a *Accounting) explainStopped(part *int32, n int32, stopped bool) int32 {
	n = a.explain(part, n)
	if stopped {
		a.CountedStopped += n
	}
	return n
}

// CountedOwn returns how many failures the status counts, without the pods that the Job's controller stopped.
func (a *Accounting) CountedOwn() int32 { return a.Counted - a.CountedStopped }

// Exceeding returns how many failures exceeded the backoffLimit, without the pods that were stopped afterwards if the others suffice.
func (a *Accounting) Exceeding(limit int32) int32 {
	if own := a.CountedOwn(); own > limit {
		return own
	}
	return a.Counted
}

// Seen returns the number of failures, also ignored ones, without the pods that the Job's controller stopped: at least the
// number that the status counts.
func (a *Accounting) Seen() int32 {
	n := a.Unexplained
	for i := range a.Causes {
		if !a.Causes[i].IsStopped() {
			n += a.Causes[i].Count
		}
	}
	return max(n, a.CountedOwn())
}

// countedCause is the position of a cause of existing pods in Accounting.Causes, and the number of these pods that are counted.
type countedCause struct {
	place int
	pods  int32
}

// countedPods returns how many pods of a cause the controller counts and reports in events: all if they are ignored, else
// only recorded ones. A failed pod of an index is recorded only when the index's next pod exists (KEP-3850).
func countedPods(in *facts.Facts, g *failures.Group) int32 {
	if g.Ignored() {
		return int32(len(g.Failures))
	}
	n := int32(0)
	for _, f := range g.Failures {
		if !in.NotRecorded(f.Pod) {
			n++
		}
	}
	return n
}

// SortCauses sorts causes by frequency, with consequences of the end of the Job last.
func SortCauses(causes []explain.Cause) {
	slices.SortStableFunc(causes, func(x, y explain.Cause) int {
		return cmp.Or(lists.FalseFirst(x.Consequence, y.Consequence), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
}
