package cronjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// generousDeadline is a startingDeadlineSeconds value that outlasts a restart of kube-controller-manager, and moreTime the
// patch that sets it.
const (
	generousDeadline = 600
	moreTime         = `{"spec":{"startingDeadlineSeconds":600}}`
)

// farStart is the time until the next start from which waiting for it is no way to try a change.
const farStart = time.Hour

// adviceOn returns the advice on a CronJob. If something creates the CronJob, it names where a change belongs.
func adviceOn(r *explain.CronJobReport, now time.Time) []explain.Advice {
	out := onState(r, now)
	at := slices.IndexFunc(out, func(a explain.Advice) bool { return a.OfOwner })
	switch o := r.Owner; {
	case at < 0 || r.Tool == nil && o == nil:
		return out
	case o != nil:
		out[at].Text += "; " + words.ChangeCronJobSource(o, nil, "")
		out[at].Command = kubectl(r, "edit %s %s", strings.ToLower(explain.ShellWord(o.Kind)), explain.ShellWord(o.Name))
		return out
	}
	return slices.Insert(out, at+1, one(words.ChangeCronJobSource(nil, r.Tool, ""), "")...)
}

// onState returns the advice on what keeps a CronJob from starting Jobs, or on its Jobs.
func onState(r *explain.CronJobReport, now time.Time) []explain.Advice {
	name := explain.ShellWord(r.Name)
	switch r.State {
	case explain.CronJobSuspended:
		return patch(r, words.ResumeCronJob, `{"spec":{"suspend":false}}`)
	case explain.CronJobDeleting:
		if r.Since == nil || now.Sub(r.Since.Time) < slack {
			return nil
		}
		return one(words.FindDeletionHolder, kubectl(r, "get cronjob %s -o jsonpath='{.metadata.finalizers}'", name))
	case explain.CronJobCreationRefused:
		return onRefusal(r)
	case explain.CronJobOverlap:
		return onOverlap(r)
	case explain.CronJobCannotReplace:
		return one(words.FixReplacement, events(r))
	case explain.CronJobMissedStart:
		return onMissedStart(r)
	case explain.CronJobManyMissed:
		return patch(r, words.LimitMissedStarts, moreTime)
	case explain.CronJobUnknownZone:
		if r.Rejected != "" && r.Rejected != r.TimeZone {
			return one(words.ReadEventsOfCronJob, events(r))
		}
		return patch(r, words.SetKnownZone, `{"spec":{"timeZone":"Etc/UTC"}}`)
	case explain.CronJobBadSchedule:
		return edit(r, words.CorrectSchedule)
	case explain.CronJobOverdue:
		return one(words.CheckBuiltIn, "kubectl get pods -n kube-system -l component=kube-controller-manager")
	}
	return onRuns(r)
}

// onRuns returns the advice on the Jobs of a CronJob that starts them.
func onRuns(r *explain.CronJobReport) (out []explain.Advice) {
	switch last := r.Last; {
	case r.State == explain.CronJobReplaces:
		return patch(r, words.LetRunsEnd, `{"spec":{"concurrencyPolicy":"Forbid"}}`)
	case r.State == explain.CronJobManualJobs:
		return one(words.DeleteManualJobs, kubectl(r, "get jobs"))
	case r.State == explain.CronJobPileUp:
		return onPileUp(r)
	case r.NeverDue():
		return edit(r, words.CorrectSchedule)
	case r.ByHand != nil:
		out = onRun(r, r.ByHand)
	case last == nil:
	case last.Name == "" && last.State != explain.OwnedSucceeded && ptr.Deref(r.FailedJobsHistoryLimit, 1) == 0:
		out = patch(r, words.KeepFailedJobs, `{"spec":{"failedJobsHistoryLimit":1}}`)
	default:
		out = onRun(r, last)
	}
	if d := r.StartingDeadlineSeconds; d != nil && *d < words.TooShortToStart {
		out = append(out, patch(r, words.GiveMoreTimeToStart(*d), moreTime)...)
	}
	if r.LateSeconds > 0 {
		out = append(out, patch(r, words.LimitLateStarts, moreTime)...)
	}
	if len(out) == 0 {
		return onSuccess(r)
	}
	return out
}

