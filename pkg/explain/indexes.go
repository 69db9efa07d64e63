package explain

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
)

// maxIndexDetails is how many indexes are told one by one.
const maxIndexDetails = 100

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
	completed, failed, active, terminating, backingOff, pending indexset.Set
}

func (a *analysis) indexSets() indexSets {
	var s indexSets
	s.completed, s.failed = a.endedIndexes()
	all := indexset.Below(deref(a.spec.Completions, 0))
	var active, terminating, waiting []int32
	for i := range a.Pods {
		switch p := &a.Pods[i]; {
		case p.Index < 0:
		case p.IsActive():
			active = append(active, p.Index)
		case p.IsTerminating():
			terminating = append(terminating, p.Index)
		}
	}
	for _, f := range a.findings(reconcile.FindingIndexBackoff) {
		waiting = append(waiting, f.Index)
	}
	rest := all.Difference(s.completed).Difference(s.failed)
	take := func(indexes []int32) indexset.Set {
		taken := indexset.Of(indexes...).Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(active)
	s.terminating = take(terminating)
	s.backingOff = take(waiting)
	s.pending = rest
	return s
}

func (s *indexSets) state(index int32) string {
	for _, state := range []struct {
		set  indexset.Set
		name string
	}{
		{s.completed, IndexCompleted}, {s.failed, IndexFailed}, {s.active, IndexActive},
		{s.terminating, IndexTerminating}, {s.backingOff, IndexBackingOff},
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
		Terminating: s.terminating.String(), BackingOff: s.backingOff.String(), Pending: s.pending.String(),
		CompletedCount: int32(s.completed.Len()), FailedCount: int32(s.failed.Len()), ActiveCount: int32(s.active.Len()),
		TerminatingCount: int32(s.terminating.Len()), BackingOffCount: int32(s.backingOff.Len()), PendingCount: int32(s.pending.Len()),
	}
	a.detailIndexes(out, &s)
	return out
}

// detailIndexes tells of each index that failed, waits, or runs again.
func (a *analysis) detailIndexes(out *Indexes, s *indexSets) {
	infos := map[int32]*IndexInfo{}
	at := func(index int32) *IndexInfo {
		info := infos[index]
		if info == nil {
			info = &IndexInfo{Index: index, State: s.state(index)}
			if a.perIndex() {
				info.Attempts = int32(min(int64(*a.spec.BackoffLimitPerIndex)+1, 1<<31-1))
			}
			infos[index] = info
		}
		return info
	}
	a.detailFromPods(at)
	for _, f := range a.findings(reconcile.FindingIndexBackoff) {
		at(f.Index).Until = timeOf(f.Until)
	}
	if failed := s.failed; failed.Len() <= maxIndexDetails || a.o.Index != nil {
		for index := range failed.All() {
			if a.o.Index == nil || *a.o.Index == index {
				at(index)
			}
		}
	}
	if i := a.o.Index; i != nil && *i >= 0 && *i < out.Total {
		at(*i)
	}
	list := slices.SortedFunc(maps.Values(infos), func(x, y *IndexInfo) int {
		return cmp.Or(cmp.Compare(indexRank(x), indexRank(y)), cmp.Compare(x.Index, y.Index))
	})
	for _, info := range list {
		if len(out.Details) == maxIndexDetails {
			out.DetailsOmitted = int32(len(list) - maxIndexDetails)
			break
		}
		out.Details = append(out.Details, *info)
	}
}

func indexRank(i *IndexInfo) int {
	return slices.Index([]string{IndexFailed, IndexBackingOff, IndexActive, IndexTerminating, IndexPending, IndexCompleted}, i.State)
}

// detailFromPods reads the failures of each index from its pods: each carries those before
// it if the Job has backoffLimitPerIndex, else the failed ones are counted.
func (a *analysis) detailFromPods(at func(int32) *IndexInfo) {
	for i := range a.failures { // The latest first.
		f := &a.failures[i]
		if f.pod.Index < 0 || f.pod.Index >= deref(a.spec.Completions, 0) || f.consequence {
			continue
		}
		info := at(f.pod.Index)
		info.Attempt = max(info.Attempt, f.pod.Attempt)
		if info.Pod == "" {
			info.Pod, info.Cause = f.pod.Name, f.cause.Evidence()
		}
		ignored := f.match != nil && f.match.Action == "Ignore"
		switch {
		case a.perIndex() && ignored:
			info.Failures, info.Ignored = max(info.Failures, f.pod.Failures), max(info.Ignored, f.pod.Ignored+1)
		case a.perIndex():
			info.Failures, info.Ignored = max(info.Failures, f.pod.Failures+1), max(info.Ignored, f.pod.Ignored)
		case ignored:
			info.Ignored++
		default:
			info.Failures++
		}
	}
	for i := range a.Pods {
		p := &a.Pods[i]
		if !a.inFocus(p) || p.Index < 0 || p.Index >= deref(a.spec.Completions, 0) || p.Phase == corev1.PodFailed {
			continue
		}
		if p.Attempt > 1 && p.IsActive() {
			info := at(p.Index)
			info.Attempt, info.Pod = max(info.Attempt, p.Attempt), p.Name
			info.Failures, info.Ignored = max(info.Failures, p.Failures), max(info.Ignored, p.Ignored)
		}
	}
}
