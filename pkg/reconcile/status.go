package reconcile

import (
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	reasonSuspended  = "JobSuspended"
	messageSuspended = "Job suspended"
	reasonResumed    = "JobResumed"
	messageResumed   = "Job resumed"
)

// writeStatus plans the next status, if it differs from the stored one and is worth a
// write now.
func (s *state) writeStatus(l ledger) {
	s.plan.Findings.CompletedIndexes, s.plan.Findings.FailedIndexes = l.completedIndexes, l.failedIndexes
	next := s.job.Status.DeepCopy()
	s.setCounts(next, l)
	s.setGauges(next)
	s.setConditions(next, l)
	s.setStartTime(next)
	if Same(next, &s.job.Status) {
		return
	}
	s.plan.Urgent = !equality.Semantic.DeepEqual(next.Conditions, s.job.Status.Conditions)
	if s.plan.changesPods() && !s.plan.Urgent && !l.records {
		// The next stage will see the result of these changes: one write for both. Creations
		// may take so long that the counts are due before.
		if len(s.plan.Create) == 0 {
			return
		}
		s.plan.Merge = true
	}
	s.plan.Status = next
	s.plan.Backoff = s.backoffRecord(l.recordedNow)
}

// Same reports whether two values are the same to the API server, which treats an empty list as no list. Most values
// match exactly, and the exact comparison is faster.
func Same[T any](a, b *T) bool {
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}

func (s *state) setCounts(next *batchv1.JobStatus, l ledger) {
	next.Succeeded, next.Failed = l.countedSuccess, l.countedFailure
	next.CompletedIndexes = l.completedIndexes.String()
	next.FailedIndexes = nil
	if s.perIndex {
		next.FailedIndexes = ptr.To(l.failedIndexes.String())
	}
	next.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: l.uncountedSuccess, Failed: l.uncountedFailure}
}

// setGauges counts the pods as they are after the deletions of this plan (PRP-09), all of
// them, tracked or not (PRP-04). With the interim condition, which is written just before
// the rest is deleted, they count as deleted. Pods that are yet to be created do not
// count: who waits for active pods must find them.
func (s *state) setGauges(next *batchv1.JobStatus) {
	ending := s.outcome.decided() && !s.outcome.stored
	deleted := make(map[types.UID]bool, len(s.plan.Delete))
	for _, r := range s.plan.Delete {
		deleted[r.UID] = true
	}
	active, ready, terminating := int32(0), int32(0), count32(s.terminating)
	for _, list := range [][]*Pod{s.active, s.untracked} {
		for _, p := range list {
			switch {
			case deleted[p.UID], ending:
				terminating++
				continue
			case p.Ready:
				ready++
			}
			active++
		}
	}
	next.Active, next.Ready, next.Terminating = active, ptr.To(ready), nil
	if s.cfg.Features.PodReplacementPolicy {
		next.Terminating = ptr.To(terminating) // always a number, also 0 (PRP-04)
	}
}

func (s *state) setConditions(next *batchv1.JobStatus, l ledger) {
	switch {
	case s.outcome.stored, s.outcome.direct:
		s.finish(next, l)
	case s.outcome.decided():
		s.setCondition(next, s.outcome.condition, corev1.ConditionTrue, s.outcome.reason, s.outcome.message)
	case s.deleting:
	case s.suspended:
		// KEP-2232: suspended means that nothing is active anymore (D-23). A Job with
		// unrecorded pods may turn out to be complete (JOB-65).
		if next.Active == 0 && !s.plan.changesPods() && s.unrecorded == 0 && !s.claimsPending {
			s.setCondition(next, batchv1.JobSuspended, corev1.ConditionTrue, reasonSuspended, messageSuspended)
		}
	case TrueCondition(s.job, batchv1.JobSuspended) != nil:
		s.setCondition(next, batchv1.JobSuspended, corev1.ConditionFalse, reasonResumed, messageResumed)
	}
}

