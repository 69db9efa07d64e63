package cronjob

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

var (
	// unexpected and completed match the messages of the events UnexpectedJob and SawCompletedJob.
	unexpected = lazyregexp.New(`^Saw a job that the controller did not create or forgot: (\S+)$`)
	completed  = lazyregexp.New(`^Saw completed job: (\S+), (?:condition|status): (\w+)$`)
	// scheduled matches the end of a name that the controller gives: the time of the start in minutes.
	scheduled = lazyregexp.New(`-(\d{8,10})$`)
)

// asReported returns the Jobs with those as Ended that have finished, and those as Manual that the controller did not create, according to
// its events.
func asReported(jobs []input.OwnedJob, runs []explain.OwnedRun, events []input.Event) []input.OwnedJob {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		run := runOf(runs, jobs[i].Name)
		jobs[i].Ended = run != nil && hasEnded(run)
	}
	for i := range events {
		name := unexpectedIn(&events[i])
		for j := range jobs {
			jobs[j].Manual = jobs[j].Manual || name != "" && jobs[j].Name == name
		}
	}
	return jobs
}

// lastUnexpected returns the Job that the last event UnexpectedJob is about, "" if there is none.
func lastUnexpected(events []input.Event) string {
	if e := input.LastEvent(events, func(e *input.Event) bool { return unexpectedIn(e) != "" }); e != nil {
		return unexpectedIn(e)
	}
	return ""
}

// unexpectedIn returns the Job in an event UnexpectedJob, "" for other events. The controller reports a Job of its own, too, if it has
// lost its name.
func unexpectedIn(e *input.Event) string {
	if name := unexpected.Group(e.Message); e.Reason == "UnexpectedJob" && scheduled.Group(name) == "" {
		return name
	}
	return ""
}

// countRuns counts the unfinished Jobs, and finds the oldest of them and the Job of the last start.
func countRuns(r *explain.CronJobReport, in *input.CronJob, runs []explain.OwnedRun) {
	var newest, byHand input.OwnedJob
	var unfinished []created
	for i := range in.Jobs {
		job := &in.Jobs[i]
		isNewest := !job.Manual && !job.Created.Before(newest.Created)
		if isNewest {
			newest, r.Last = *job, nil
		}
		run := runOf(runs, job.Name)
		if run == nil {
			continue
		}
		if job.Manual {
			countByHand(r, job, run, &byHand)
			continue
		}
		if isNewest {
			r.Last = run
		}
		// It may be another change: a webhook, Kueue or retry --in-place also makes the templates differ.
		run.Outdated = job.Spec != nil && changedAt(in.CronJob).After(job.Created) && !equality.Semantic.DeepEqual(job.Spec, &in.CronJob.Spec.JobTemplate.Spec.Template.Spec)
		if !hasEnded(run) {
			unfinished = append(unfinished, created{job.Created, *run})
		}
	}
	isWell := r.ByHand != nil && r.ByHand.Cause == ""
	if byHand.Created.Before(newest.Created) || isWell && r.Last != nil && r.Last.Cause != "" { // The problem of the schedule matters more.
		r.ByHand = nil
	}
	r.LateSeconds = lateSeconds(r, &newest)
	slices.SortStableFunc(unfinished, func(a, b created) int { return a.at.Compare(b.at) })
	countUnfinished(r, unfinished)
	if start := in.CronJob.Status.LastScheduleTime; start != nil && newest.Created.Before(start.Time) {
		r.Last = removedRun(in.CronJob, in.Events)
	}
}

// keptFailures returns the failed Jobs of the schedule after which a run succeeded, the newest first; nil if a later run has a problem.
func keptFailures(r *explain.CronJobReport, in *input.CronJob, runs []explain.OwnedRun) (kept []string) {
	isUnclear := r.Last != nil && (r.Last.Cause != "" || r.Last.Fails() || r.Last.State == explain.OwnedUnknown)
	if r.State != explain.CronJobScheduled || r.ByHand != nil || r.LastSuccess == nil || isUnclear {
		return nil
	}
	jobs := slices.Clone(in.Jobs)
	slices.SortStableFunc(jobs, func(a, b input.OwnedJob) int { return b.Created.Compare(a.Created) })
	for i := range jobs {
		run := runOf(runs, jobs[i].Name)
		if !jobs[i].Manual && run != nil && run.State == explain.OwnedFailed && run.Finished.Before(r.LastSuccess) {
			kept = append(kept, run.Name)
		}
	}
	return kept
}

// lateSeconds returns how late the Job of the last start was created, 0 for less than LateStart, or if there is a problem to report instead.
func lateSeconds(r *explain.CronJobReport, last *input.OwnedJob) int64 {
	late := last.Created.Sub(last.Scheduled)
	if r.Last == nil || r.Last.Cause != "" || r.ByHand != nil || !last.Scheduled.Equal(timeOf(r.LastSchedule)) || late < input.LateStart {
		return 0
	}
	return int64(late / time.Second)
}

// countByHand counts a Job that a user created; newest is the newest of them that tells more.
func countByHand(r *explain.CronJobReport, job *input.OwnedJob, run *explain.OwnedRun, newest *input.OwnedJob) {
	if !hasEnded(run) {
		r.Manual++
	}
	if (run.Cause != "" || r.LastSchedule == nil || r.Unexpected == job.Name) && !job.Created.Before(newest.Created) {
		*newest, r.ByHand = *job, run
	}
	isLater := run.State == explain.OwnedSucceeded && (r.LastSuccess == nil || r.LastSuccess.Before(run.Since))
	if job.Uncontrolled && isLater && (r.Uncounted == nil || r.Uncounted.Since.Before(run.Since)) {
		r.Uncounted = run
	}
}

