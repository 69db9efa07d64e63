// Package indexes sorts the indexes of an Indexed Job by state, and describes indexes with failures.
package indexes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Describe returns the indexes by state, and details of indexes with failures that the report is about; failed are all
// failures of the Job, and shown those that the report is about. It returns nil for a NonIndexed Job.
func Describe(in *facts.Facts, failed, shown *failures.Failures, o explain.Options) *explain.Indexes {
	if !in.Indexed() {
		return nil
	}
	s := setsOf(in, decisive(in, failed))
	out := &explain.Indexes{
		Total:     ptr.Deref(in.Spec.Completions, 0),
		Completed: s.completed.String(), Failed: s.failed.String(), FailedList: explain.ListIndexes(s.failed.String()), Active: s.active.String(),
		Ready: s.ready.String(), OutOfRange: s.outOfRange.String(),
		Terminating: s.terminating.String(), BackingOff: s.backingOff.String(), Pending: s.pending.String(), Unknown: s.unknown.String(),
		CompletedCount: int32(s.completed.Len()), FailedCount: int32(s.failed.Len()), ActiveCount: int32(s.active.Len()),
		NotStarted: s.notStarted.String(), Retrying: s.retrying.String(), WillNotComplete: s.willNotComplete.String(),
		NotStartedCount: int32(s.notStarted.Len()), RetryingCount: int32(s.retrying.Len()), WillNotCompleteCount: int32(s.willNotComplete.Len()),
		ReadyCount: int32(s.ready.Len()), OutOfRangeCount: int32(s.outOfRange.Len()),
		TerminatingCount: int32(s.terminating.Len()), BackingOffCount: int32(s.backingOff.Len()), PendingCount: int32(s.pending.Len()), UnknownCount: int32(s.unknown.Len()),
	}
	out.Rerun, out.RerunCompleted = retry.Progress(in.Job)
	out.Details, out.DetailsOmitted = detailsOf(in, shown, o, &s)
	return out
}

// decisive returns the index whose pod decided that the Job failed, none if it is unknown, or if indexes fail by themselves.
func decisive(in *facts.Facts, failed *failures.Failures) indexset.Set {
	by := in.Decision.EndedBy
	if !in.Decision.Failing() || in.PerIndex() || by != explain.EndedByRule && by != explain.EndedByBackoffLimit {
		return indexset.Set{}
	}
	matched := in.Decision.MatchedPod.Name
	for i := range failed.All { // The latest first.
		if f := &failed.All[i]; !f.Consequence && f.Stopped == "" && f.Pod.Index >= 0 && (matched == "" || f.Pod.Name == matched) {
			return indexset.Of(f.Pod.Index)
		}
	}
	return indexset.Set{}
}

// Backoff is the back-off of indexes whose latest pod failed.
type Backoff struct {
	// Indexes are the indexes in back-off. The first of them may be retried at Until.
	Indexes indexset.Set
	Until   time.Time
	// NoRoom is set if an index also has to wait for another pod to end before it gets its next pod.
	NoRoom bool
}

// BackoffOf returns the back-off of the Job's indexes.
func BackoffOf(in *facts.Facts) Backoff {
	b := Backoff{NoRoom: !in.Plan.Findings.RetryHeld}
	var waiting []int32
	for _, w := range in.Plan.Findings.AwaitReplacement {
		if !in.Now.Before(w.Until) {
			continue
		}
		waiting = append(waiting, w.Pod.Index)
		if b.Until.IsZero() || w.Until.Before(b.Until) {
			b.Until = w.Until
		}
	}
	b.Indexes = indexset.Of(waiting...)
	return b
}

// sets are the indexes by state; each is in one set.
type sets struct {
	completed, failed, active, terminating, backingOff, pending, unknown indexset.Set
	// ready is the part of active whose pod is ready. outOfRange are indexes beyond the completions, which are in no other set.
	ready, outOfRange indexset.Set
	// notStarted, retrying and willNotComplete are the parts of pending.
	notStarted, retrying, willNotComplete indexset.Set
}

// setsOf sorts the indexes into sets: an index goes into the first set below that it qualifies for. decisive failed with the Job.
func setsOf(in *facts.Facts, decisive indexset.Set) sets {
	var s sets
	total := ptr.Deref(in.Spec.Completions, 0)
	s.completed, s.failed = in.Plan.Findings.CompletedIndexes, in.Plan.Findings.FailedIndexes
	s.failed = s.failed.Union(decisive.Intersection(indexset.Below(total)).Difference(s.completed))
	active, beyond := indexesBelow(in.Active, total)
	terminating, more := indexesBelow(in.Terminating, total)
	ready, _ := indexesBelow(slices.DeleteFunc(slices.Clone(in.Active), func(p *input.Pod) bool { return !p.Ready }), total)
	waiting := BackoffOf(in).Indexes
	rest := indexset.Below(total).Difference(s.completed).Difference(s.failed)
	take := func(indexes indexset.Set) indexset.Set {
		taken := indexes.Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(indexset.Of(active...))
	s.ready = indexset.Of(ready...).Intersection(s.active)
	s.outOfRange = indexset.Of(slices.Concat(beyond, more)...)
	s.backingOff = take(waiting) // Its pod may still be terminating, if the next pod does not wait for its end.
	s.terminating = take(indexset.Of(terminating...))
	if in.PodsRead {
		s.pending = rest
	} else {
		s.unknown = rest
	}

	// The pending indexes by the reason why they have no pod.
	if in.Decision.Decided() {
		s.willNotComplete = s.pending
		return s
	}
	var failed []int32
	for _, p := range in.Terminal {
		if p.Phase == corev1.PodFailed && p.Index >= 0 {
			failed = append(failed, p.Index)
		}
	}
	s.retrying = s.pending.Intersection(indexset.Of(failed...))
	s.notStarted = s.pending.Difference(s.retrying)
	return s
}

// indexesBelow returns the indexes of pods, and separately indexes beyond the completions: after an elastic Indexed Job was
// scaled down, their pods are about to be deleted.
func indexesBelow(pods []*input.Pod, completions int32) (within, beyond []int32) {
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

// rankedSet is the set of indexes in one state.
type rankedSet struct {
	state string
	set   indexset.Set
}

// ranked returns the states in the order in which indexes are listed one by one.
func (s *sets) ranked() []rankedSet {
	return []rankedSet{
		{explain.IndexFailed, s.failed},
		{explain.IndexBackingOff, s.backingOff},
		{explain.IndexActive, s.active},
		{explain.IndexTerminating, s.terminating},
		{explain.IndexPending, s.pending},
		{explain.IndexUnknown, s.unknown},
		{explain.IndexCompleted, s.completed},
	}
}
