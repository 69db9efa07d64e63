// Package cronjob explains whether a CronJob starts Jobs, and which obstacle keeps it from starting them. Its Jobs are
// explained by package analysis. Explain is pure: the same input gives the same report.
package cronjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

const (
	// maxActive is the maximum number of running Jobs that are named.
	maxActive = 3
	// slack is the tolerated delay of kube-controller-manager: it syncs a CronJob at each start, and retries with delays.
	slack = 2 * time.Minute
)

// Explain returns the report on the CronJob.
func Explain(in explain.CronJobInput) explain.CronJobReport {
	in.Now = in.Now.Truncate(time.Second)
	r := explain.CronJobReport{Namespace: in.Namespace, Name: in.Name, Jobs: int32(len(in.Jobs)), Gaps: in.Gaps}
	switch {
	case in.CronJob == nil && len(in.Gaps) > 0:
		r.State = explain.CronJobUnread
	case in.CronJob == nil:
		r.State = explain.CronJobGone
	default:
		fillIn(&r, in.CronJob)
		plan := planOf(in.CronJob)
		if plan.known() && !suspended(in.CronJob) {
			r.Next, r.ZoneAssumed = explain.TimeOf(plan.schedule.Next(in.Now)), plan.zoneAssumed
		}
		decide(&r, &in, plan)
	}
	r.Sentence = words.CronJobText(&r, in.Now)
	r.Advice = adviceOn(&r, in.Now)
	return r
}

// fillIn copies fields of the CronJob's spec and status.
func fillIn(r *explain.CronJobReport, cj *batchv1.CronJob) {
	r.Schedule, r.TimeZone = cj.Spec.Schedule, ptr.Deref(cj.Spec.TimeZone, "")
	r.ConcurrencyPolicy, r.StartingDeadlineSeconds = string(cj.Spec.ConcurrencyPolicy), cj.Spec.StartingDeadlineSeconds
	r.SuccessfulJobsHistoryLimit, r.FailedJobsHistoryLimit = cj.Spec.SuccessfulJobsHistoryLimit, cj.Spec.FailedJobsHistoryLimit
	r.TTLSecondsAfterFinished = cj.Spec.JobTemplate.Spec.TTLSecondsAfterFinished
	r.LastSchedule, r.LastSuccess = cj.Status.LastScheduleTime, cj.Status.LastSuccessfulTime
	for i := range cj.Status.Active {
		if len(r.Active) < maxActive {
			r.Active = append(r.Active, cj.Status.Active[i].Name)
		}
	}
}

// decide finds the obstacle to the CronJob's next start: in its spec, then in the last event, then as an overdue start.
func decide(r *explain.CronJobReport, in *explain.CronJobInput, plan plan) {
	cj := in.CronJob
	r.State = explain.CronJobScheduled
	if t := cj.DeletionTimestamp; t != nil {
		r.State, r.Since = explain.CronJobDeleting, t
		return
	}
	if suspended(cj) {
		r.State = explain.CronJobSuspended
		return
	}
	started := lastStart(in)
	if e := lastHindrance(in, started); e != nil {
		readEvent(r, in, e, started)
		return
	}
	due := plan.firstAfter(laterOf(cj.CreationTimestamp.Time, timeOf(cj.Status.LastScheduleTime)))
	// The status may not show a Job yet that was created for the start that is due.
	if due.IsZero() || in.Now.Sub(due) < slack || plan.zoneAssumed || !started.Before(due) {
		return
	}
	if r.State = explain.CronJobOverdue; forbidsOverlap(cj) {
		r.State = explain.CronJobOverlap
	}
	r.Missed = explain.TimeOf(due)
}

func suspended(cj *batchv1.CronJob) bool { return ptr.Deref(cj.Spec.Suspend, false) }

// forbidsOverlap reports whether a running Job keeps the next one from starting.
func forbidsOverlap(cj *batchv1.CronJob) bool {
	return cj.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(cj.Status.Active) > 0
}

// lastStart returns the time of the last start of a Job, from the creation of Jobs, events and the status; zero if there was
// none.
func lastStart(in *explain.CronJobInput) time.Time {
	last := timeOf(in.CronJob.Status.LastScheduleTime)
	for i := range in.Jobs {
		if !in.Jobs[i].Manual {
			last = laterOf(last, in.Jobs[i].Created)
		}
	}
	for i := range in.Events {
		if e := &in.Events[i]; e.Reason == "SuccessfulCreate" {
			last = laterOf(last, e.Last)
		}
	}
	return last
}

// lastHindrance returns the latest event after the last start that explains why a Job was not started, nil if there is none.
func lastHindrance(in *explain.CronJobInput, started time.Time) *explain.Event {
	var last *explain.Event
	for i := range in.Events {
		e := &in.Events[i]
		if !e.Last.After(started) || !hinders(in.CronJob, e) {
			continue
		}
		if last == nil || !e.Last.Before(last.Last) {
			last = e
		}
	}
	return last
}

// hinders reports whether the event explains why a Job was not started, and may still be valid.
func hinders(cj *batchv1.CronJob, e *explain.Event) bool {
	switch eventtext.CronJobStateOf(e) {
	case "":
		return false
	case explain.CronJobOverlap:
		return forbidsOverlap(cj)
	case explain.CronJobCannotReplace: // With other policies, these events are about finished Jobs beyond the history limits.
		return cj.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
	}
	return true
}

// readEvent sets the state and its details from the event.
func readEvent(r *explain.CronJobReport, in *explain.CronJobInput, e *explain.Event, started time.Time) {
	r.State = eventtext.CronJobStateOf(e)
	r.Since = explain.TimeOf(firstOf(in, r.State, started))
	r.Details = []string{e.Message}
	switch r.State {
	case explain.CronJobCreationRefused:
		why := eventtext.RefusalOf(e.Message)
		r.Reason, r.RefusedBy, r.Refusal = why.Reason, why.By, why.Message
	case explain.CronJobMissedStart:
		if missed := eventtext.MissedStart(e.Message); !missed.IsZero() {
			r.Missed = explain.TimeOf(missed)
		}
	case explain.CronJobUnknownZone, explain.CronJobBadSchedule:
		r.Rejected = eventtext.Rejected(e.Message)
		r.Next = nil
	}
}

// firstOf returns the time at which the state was first reported since the last start.
func firstOf(in *explain.CronJobInput, state explain.CronJobState, started time.Time) time.Time {
	var first time.Time
	for i := range in.Events {
		e := &in.Events[i]
		if eventtext.CronJobStateOf(e) != state || !e.Last.After(started) {
			continue
		}
		if began := laterOf(e.Began(), started); first.IsZero() || began.Before(first) {
			first = began
		}
	}
	return first
}