func hasEnded(run *explain.OwnedRun) bool {
	return run.State == explain.OwnedFailed || run.State == explain.OwnedSucceeded
}

// runOf returns the run of a Job, nil if it is unknown.
func runOf(runs []explain.OwnedRun, name string) *explain.OwnedRun {
	return lists.First(runs, func(run *explain.OwnedRun) bool { return run.Name == name })
}

// created is a Job with the time of its creation.
type created struct {
	at  time.Time
	run explain.OwnedRun
}

// countUnfinished counts the unfinished Jobs, the oldest first.
func countUnfinished(r *explain.CronJobReport, all []created) {
	for i := range all {
		isStalled := all[i].run.State == explain.OwnedStalled
		if r.Oldest == nil || isStalled && r.Stalled == 0 {
			r.Oldest = &all[i].run
		}
		r.Running++
		if isStalled {
			r.Stalled++
		}
	}
}

// removedRun returns what is known about the Job of the last start, which no longer exists.
func removedRun(cj *batchv1.CronJob, events []input.Event) *explain.OwnedRun {
	run := &explain.OwnedRun{State: explain.OwnedUnknown, Since: cj.Status.LastScheduleTime}
	if t := cj.Status.LastSuccessfulTime; t != nil && !t.Before(run.Since) {
		run.State = explain.OwnedSucceeded
	}
	isNew := func(e *input.Event) bool { return e.Reason == "SawCompletedJob" && !e.Last.Before(run.Since.Time) }
	if seen := input.LastEvent(events, isNew); seen != nil {
		if _, condition := completion(seen.Message); condition == batchv1.JobFailed {
			run.State, run.Since = explain.OwnedFailed, explain.TimeOf(seen.Last)
		}
	}
	return run
}

// completion returns the Job and its condition from the message of an event SawCompletedJob, "" if it is another message.
func completion(message string) (job string, condition batchv1.JobConditionType) {
	if m := completed.FindStringSubmatch(message); m != nil {
		return m[1], batchv1.JobConditionType(m[2])
	}
	return "", ""
}

// decideByRuns sets the state of a CronJob whose Jobs hinder it, or one another.
func decideByRuns(r *explain.CronJobReport, plan plan) {
	if r.State != explain.CronJobScheduled {
		return
	}
	policy := batchv1.ConcurrencyPolicy(r.ConcurrencyPolicy)
	switch {
	case policy == batchv1.ForbidConcurrent && isStuck(r, plan) && slices.Contains(r.Active, r.Oldest.Name):
		r.State = explain.CronJobOverlap
	case r.Running > 1 && (policy != batchv1.ForbidConcurrent || !slices.Contains(r.Active, r.Oldest.Name)):
		r.State = explain.CronJobPileUp
	case policy == batchv1.ReplaceConcurrent && r.Replaced > 0:
		r.State = explain.CronJobReplaces
	case policy != batchv1.AllowConcurrent && policy != "" && r.Manual > 0 && r.Running+r.Manual > 1:
		r.State = explain.CronJobManualJobs
	}
}

// isStuck reports whether the oldest Job that runs waits for something, or has run past a start.
func isStuck(r *explain.CronJobReport, plan plan) bool {
	if r.Oldest == nil {
		return false
	}
	due := plan.firstAfter(timeOf(r.Oldest.Since))
	waits := r.Oldest.State == explain.OwnedStalled || r.Oldest.State == explain.OwnedSuspended
	return waits || r.Oldest.State == explain.OwnedRunning && !due.IsZero() && r.ObservedAt.Sub(due) >= slack
}

// deletedJob matches the message of the event SuccessfulDelete.
var deletedJob = lazyregexp.New(`^Deleted job (\S+)$`)

// replaced counts the Jobs that the CronJob deleted before they had finished, after its last success. Only a Job whose creation events
// still show is one of them: the end of an older one, which the history limit removes, is forgotten.
func replaced(in *input.CronJob) (n int32) {
	open := map[string]bool{}
	for i := range in.Events {
		if e := &in.Events[i]; e.Reason == "SuccessfulCreate" {
			open[createdJob.Group(e.Message)] = true
		}
	}
	for i := range in.Events {
		if job, _ := completion(in.Events[i].Message); job != "" {
			delete(open, job)
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		job := deletedJob.Group(e.Message)
		if e.Reason == "SuccessfulDelete" && open[job] && e.Last.After(timeOf(in.CronJob.Status.LastSuccessfulTime)) {
			n++
		}
	}
	return n
}

// Runs returns the Jobs of a CronJob in a list of Jobs, with what Explain needs to know about them.
func Runs(list []explain.Outline, namespace, name string, now time.Time) (jobs []input.OwnedJob, runs []explain.OwnedRun) {
	for i := range list {
		o := &list[i]
		if o.Namespace != namespace || !IsOwner(o.Owner) || o.Owner.Name != name {
			continue
		}
		job := input.OwnedJob{Name: o.Name, Manual: o.Manual, Uncontrolled: o.Owner.Uncontrolled}
		if o.Created != nil {
			job.Created = o.Created.Time
		}
		jobs, runs = append(jobs, job), append(runs, words.RunOfOutline(o, now))
	}
	return jobs, runs
}

// IsOwner reports whether the owner of a Job is a CronJob.
func IsOwner(o *explain.Owner) bool {
	return o != nil && o.Kind == "CronJob" && strings.HasPrefix(o.APIVersion, batchv1.GroupName+"/")
}
