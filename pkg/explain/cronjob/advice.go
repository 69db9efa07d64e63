package cronjob

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// generousDeadline is a startingDeadlineSeconds value that outlasts a restart of kube-controller-manager, and moreTime the
// patch that sets it.
const (
	generousDeadline = 600
	moreTime         = `{"spec":{"startingDeadlineSeconds":600}}`
)

// adviceOn returns the advice on a CronJob that does not start Jobs.
func adviceOn(r *explain.CronJobReport, now time.Time) []explain.Advice {
	name := explain.ShellWord(r.Name)
	switch r.State {
	case explain.CronJobSuspended:
		return one(words.ResumeCronJob, patch(r, `{"spec":{"suspend":false}}`))
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
		return one(words.LimitMissedStarts, patch(r, moreTime))
	case explain.CronJobUnknownZone:
		if r.Rejected != "" && r.Rejected != r.TimeZone {
			return one(words.ReadEventsOfCronJob, events(r))
		}
		return one(words.SetKnownZone, patch(r, `{"spec":{"timeZone":"Etc/UTC"}}`))
	case explain.CronJobBadSchedule:
		return one(words.CorrectSchedule, kubectl(r, "edit cronjob %s", name))
	case explain.CronJobOverdue:
		return one(words.CheckBuiltIn, "kubectl get pods -n kube-system -l component=kube-controller-manager")
	}
	return onRuns(r)
}

// onRuns returns the advice on the Jobs of a CronJob that starts them.
func onRuns(r *explain.CronJobReport) (out []explain.Advice) {
	name := explain.ShellWord(r.Name)
	switch last := r.Last; {
	case r.State == explain.CronJobReplaces:
		return one(words.LetRunsEnd, patch(r, `{"spec":{"concurrencyPolicy":"Forbid"}}`))
	case r.State == explain.CronJobManualJobs:
		return one(words.DeleteManualJobs, kubectl(r, "get jobs"))
	case r.State == explain.CronJobPileUp:
		if r.Stalled > 0 && r.Oldest.Fix != nil {
			out = []explain.Advice{*r.Oldest.Fix}
		} else if r.Stalled > 0 {
			out = one(words.CorrectRunTemplate, kubectl(r, "edit cronjob %s", name))
		}
		if r.Stalled > 0 {
			out = append(out, one(words.DeleteStalledJobs, kubectl(r, "batchjob status --problems"))...)
		}
		return append(out, one(words.ForbidOverlap, patch(r, `{"spec":{"concurrencyPolicy":"Forbid"}}`))...)
	case r.ByHand != nil:
		out = onRun(r, r.ByHand)
	case last == nil:
	case last.Name == "" && last.State != explain.OwnedSucceeded && ptr.Deref(r.FailedJobsHistoryLimit, 1) == 0:
		out = one(words.KeepFailedJobs, patch(r, `{"spec":{"failedJobsHistoryLimit":1}}`))
	default:
		out = onRun(r, last)
	}
	if d := r.StartingDeadlineSeconds; d != nil && *d < words.TooShortToStart {
		out = append(out, one(words.GiveMoreTimeToStart(*d), patch(r, moreTime))...)
	}
	return out
}

// onRun returns the advice on a Job with a problem: its own, and to correct the template.
func onRun(r *explain.CronJobReport, run *explain.OwnedRun) (out []explain.Advice) {
	if run.Fix != nil {
		out = append(out, *run.Fix)
	}
	if out == nil && !slices.Contains([]explain.OwnedState{explain.OwnedFailed, explain.OwnedFailing, explain.OwnedStalled}, run.State) {
		return nil
	}
	return onTemplate(r, run, out)
}

func onOverlap(r *explain.CronJobReport) (out []explain.Advice) {
	edit := kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name))
	oldest := r.Oldest
	switch waits := oldest != nil && (oldest.State == explain.OwnedStalled || oldest.State == explain.OwnedSuspended); {
	case waits && oldest.Outdated:
		return one(words.DeleteOutdated, kubectl(r, "delete job %s", explain.ShellWord(oldest.Name)))
	case waits && oldest.Fix != nil:
		out = onTemplate(r, oldest, []explain.Advice{*oldest.Fix}) // First, as the next Job has the same template.
		if oldest.State == explain.OwnedSuspended {
			return out
		}
		return append(out, one(words.DeleteBlocking, kubectl(r, "delete job %s", explain.ShellWord(oldest.Name)))...)
	case waits:
		return onTemplate(r, oldest, one(words.CheckStalledJob, kubectl(r, "batchjob why %s", explain.ShellWord(oldest.Name))))
	case len(r.Active) > 0:
		out = one(words.CheckOverlappingJob, kubectl(r, "batchjob why %s", explain.ShellWord(r.Active[0])))
	}
	if r.ActiveDeadlineSeconds == nil {
		out = append(out, one(words.LimitRunTime, edit)...)
	}
	return append(out, one(words.AllowReplacement, patch(r, `{"spec":{"concurrencyPolicy":"Replace"}}`))...)
}

// onTemplate adds the advice to correct the template: a newer Job would have the same problem. A suspended Job only waits.
func onTemplate(r *explain.CronJobReport, run *explain.OwnedRun, out []explain.Advice) []explain.Advice {
	if run.State == explain.OwnedSuspended {
		return out[:min(len(out), 1)]
	}
	return append(out, one(words.CorrectRunTemplate, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))...)
}

func onMissedStart(r *explain.CronJobReport) []explain.Advice {
	name, missed := explain.ShellWord(r.Name), explain.ShellWord(r.Name+"-missed")
	out := one(words.StartMissedNow, kubectl(r, "create job %s --from=cronjob/%s", missed, name))
	if d := r.StartingDeadlineSeconds; d != nil && *d < generousDeadline {
		out = append(out, one(words.GiveMoreTimeToStart(*d), patch(r, moreTime))...)
	}
	return out
}

func onRefusal(r *explain.CronJobReport) []explain.Advice {
	switch {
	case r.Refusal.IsOfQuota():
		return one(words.FreeJobQuota, kubectl(r, "describe resourcequota %s", explain.ShellWord(r.Refusal.By)))
	case r.Refusal.IsOfTemplate():
		return one(words.CorrectJobTemplate, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))
	case r.Refusal.IsOfPolicy():
		return one(words.SatisfyPolicy, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))
	}
	return one(words.RetriedCreation, events(r))
}

func one(text, command string) []explain.Advice {
	return []explain.Advice{{Text: text, Command: command}}
}

// patch returns a command that patches the CronJob; merge must not contain single quotes.
func patch(r *explain.CronJobReport, merge string) string {
	return kubectl(r, "patch cronjob %s --type merge -p '%s'", explain.ShellWord(r.Name), merge)
}

func events(r *explain.CronJobReport) string {
	return kubectl(r, "get events --field-selector involvedObject.kind=CronJob,involvedObject.name=%s", explain.ShellWord(r.Name))
}

// kubectl returns a command with the namespace of the CronJob.
func kubectl(r *explain.CronJobReport, format string, args ...any) string {
	return explain.Kubectl(r.Namespace, format, args...)
}
