// Package indexes sorts the indexes of an Indexed Job by state, and describes indexes with failures.
package indexes

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
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