// onSuccess returns the advice on a CronJob whose last run succeeded: on what is left of an earlier failure, or to read what the run printed.
func onSuccess(r *explain.CronJobReport) []explain.Advice {
	switch last := cmp.Or(r.ByHand, r.Last); {
	case len(r.Kept) > 0:
	case last != nil && last.Name != "" && last.State == explain.OwnedSucceeded:
		return append(one(words.ReadLastRun, kubectl(r, "batchjob logs %s", explain.ShellWord(last.Name))), onZone(r)...)
	case last != nil && (last.Cause != "" || last.FailedPods > 0): // Its hour is not what matters.
		return nil
	default:
		return onZone(r)
	}
	names := make([]string, len(r.Kept))
	for i, name := range r.Kept {
		names[i] = explain.ShellWord(name)
	}
	out := one(words.DeleteKept, kubectl(r, "delete job %s", strings.Join(names, " ")))
	if ptr.Deref(r.SuccessfulJobsHistoryLimit, 1) == 0 {
		return append(out, patch(r, words.KeepSuccessfulJobs, `{"spec":{"successfulJobsHistoryLimit":1}}`)...)
	}
	return out
}

// onZone returns the advice on a CronJob that may start at another hour than its user means.
func onZone(r *explain.CronJobReport) []explain.Advice {
	if !r.ZoneAssumed || r.Next == nil {
		return nil
	}
	return edit(r, words.SetZone)
}

// onPileUp returns the advice on Jobs of the schedule that run at once.
func onPileUp(r *explain.CronJobReport) (out []explain.Advice) {
	if r.Stalled == 0 && r.Oldest.Logs != nil {
		out = onLongRun(r, r.Oldest)
	} else if r.Stalled > 0 {
		out = onTemplate(r, r.Oldest)
		out = append(out, one(words.DeleteStalledJobs, kubectl(r, "batchjob status --problems"))...)
	}
	if r.ConcurrencyPolicy == "Forbid" {
		return append(out, one(words.DeleteUncounted, kubectl(r, "delete job %s", explain.ShellWord(r.Oldest.Name)))...)
	}
	return append(out, patch(r, words.ForbidOverlap, `{"spec":{"concurrencyPolicy":"Forbid"}}`)...)
}

// onRun returns the advice on a Job with a problem: its own, and to correct the template.
func onRun(r *explain.CronJobReport, run *explain.OwnedRun) []explain.Advice {
	if run.State == explain.OwnedRunning && run.Cause == "" && run.Logs != nil && r.ActiveDeadlineSeconds == nil {
		return onLongRun(r, run)
	}
	if run.Fix == nil && run.Logs == nil && (!run.Fails() || run.State == explain.OwnedUnknown) {
		return nil
	}
	return againOrDelete(r, run, onTemplate(r, run))
}

// againOrDelete adds to the advice on a Job to delete it if a change of the template does not help it, or to try again before a start that is far.
func againOrDelete(r *explain.CronJobReport, run *explain.OwnedRun, out []explain.Advice) []explain.Advice {
	if fix := run.Fix; run.State == explain.OwnedStalled && fix != nil && (fix.OfTemplate || fix.Recreates || fix.OfOwner) {
		return append(out, one(words.DeleteOld, kubectl(r, "delete job %s", explain.ShellWord(run.Name)))...)
	}
	if run.State == explain.OwnedFailed && r.Next != nil && r.Next.Sub(r.ObservedAt.Time) >= farStart {
		try := kubectl(r, "create job %[1]s-try --from=cronjob/%[1]s", explain.ShellWord(r.Name))
		change := lists.First(out, func(a *explain.Advice) bool { return a.OfOwner })
		if change == nil || change.Recreates {
			return append(out, one(words.TryAgain, try)...)
		}
		change.Text, change.Command = change.Text+words.ThenTry, change.Command+" && "+try
	}
	return out
}

// onOverlap returns the advice on a Job that keeps the next one from starting: on its cause, if one is known, before its deletion, as
// the next Job has the same template.
func onOverlap(r *explain.CronJobReport) (out []explain.Advice) {
	oldest := r.Oldest
	if oldest != nil && (oldest.Fix != nil || oldest.State != explain.OwnedRunning) {
		remove := kubectl(r, "delete job %s", explain.ShellWord(oldest.Name))
		switch {
		case oldest.Outdated && oldest.State != explain.OwnedRunning:
			return one(words.DeleteOutdated, remove)
		case oldest.Fix == nil && oldest.Logs == nil:
			text := words.CheckStalledJob
			if oldest.State == explain.OwnedFailing {
				text = words.CheckFailingJob
			}
			out = one(text, kubectl(r, "batchjob why %s", explain.ShellWord(oldest.Name)))
		}
		if out = append(out, onTemplate(r, oldest)...); oldest.Fix == nil && oldest.Logs == nil || oldest.State == explain.OwnedSuspended || oldest.Deleting {
			return out
		}
		text := words.DeleteBlocking
		if r.ActiveDeadlineSeconds == nil && oldest.State != explain.OwnedFailing {
			text += words.OrEndHanging
		}
		return append(out, one(text, remove)...)
	}
	return append(onLongRun(r, oldest), patch(r, words.AllowReplacement, `{"spec":{"concurrencyPolicy":"Replace"}}`)...)
}

