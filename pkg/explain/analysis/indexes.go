package analysis

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// endedIndexes are the indexes that have succeeded and that have failed, none in both,
// with those that the next status will have.
func (a *analysis) endedIndexes() (completed, failed indexset.Set) {
	return a.plan.Findings.CompletedIndexes, a.plan.Findings.FailedIndexes
}

// indexSets are the indexes by state; each is in one set.
type indexSets struct {
	completed, failed, active, terminating, backingOff, pending, unknown indexset.Set
	// ready is the part of active whose pod is ready. outOfRange are beyond the
	// completions, and in no other set.
	ready, outOfRange indexset.Set
}

func (a *analysis) indexSets() indexSets {
	var s indexSets
	s.completed, s.failed = a.endedIndexes()
	total := ptr.Deref(a.spec.Completions, 0)
	active, beyond := indexesBelow(a.active, total)
	terminating, more := indexesBelow(a.terminating, total)
	ready, _ := indexesBelow(slices.DeleteFunc(slices.Clone(a.active), func(p *explain.Pod) bool { return !p.Ready }), total)
	_, waiting := a.indexBackoff()
	rest := indexset.Below(total).Difference(s.completed).Difference(s.failed)
	take := func(indexes indexset.Set) indexset.Set {
		taken := indexes.Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(indexset.Of(active...))
	s.ready = indexset.Of(ready...).Intersection(s.active)
	s.outOfRange = indexset.Of(slices.Concat(beyond, more)...)
	s.terminating = take(indexset.Of(terminating...))
	s.backingOff = take(waiting)
	if a.PodsRead {
		s.pending = rest
	} else {
		s.unknown = rest
	}
	return s
}

// indexesBelow are the indexes of pods, and those that are beyond the completions: the Job
// was scaled down (elastic Indexed Jobs), and such a pod is on its way out.
func indexesBelow(pods []*explain.Pod, completions int32) (within, beyond []int32) {
	within = make([]int32, 0, len(pods))
	for _, p := range pods {
		switch {
		case p.Index < 0:
		case p.Index < completions:
			within = append(within, p.Index)
		default:
			beyond = append(beyond, p.Index)
		}
	}
	return within, beyond
}

// rankedSet are the indexes of one state.
type rankedSet struct {
	state string
	set   indexset.Set
}

// ranked are the states in the order in which indexes are listed one by one.
func (s *indexSets) ranked() []rankedSet {
	return []rankedSet{
		{explain.IndexFailed, s.failed}, {explain.IndexBackingOff, s.backingOff}, {explain.IndexActive, s.active}, {explain.IndexTerminating, s.terminating},
		{explain.IndexPending, s.pending}, {explain.IndexUnknown, s.unknown}, {explain.IndexCompleted, s.completed},
	}
}

// indexStates is nil for a NonIndexed Job.
func (a *analysis) indexStates() *explain.Indexes {
	if !a.indexed() {
		return nil
	}
	s := a.indexSets()
	out := &explain.Indexes{
		Total:     ptr.Deref(a.spec.Completions, 0),
		Completed: s.completed.String(), Failed: s.failed.String(), Active: s.active.String(),
		Ready: s.ready.String(), OutOfRange: s.outOfRange.String(),
		Terminating: s.terminating.String(), BackingOff: s.backingOff.String(), Pending: s.pending.String(), Unknown: s.unknown.String(),
		CompletedCount: int32(s.completed.Len()), FailedCount: int32(s.failed.Len()), ActiveCount: int32(s.active.Len()),
		ReadyCount: int32(s.ready.Len()), OutOfRangeCount: int32(s.outOfRange.Len()),
		TerminatingCount: int32(s.terminating.Len()), BackingOffCount: int32(s.backingOff.Len()), PendingCount: int32(s.pending.Len()), UnknownCount: int32(s.unknown.Len()),
	}
	out.Details, out.DetailsOmitted = a.indexDetails(&s)
	return out
}

// indexWait is an index whose latest pod failed, and that gets no other before until.
type indexWait struct {
	index int32
	until time.Time
}

// indexWaits are the indexes in back-off, in order.
func (a *analysis) indexWaits() []indexWait {
	var out []indexWait
	for _, w := range a.plan.Findings.AwaitReplacement {
		if a.Now.Before(w.Until) {
			out = append(out, indexWait{w.Pod.Index, w.Until})
		}
	}
	return out
}

// indexBackoff is when the first of the indexes in back-off may be retried, and which they are.
func (a *analysis) indexBackoff() (time.Time, indexset.Set) {
	var first time.Time
	var waiting []int32
	for _, w := range a.indexWaits() {
		waiting = append(waiting, w.index)
		if first.IsZero() || w.until.Before(first) {
			first = w.until
		}
	}
	return first, indexset.Of(waiting...)
}

// roomForRetries reports whether an index gets its next pod as soon as its back-off has ended: no
// other pod has to end before.
func (a *analysis) roomForRetries() bool { return a.plan.Findings.RetryHeld }
