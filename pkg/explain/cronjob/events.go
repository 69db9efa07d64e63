package cronjob

import (
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// cronJobStates maps reasons of events that the CronJob controller writes when it does not start a Job, as of Kubernetes
// 1.36. FailedNeedsStart is from before 1.21.
var cronJobStates = map[string]explain.CronJobState{
	"FailedCreate":        explain.CronJobCreationRefused,
	"JobAlreadyActive":    explain.CronJobOverlap,
	"MissSchedule":        explain.CronJobMissedStart,
	"TooManyMissedTimes":  explain.CronJobManyMissed,
	"FailedNeedsStart":    explain.CronJobManyMissed,
	"UnknownTimeZone":     explain.CronJobUnknownZone,
	"UnparseableSchedule": explain.CronJobBadSchedule,
	"InvalidSchedule":     explain.CronJobBadSchedule,
	"FailedGet":           explain.CronJobCannotReplace,
	"FailedDelete":        explain.CronJobCannotReplace,
}

// stateOf returns the obstacle to a CronJob's next start that an event reports, "" if it reports none.
func stateOf(e *input.Event) explain.CronJobState { return cronJobStates[e.Reason] }

// missedStart reads the time from the message of an event MissSchedule; zero if there is none.
func missedStart(message string) time.Time {
	text, found := strings.CutPrefix(message, "Missed scheduled time to start a job: ")
	if !found {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC1123Z, time.RFC1123} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// rejected matches the beginning of the CronJob controller's messages about a time zone or a schedule that it does not
// accept.
var rejected = lazyregexp.New(`^(?:invalid timeZone|unparseable schedule|invalid schedule): "?([^":]*)"?\s*:`)

// rejectedIn reads the time zone or the schedule from the message of an event UnknownTimeZone, UnparseableSchedule or
// InvalidSchedule; "" if there is none.
func rejectedIn(message string) string {
	return strings.TrimSpace(rejected.Group(message))
}