// onLongRun returns the advice on a Job that has been running for long, nil for none: to find out what it does, to end it, and to limit the
// next ones.
func onLongRun(r *explain.CronJobReport, run *explain.OwnedRun) (out []explain.Advice) {
	if c := r.DefaultCommand; c != nil && run != nil {
		out = edit(r, fmt.Sprintf(words.SetCommand, c.Container, c.Image))
	}
	switch {
	case run != nil && run.Logs != nil:
		text := words.DeleteHanging
		if r.ConcurrencyPolicy == "Forbid" {
			text += words.ThenSkipped
		}
		out = append(append(out, *run.Logs), one(text, kubectl(r, "delete job %s", explain.ShellWord(run.Name)))...)
	case len(r.Active) > 0:
		out = append(out, one(words.CheckOverlappingJob, kubectl(r, "batchjob why %s", explain.ShellWord(r.Active[0])))...)
	}
	if r.ActiveDeadlineSeconds == nil {
		out = append(out, edit(r, words.LimitRunTime)...)
	}
	return out
}

// onTemplate returns the advice on the cause of a Job, and to correct the template, unless the cause is elsewhere: a newer Job would have the
// same problem. A suspended Job only waits.
func onTemplate(r *explain.CronJobReport, run *explain.OwnedRun) (out []explain.Advice) {
	if run.Fix != nil {
		out = []explain.Advice{*run.Fix}
	}
	names := run.Fix != nil && run.Fix.Recreates && run.Fix.Command == "" // It says what to change in the CronJob.
	if names {
		out[0].Command, out[0].OfOwner = kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)), true
	}
	if run.Logs != nil && run.Fix == nil { // Otherwise, its end is shown with the cause.
		out = append(out, *run.Logs)
	}
	text := words.CorrectRunTemplate
	if run.Fix != nil && run.Fix.OfTemplate {
		text = words.ChangeRunTemplate
	}
	if names || run.State == explain.OwnedSuspended || run.Fix != nil && run.Fix.Elsewhere {
		return out
	}
	return append(out, edit(r, text)...)
}

func onMissedStart(r *explain.CronJobReport) []explain.Advice {
	name, missed := explain.ShellWord(r.Name), explain.ShellWord(r.Name+"-missed")
	out := one(words.StartMissedNow, kubectl(r, "create job %s --from=cronjob/%s", missed, name))
	switch d := r.StartingDeadlineSeconds; {
	case d != nil && *d < words.TooShortToStart: // It misses the next starts, too.
		return append(patch(r, words.GiveMoreTimeToStart(*d), moreTime), out...)
	case d != nil && *d < generousDeadline:
		return append(out, patch(r, words.GiveMoreTimeToStart(*d), moreTime)...)
	}
	return out
}

func onRefusal(r *explain.CronJobReport) []explain.Advice {
	switch {
	case r.Refusal.IsOfQuota():
		return one(words.FreeJobQuota, kubectl(r, "describe resourcequota %s", explain.ShellWord(r.Refusal.By)))
	case r.Refusal.IsOfTemplate():
		return edit(r, words.CorrectJobTemplate)
	case r.Refusal.IsOfPolicy():
		return edit(r, cmp.Or(fit(r, r.Refusal.Demand()), words.SatisfyPolicy))
	case r.Refusal.Webhook == nil && r.Refusal.Kind != meaning.RefusalNamespace:
		return one(words.RetriedCreation, events(r))
	}
	text, command := r.Refusal.Advice(explain.ShellWord(r.Namespace))
	return one(fit(r, text), command)
}

func fit(r *explain.CronJobReport, text string) string {
	return words.Fit(text, &explain.Owner{Kind: "CronJob", Name: r.Name}, nil, "", true)
}

func one(text, command string) []explain.Advice {
	return []explain.Advice{{Text: text, Command: command}}
}

// patch returns the advice to change a field of the CronJob; merge must not contain single quotes.
func patch(r *explain.CronJobReport, text, merge string) []explain.Advice {
	return ofOwner(text, kubectl(r, "patch cronjob %s --type merge -p '%s'", explain.ShellWord(r.Name), merge))
}

// edit returns the advice to change the CronJob in an editor.
func edit(r *explain.CronJobReport, text string) []explain.Advice {
	return ofOwner(text, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))
}

func ofOwner(text, command string) []explain.Advice {
	return []explain.Advice{{Text: text, Command: command, OfOwner: true}}
}

func events(r *explain.CronJobReport) string {
	return kubectl(r, "get events --field-selector involvedObject.kind=CronJob,involvedObject.name=%s", explain.ShellWord(r.Name))
}

// kubectl returns a command with the namespace of the CronJob.
func kubectl(r *explain.CronJobReport, format string, args ...any) string {
	return explain.Kubectl(r.Namespace, format, args...)
}