// finish adds the terminal condition once the interim one is stored, and no pod runs,
// terminates, is uncounted, or has the finalizer (MGB-09, MGB-10).
func (s *state) finish(next *batchv1.JobStatus, l ledger) {
	running := count32(s.active) + count32(s.untracked)
	if s.cfg.Features.delaysTerminal() {
		running += count32(s.terminating)
	}
	uncounted := count32(l.uncountedSuccess) + count32(l.uncountedFailure)
	if running > 0 || uncounted > 0 || s.unrecorded > 0 || s.tracked > 0 || s.claimsPending || s.plan.changesPods() {
		s.plan.Findings.WaitFinish = &WaitFinish{
			Active: count32(s.active) + count32(s.untracked), Terminating: count32(s.terminating), Ended: s.endedHolders(), Uncounted: uncounted,
		}
		return
	}
	terminal := batchv1.JobFailed
	if start := next.StartTime; start != nil && s.Now.Before(start.Time) {
		// A clock that went back must not make the write invalid (STV-10).
		s.Now = start.Time
	}
	if s.outcome.succeeding() {
		terminal = batchv1.JobComplete
		next.CompletionTime = &metav1.Time{Time: s.Now}
	}
	s.setCondition(next, terminal, corev1.ConditionTrue, s.outcome.reason, s.outcome.message)
	if terminal == batchv1.JobComplete {
		s.findSurplus(next.Succeeded)
	}
}

// endedHolders counts the pods that have ended and still have the tracking finalizer.
func (s *state) endedHolders() (n int32) {
	for _, p := range s.Pods {
		if p.Finalizer && p.IsTerminal() {
			n++
		}
	}
	return n
}

// findSurplus finds a NonIndexed Job that completed with more successes than it asks for
// (JOB-14): an excess pod succeeded before it could be removed. Only the final count is
// reported, so that there is one event.
func (s *state) findSurplus(succeeded int32) {
	if !s.indexed && !s.noCompletions && succeeded > s.completions {
		s.plan.Findings.TooManySucceeded = &TooManySucceeded{succeeded, s.completions}
	}
}

// setStartTime follows KEP-2232: set when the Job first runs, cleared when
// Suspended becomes true, set anew on resume (JOB-22, JOB-26, JOB-27).
func (s *state) setStartTime(next *batchv1.JobStatus) {
	now := metav1.NewTime(s.Now)
	before, after := conditionStatus(s.job.Status.Conditions), conditionStatus(next.Conditions)
	switch {
	case before != corev1.ConditionTrue && after == corev1.ConditionTrue:
		next.StartTime = nil
	case before == corev1.ConditionTrue && after == corev1.ConditionFalse:
		next.StartTime = &now
	case next.StartTime == nil && (!s.suspended || s.outcome.decided()):
		// A finished Job has a startTime, even if it ends suspended (STV-14, D-39). Only
		// the newest API servers accept a Job with 0 completions that has none.
		next.StartTime = &now
	}
}

func conditionStatus(conditions []batchv1.JobCondition) corev1.ConditionStatus {
	for _, c := range conditions {
		if c.Type == batchv1.JobSuspended {
			return c.Status
		}
	}
	return ""
}

// setCondition adds a condition or changes it in place; one that is up to date keeps
// its times (JOB-34).
func (s *state) setCondition(next *batchv1.JobStatus, t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(s.Now)
	c := batchv1.JobCondition{Type: t, Status: status, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now}
	at := slices.IndexFunc(next.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t })
	if at < 0 {
		next.Conditions = append(next.Conditions, c)
		return
	}
	old := &next.Conditions[at]
	if old.Status == status && old.Reason == reason && old.Message == message {
		return
	}
	if old.Status == status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}

// TrueCondition returns the condition of the type if its status is True: a condition
// set to False means nothing (SUC-13).
func TrueCondition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
