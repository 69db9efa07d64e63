// Package account accounts for all failures that the status of a Job counts, also for those whose pods are gone.
package account

import (
	"cmp"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
)

// Accounting shows for each failure that the status counts where its cause is known from.
//
// Its invariant: the parts FromPods, FromEvents, Stopped, FromCondition and Unexplained add up to Counted, and none of
// them is negative. Only explain, which moves failures from Unexplained to another part, changes them.
type Accounting struct {
	// Counted is how many failures the status counts, or has recorded to count them next.
	Counted int32
	// FromPods are those of pods that exist, FromEvents those that only our controller's events show, Stopped those of
	// pods that were deleted as they ran, by the Job's controller or by others, FromCondition the one that the Job's
	// condition names. Nothing shows why the Unexplained ones failed.
	FromPods, FromEvents, Stopped, FromCondition, Unexplained int32
	// CountedStopped are those of all parts that are pods which the Job's own controller deleted: they failed for no cause of
	// their own.
	CountedStopped int32
	// Causes are all these by cause, the most frequent first and those that followed from the end of the Job last; also
	// failures that a rule ignores, and those that the status does not count yet.
	Causes []explain.Cause
}

// Of accounts for all failures of the Job; fs are those whose pods exist. In a report on a part of the Job there are
// only the causes of fs, as the status does not count that part on its own.
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
	if in.Outcome.MatchedPod.Name != "" && !slices.ContainsFunc(a.Causes, failedOnItsOwn) {
		a.Causes = append(a.Causes, conditionCause(in))
		a.explain(&a.FromCondition, 1)
	}
	return a
}

// explain moves at most n failures from Unexplained to another part, and returns how many.
func (a *Accounting) explain(part *int32, n int32) int32 {
	n = max(min(n, a.Unexplained), 0)
	*part += n
	a.Unexplained -= n
	return n
}

// explainStopped is explain for pods that the Job's controller stopped, or did not.
func (a *Accounting) explainStopped(part *int32, n int32, stopped bool) int32 {
	n = a.explain(part, n)
	if stopped {
		a.CountedStopped += n
	}
	return n
}

// CountedOwn is how many failures the status counts without the pods that the Job's controller stopped.
func (a *Accounting) CountedOwn() int32 { return a.Counted - a.CountedStopped }

// Exceeding is how many failures exceeded the backoffLimit: without the pods that were stopped then, if that explains it.
func (a *Accounting) Exceeding(limit int32) int32 {
	if own := a.CountedOwn(); own > limit {
		return own
	}
	return a.Counted
}

// Seen is how many failures there are without the pods that the Job's controller stopped: what the status counts, or more if
// it lags behind the pods.
func (a *Accounting) Seen() int32 {
	n := a.Unexplained
	for i := range a.Causes {
		if !a.Causes[i].IsStopped() {
			n += a.Causes[i].Count
		}
	}
	return max(n, a.CountedOwn())
}

// countedCause is the place of the first of Accounting.Causes with a cause of pods that exist, and how many of these
// pods are counted.
type countedCause struct {
	place int
	pods  int32
}

// countedPods is how many pods of a cause the controller counts, and reports in events: all that are ignored, and else
// those that are recorded at least. A failed pod of an index waits for that until the next pod exists (KEP-3850).
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

// SortCauses puts the most frequent first, and what followed from the end of the Job last.
func SortCauses(causes []explain.Cause) {
	slices.SortStableFunc(causes, func(x, y explain.Cause) int {
		return cmp.Or(failures.FalseFirst(x.Consequence, y.Consequence), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
}
