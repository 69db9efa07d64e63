package explain

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// States of an IndexInfo.
const (
	IndexCompleted   = "Completed"
	IndexFailed      = "Failed"
	IndexActive      = "Active"
	IndexTerminating = "Terminating"
	IndexBackingOff  = "BackingOff"
	IndexPending     = "Pending"
	IndexUnknown     = "Unknown"
)

// endedIndexes are the indexes that have succeeded and that have failed, none in both,
// with those that the next status will have.
func (a *analysis) endedIndexes() (completed, failed indexset.Set) {
	total := deref(a.spec.Completions, 0)
	completed, _ = indexset.ParseTolerant(a.job.Status.CompletedIndexes, total)
	failed, _ = indexset.ParseTolerant(deref(a.job.Status.FailedIndexes, ""), total)
	var fresh, lost []int32
	for i := range a.plan.Findings {
		switch f := &a.plan.Findings[i]; {
		case f.Kind == reconcile.FindingRecorded && f.Reason == reconcile.ReasonSucceeded && f.Index >= 0 && f.Index < total:
			fresh = append(fresh, f.Index)
		case f.Kind == reconcile.FindingIndexFailed:
			lost = append(lost, f.Index)
		}
	}
	completed = completed.Union(indexset.Of(fresh...))
	return completed, failed.Union(indexset.Of(lost...)).Difference(completed)
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
	total := deref(a.spec.Completions, 0)
	var active, ready, terminating, waiting, beyond []int32
	for i := range a.Pods {
		switch p := &a.Pods[i]; {
		case p.Index < 0, p.IsTerminal():
		case p.Index >= total:
			// The Job was scaled down (elastic Indexed Jobs): such a pod is on its way out,
			// and nothing of it counts. One that has ended is no longer in the way.
			beyond = append(beyond, p.Index)
		case p.IsActive():
			active = append(active, p.Index)
			if p.Ready {
				ready = append(ready, p.Index)
			}
		case p.IsTerminating():
			terminating = append(terminating, p.Index)
		}
	}
	for _, f := range a.findings(reconcile.FindingIndexBackoff) {
		waiting = append(waiting, f.Index)
	}
	rest := indexset.Below(total).Difference(s.completed).Difference(s.failed)
	take := func(indexes []int32) indexset.Set {
		taken := indexset.Of(indexes...).Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(active)
	s.ready = indexset.Of(ready...).Intersection(s.active)
	s.outOfRange = indexset.Of(beyond...)
	s.terminating = take(terminating)
	s.backingOff = take(waiting)
	if a.PodsRead {
		s.pending = rest
	} else {
		s.unknown = rest
	}
	return s
}

func (s *indexSets) state(index int32) string {
	for _, state := range []struct {
		set  indexset.Set
		name string
	}{
		{s.completed, IndexCompleted}, {s.failed, IndexFailed}, {s.active, IndexActive},
		{s.terminating, IndexTerminating}, {s.backingOff, IndexBackingOff}, {s.unknown, IndexUnknown},
	} {
		if state.set.Contains(index) {
			return state.name
		}
	}
	return IndexPending
}

// indexes is nil for a NonIndexed Job.
func (a *analysis) indexes() *Indexes {
	if !a.indexed() {
		return nil
	}
	s := a.indexSets()
	out := &Indexes{
		Total:     deref(a.spec.Completions, 0),
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
