package reconcile

import (
	"reflect"
	"slices"
	"time"

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

// nextStatus returns the status after this plan: the counts of the ledger, the pods after the plan, and the conditions.
func nextStatus(job *jobView, pods *podLists, end outcome, l ledger, claiming bool, plan *planner) *batchv1.JobStatus {
	next := job.status.DeepCopy()
	next.Succeeded, next.Failed = l.countedSuccess, l.countedFailure
	next.CompletedIndexes = l.completedIndexes.String()
	next.FailedIndexes = nil
	if job.perIndex {
		next.FailedIndexes = ptr.To(l.failedIndexes.String())
	}
	next.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: l.uncountedSuccess, Failed: l.uncountedFailure}
	setGauges(next, job, pods, end, plan)

	switch {
	case end.stored, end.direct:
		finish(next, job, pods, end, l, claiming, plan)
	case end.decided():
		setCondition(next, job.now, end.condition, corev1.ConditionTrue, end.reason, end.message)
	case job.deleting:
	case job.suspended:
		// KEP-2232: suspended means that nothing is active anymore (D-23). A Job with
		// unrecorded pods may turn out to be complete (JOB-65).
		if next.Active == 0 && !plan.changesPods() && l.unrecorded == 0 && !claiming {
			setCondition(next, job.now, batchv1.JobSuspended, corev1.ConditionTrue, reasonSuspended, messageSuspended)
		}
	case TrueCondition(job.object, batchv1.JobSuspended) != nil:
		setCondition(next, job.now, batchv1.JobSuspended, corev1.ConditionFalse, reasonResumed, messageResumed)
	}
	setStartTime(next, job, end)
	return next
}

// writeStatus plans the next status if it differs from the stored status and is worth a write now, and reports whether
// it does so.
func writeStatus(job *jobView, pods *podLists, next *batchv1.JobStatus, l ledger, plan *planner) bool {
	if Same(next, job.status) {
		return false
	}
	plan.Urgent = !equality.Semantic.DeepEqual(next.Conditions, job.status.Conditions)
	if plan.changesPods() && !plan.Urgent && !l.records {
		// The next stage sees the result of these changes, so one write can report both. Creations may take so long that
		// the counts must be written before.
		if len(plan.Create) == 0 {
			return false
		}
		plan.Merge = true
	} else if pods.haveEnded() && len(plan.Create) == 0 {
		plan.Urgent = true // No later change could share a write with this one.
	}
	plan.Status = next
	return true
}

// Same reports whether two values are the same to the API server, which treats an empty list as no list. Most values
// match exactly, and the exact comparison is faster.
func Same[T any](a, b *T) bool {
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}

// setGauges counts the pods after the deletions of this plan (PRP-09), tracked or not (PRP-04). With the interim
// condition, which is written just before the rest is deleted, all pods count as deleted. Pods that are yet to be
// created do not count: clients that wait for active pods must find them.
func setGauges(next *batchv1.JobStatus, job *jobView, pods *podLists, end outcome, plan *planner) {
	ending := end.decided() && !end.stored
	deleted := make(map[types.UID]bool, len(plan.Delete))
	for _, r := range plan.Delete {
		deleted[r.UID] = true
	}
	active, ready, terminating := int32(0), int32(0), count32(pods.terminating)
	for _, list := range [][]*Pod{pods.active, pods.untracked} {
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
	if job.cfg.Features.PodReplacementPolicy {
		next.Terminating = ptr.To(terminating) // always a number, also 0 (PRP-04)
	}
}

// finish adds the terminal condition once the interim one is stored, and no pod runs,
// terminates, is uncounted, or has the finalizer (MGB-09, MGB-10).
func finish(next *batchv1.JobStatus, job *jobView, pods *podLists, end outcome, l ledger, claiming bool, plan *planner) {
	active, terminating := count32(pods.active)+count32(pods.untracked), count32(pods.terminating)
	running := active
	if job.cfg.Features.delaysTerminal() {
		running += terminating
	}
	uncounted := count32(l.uncountedSuccess) + count32(l.uncountedFailure)
	if running > 0 || uncounted > 0 || l.unrecorded > 0 || pods.tracked > 0 || claiming || plan.changesPods() {
		wait := &WaitFinish{Active: active, Terminating: terminating, Uncounted: uncounted}
		for _, p := range pods.all {
			if p.Finalizer && p.IsTerminal() {
				wait.Ended++
			}
		}
		plan.Findings.WaitFinish = wait
		return
	}

	// The API server rejects a completionTime before startTime. If the clock has gone back, the Job finishes when it
	// started, by both times (STV-10).
	at := job.now
	if start := next.StartTime; start != nil && at.Before(start.Time) {
		at = start.Time
	}
	if end.succeeding() {
		next.CompletionTime = &metav1.Time{Time: at}
		setCondition(next, at, batchv1.JobComplete, corev1.ConditionTrue, end.reason, end.message)
		plan.Findings.TooManySucceeded = findSurplus(job, next.Succeeded)
	} else {
		setCondition(next, at, batchv1.JobFailed, corev1.ConditionTrue, end.reason, end.message)
	}
}

// findSurplus returns a finding about a NonIndexed Job that completed with more successes than spec.completions
// (JOB-14): an excess pod succeeded before it could be removed. Only the final count is reported, so that there is one
// event.
func findSurplus(job *jobView, succeeded int32) *TooManySucceeded {
	if job.indexed || job.noCompletions || succeeded <= job.completions {
		return nil
	}
	return &TooManySucceeded{succeeded, job.completions}
}

// setStartTime follows KEP-2232: set when the Job first runs, cleared when
// Suspended becomes true, set anew on resume (JOB-22, JOB-26, JOB-27).
func setStartTime(next *batchv1.JobStatus, job *jobView, end outcome) {
	now := metav1.NewTime(job.now)
	before, after := conditionStatus(job.status.Conditions), conditionStatus(next.Conditions)
	switch {
	case before != corev1.ConditionTrue && after == corev1.ConditionTrue:
		next.StartTime = nil
	case before == corev1.ConditionTrue && after == corev1.ConditionFalse:
		next.StartTime = &now
	case next.StartTime == nil && (!job.suspended && after != corev1.ConditionTrue || end.decided()):
		// A Job that is resumed while it is being deleted keeps its condition, and does not start. A finished Job has a
		// startTime, even if it ends suspended (STV-14, D-39). Only the newest API servers accept a Job with 0 completions
		// without startTime.
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

// setCondition adds a condition or changes it in place; a condition that is up to date keeps its times (JOB-34).
func setCondition(next *batchv1.JobStatus, at time.Time, t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(at)
	c := batchv1.JobCondition{Type: t, Status: status, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now}
	i := slices.IndexFunc(next.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t })
	if i < 0 {
		next.Conditions = append(next.Conditions, c)
		return
	}
	old := &next.Conditions[i]
	if old.Status == status && old.Reason == reason && old.Message == message {
		return
	}
	if old.Status == status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}
