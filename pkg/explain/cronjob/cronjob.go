// Package cronjob explains whether a CronJob starts Jobs, and which obstacle keeps it from starting them. Its Jobs are
// explained by package analysis. Explain is pure: the same input gives the same report.
package cronjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

const (
	// maxActive is the maximum number of running Jobs that are named.
	maxActive = 3
	// slack is the tolerated delay of kube-controller-manager: it syncs a CronJob at each start, and retries with delays.
	slack = 2 * time.Minute
)

// Explain returns the report on the CronJob. Runs are its Jobs, some of which may be missing.
func Explain(in input.CronJob, runs []explain.OwnedRun) explain.CronJobReport {
	in.Now = in.Now.Truncate(time.Second)
	in.Jobs = asReported(in.Jobs, runs, in.Events)
	r := explain.CronJobReport{Namespace: in.Namespace, Name: in.Name, ObservedAt: metav1.NewTime(in.Now), Jobs: int32(len(in.Jobs)), Gaps: in.Gaps}
	switch {
	case in.CronJob == nil && len(in.Gaps) > 0:
		r.State = explain.CronJobUnread
	case in.CronJob == nil:
		r.State = explain.CronJobGone
	default:
		copyFields(&r, in.CronJob)
		plan := planOf(in.CronJob)
		r.ScheduleText, r.EitherDay = plan.text(), words.EitherDay(plan.fields)
		if !suspended(in.CronJob) {
			r.Next, r.ZoneAssumed, r.ClockChange = explain.TimeOf(plan.firstAfter(in.Now)), plan.zoneAssumed, plan.clockChange(in.Now)
		}
		r.Unexpected = lastUnexpected(in.Events)
		decide(&r, &in, plan)
		if r.Refusal != nil {
			r.Refusal.Template = facts.TemplateOf(&in.CronJob.Spec.JobTemplate.Spec.Template)
		}
		countRuns(&r, &in, runs)
		r.Replaced = replaced(&in)
		decideByRuns(&r, plan)
		r.Kept = keptFailures(&r, &in, runs)
		r.Runs, r.Skipped = history(&in, runs), skipped(&r, &in, plan)
	}
	r.Sentence, r.Notes = words.CronJobText(&r, in.Now)
	r.Advice = adviceOn(&r, in.Now)
	return r
}

// copyFields copies fields of the CronJob's spec and status.
func copyFields(r *explain.CronJobReport, cj *batchv1.CronJob) {
	r.Owner, r.Tool = facts.OwnerOf(cj), facts.ToolOfObject(cj, cj.Spec.JobTemplate.Spec.Template.Labels)
	r.Schedule, r.TimeZone = cj.Spec.Schedule, ptr.Deref(cj.Spec.TimeZone, "")
	r.ConcurrencyPolicy, r.StartingDeadlineSeconds = string(cj.Spec.ConcurrencyPolicy), cj.Spec.StartingDeadlineSeconds
	r.SuccessfulJobsHistoryLimit, r.FailedJobsHistoryLimit = cj.Spec.SuccessfulJobsHistoryLimit, cj.Spec.FailedJobsHistoryLimit
	r.TTLSecondsAfterFinished = cj.Spec.JobTemplate.Spec.TTLSecondsAfterFinished
	r.ActiveDeadlineSeconds = cj.Spec.JobTemplate.Spec.ActiveDeadlineSeconds
	if pod := &cj.Spec.JobTemplate.Spec.Template.Spec; len(pod.Containers) == 1 && len(pod.Containers[0].Command)+len(pod.Containers[0].Args) == 0 {
		r.DefaultCommand = &explain.DefaultCommand{Container: pod.Containers[0].Name, Image: pod.Containers[0].Image}
	}
	r.LastSchedule, r.LastSuccess = cj.Status.LastScheduleTime, cj.Status.LastSuccessfulTime
	for i := range cj.Status.Active {
		if i < maxActive {
			r.Active = append(r.Active, cj.Status.Active[i].Name)
		}
	}
}

