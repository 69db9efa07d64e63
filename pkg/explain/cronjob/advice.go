package cronjob

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// generousDeadline is a startingDeadlineSeconds value that outlasts a restart of kube-controller-manager.
const generousDeadline = 600

// adviceOn returns the advice on a CronJob that does not start Jobs.
func adviceOn(r *explain.CronJobReport, now time.Time) []explain.Advice {
	switch r.State {
	case explain.CronJobSuspended:
		return one(words.ResumeCronJob, patch(r, `{"spec":{"suspend":false}}`))
	case explain.CronJobDeleting:
		if since := ptr.Deref(r.Since, metav1.NewTime(now)); now.Sub(since.Time) < slack {
			return nil
		}
		return one(words.FindDeletionHolder, kubectl(r, "get cronjob %s -o jsonpath='{.metadata.finalizers}'", explain.ShellWord(r.Name)))
	case explain.CronJobCreationRefused:
		return onRefusal(r)
	case explain.CronJobOverlap:
		out := one(words.AllowReplacement, patch(r, `{"spec":{"concurrencyPolicy":"Replace"}}`))
		if len(r.Active) > 0 {
			out = append(one(words.CheckOverlappingJob, kubectl(r, "batchjob why %s", explain.ShellWord(r.Active[0]))), out...)
		}
		return out
	case explain.CronJobCannotReplace:
		return one(words.FixReplacement, events(r))
	case explain.CronJobMissedStart:
		return onMissedStart(r)
	case explain.CronJobManyMissed:
		return one(words.LimitMissedStarts, patch(r, deadline(generousDeadline)))
	case explain.CronJobUnknownZone:
		if r.Rejected != "" && r.Rejected != r.TimeZone {
			return one(words.ReadEventsOfCronJob, events(r))
		}
		return one(words.SetKnownZone, patch(r, `{"spec":{"timeZone":"Etc/UTC"}}`))
	case explain.CronJobBadSchedule:
		return one(words.CorrectSchedule, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))
	case explain.CronJobOverdue:
		return one(words.CheckBuiltIn, "kubectl get pods -n kube-system -l component=kube-controller-manager")
	}
	return nil
}

func onRefusal(r *explain.CronJobReport) []explain.Advice {
	switch r.Reason {
	case explain.RefusalQuota, explain.RefusalQuotaNeeds:
		return one(words.FreeJobQuota, kubectl(r, "describe resourcequota%s", optional(r.RefusedBy)))
	case explain.RefusalInvalid, explain.RefusalPolicy, explain.RefusalPodSecurity, explain.RefusalLimitRange:
		return one(words.CorrectJobTemplate, kubectl(r, "edit cronjob %s", explain.ShellWord(r.Name)))
	}
	return one(words.RetriedCreation, events(r))
}

func onMissedStart(r *explain.CronJobReport) []explain.Advice {
	name := explain.ShellWord(r.Name)
	out := one(words.StartMissedNow, kubectl(r, "create job %s --from=cronjob/%s", explain.ShellWord(r.Name+"-missed"), name))
	if d := r.StartingDeadlineSeconds; d != nil && *d < generousDeadline {
		out = append(out, one(words.GiveMoreTimeToStart(*d), patch(r, deadline(generousDeadline)))...)
	}
	return out
}

func deadline(seconds int64) string {
	return fmt.Sprintf(`{"spec":{"startingDeadlineSeconds":%d}}`, seconds)
}

func one(text, command string) []explain.Advice {
	return []explain.Advice{{Text: text, Command: command}}
}

// optional returns a word after a space, "" for an empty word.
func optional(word string) string {
	if word == "" {
		return ""
	}
	return " " + explain.ShellWord(word)
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
	return "kubectl " + fmt.Sprintf(format, args...) + " -n " + explain.ShellWord(r.Namespace)
}