// decide finds the obstacle to the CronJob's next start: in its spec, then in the last event, then as an overdue start.
func decide(r *explain.CronJobReport, in *input.CronJob, plan plan) {
	cj := in.CronJob
	r.State = explain.CronJobScheduled
	if t := cj.DeletionTimestamp; t != nil {
		r.State, r.Since = explain.CronJobDeleting, t
		return
	}
	if suspended(cj) {
		r.State = explain.CronJobSuspended
		r.SuspendedBy, r.SuspendedAt = facts.SuspendedBy(cj)
		return
	}
	started := lastStart(in)
	if e, since := hindrance(in, started); e != nil {
		r.Since = explain.TimeOf(since)
		readEvent(r, e)
		return
	}
	due := plan.firstAfter(countedFrom(cj))
	if due.IsZero() || in.Now.Sub(due) < slack || plan.fields == nil || plan.zoneAssumed || !started.Before(due) {
		return // @every has no certain starts. If a Job was created for the start that is due, the status may not show it yet.
	}
	r.Missed = explain.TimeOf(due)
	switch {
	case forbidsOverlap(in):
		r.State = explain.CronJobOverlap
	case cj.Spec.StartingDeadlineSeconds != nil && in.Now.Sub(due) > startingDeadline(cj):
		r.State, r.MissedStarts = explain.CronJobMissedStart, plan.startsBetween(due, in.Now.Add(-startingDeadline(cj)))
	default:
		r.State = explain.CronJobOverdue
	}
}

// countedFrom returns the time after which the controller counts starts: the last one, or else the creation of the CronJob.
// A change of the spec since then may have moved starts, or resumed the CronJob, so only later ones are certain.
func countedFrom(cj *batchv1.CronJob) time.Time {
	from := timeOf(cj.Status.LastScheduleTime)
	if from.IsZero() {
		from = cj.CreationTimestamp.Time
	}
	return laterOf(from, changedAt(cj))
}

// changedAt returns when the CronJob was last changed, except for its status; zero if it has not been since its creation.
func changedAt(cj *batchv1.CronJob) (last time.Time) {
	for i := range cj.ManagedFields {
		if m := &cj.ManagedFields[i]; m.Subresource == "" && timeOf(m.Time).After(cj.CreationTimestamp.Add(time.Second)) {
			last = laterOf(last, m.Time.Time)
		}
	}
	return last
}

func startingDeadline(cj *batchv1.CronJob) time.Duration {
	const year = 365 * 24 * 60 * 60 // Longer ones could overflow.
	return time.Duration(min(max(ptr.Deref(cj.Spec.StartingDeadlineSeconds, 0), 0), year)) * time.Second
}

func suspended(cj *batchv1.CronJob) bool { return ptr.Deref(cj.Spec.Suspend, false) }

// forbidsOverlap reports whether a running Job keeps the next one from starting. A name in status.active may be of a Job that has ended, or
// no longer exists.
func forbidsOverlap(in *input.CronJob) bool {
	exists := func(active corev1.ObjectReference) bool {
		return len(in.Jobs) == 0 || slices.ContainsFunc(in.Jobs, func(job input.OwnedJob) bool { return job.Name == active.Name && !job.Ended })
	}
	return in.CronJob.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && slices.ContainsFunc(in.CronJob.Status.Active, exists)
}

// lastStart returns the time of the last start of a Job, from the creation of Jobs, events and the status; zero if there was
// none.
func lastStart(in *input.CronJob) time.Time {
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

// hindrance returns the latest event after the last start that explains why a Job was not started, nil if there is none, and
// the time at which its state was first reported since the last start.
func hindrance(in *input.CronJob, started time.Time) (last *input.Event, since time.Time) {
	for i := range in.Events {
		e := &in.Events[i]
		if e.Last.After(started) && hinders(in, e) && (last == nil || !e.Last.Before(last.Last)) {
			last = e
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		if last == nil || stateOf(e) != stateOf(last) || !e.Last.After(started) {
			continue
		}
		if began := laterOf(e.Began(), started); since.IsZero() || began.Before(since) {
			since = began
		}
	}
	return last, since
}

// hinders reports whether the event explains why a Job was not started, and may still be valid.
func hinders(in *input.CronJob, e *input.Event) bool {
	switch stateOf(e) {
	case "":
		return false
	case explain.CronJobOverlap:
		return forbidsOverlap(in)
	case explain.CronJobCannotReplace: // With other policies, these events are about finished Jobs beyond the history limits.
		return in.CronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
	}
	return true
}

// readEvent sets the state and its details from the event.
func readEvent(r *explain.CronJobReport, e *input.Event) {
	r.State, r.Details = stateOf(e), []string{e.Message}
	switch r.State {
	case explain.CronJobCreationRefused:
		r.Refusal = meaning.OfRefusal(e.Message)
	case explain.CronJobMissedStart:
		r.Missed = explain.TimeOf(missedStart(e.Message))
	case explain.CronJobUnknownZone, explain.CronJobBadSchedule:
		r.Rejected, r.Next = rejectedIn(e.Message), nil
	}
}
