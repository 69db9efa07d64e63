package lint

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // findings do not depend on the machine's time zones

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkNamesOnCronJob finds names of rules in the wrong metadata.
func checkNamesOnCronJob(r *review) {
	if _, found := r.cronJob.Annotations[annotation]; found {
		r.add(Warning, "names-on-cronjob", field.NewPath("metadata", "annotations").Key(annotation), "move it to spec.jobTemplate.metadata.annotations",
			"rule names have no effect on the CronJob itself")
	}
}

func checkSchedule(r *review) {
	text, path := r.cronJob.Spec.Schedule, field.NewPath("spec", "schedule")
	if text == "" {
		r.reject("schedule-missing", path, `add one, such as "0 3 * * *"`, "the CronJob has no schedule")
		return
	}
	if strings.Contains(text, "TZ") {
		r.reject("schedule-invalid", path, "use the timeZone field", "a schedule cannot contain a time zone")
		return
	}
	// The API server uses the same parser. It may panic on a time zone.
	schedule, err := cron.ParseStandard(text)
	switch {
	case err != nil:
		r.reject("schedule-invalid", path, `write minute, hour, day of month, month and day of week, such as "0 3 * * *"`, "the schedule %q is invalid%s", shorten(text), scheduleProblem(text, err.Error()))
	case schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero(): // the year of a 29 February
		r.add(Error, "schedule-never", path, "use a day that the month has", "the schedule %q never comes: the month has no such day", shorten(text))
	}
}

// cronProblems are errors of the parser of schedules, and words for them.
var cronProblems = []struct {
	pattern *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`expected exactly 5 fields, found (\d+)`), ": it has $1 fields, not 5"},
	{regexp.MustCompile(`end of range \((7)\) above maximum \(6\)`), ": a day of the week is 0 to 6, and 0 is Sunday"},
	{regexp.MustCompile(`end of range \((\d+)\) above maximum \((\d+)\)`), ": $1 is above $2"},
	{regexp.MustCompile(`beginning of range \((\d+)\) below minimum \((\d+)\)`), ": $1 is below $2"},
	{regexp.MustCompile(`beginning of range \((\d+)\) beyond end of range \((\d+)\)`), ": $1 is above $2"},
	{regexp.MustCompile(`failed to parse int from :`), ": a number is missing before or after a sign"},
	{regexp.MustCompile(`failed to parse int from (\S*):`), ": $1 is not allowed at its place"},
	{regexp.MustCompile(`failed to parse duration`), ": write a duration, such as @every 1h30m"},
	{regexp.MustCompile(`(step of range should be a positive number)`), ": a step must be 1 or more"},
}

// scheduleProblem translates an error of the parser.
func scheduleProblem(text, problem string) string {
	for _, p := range cronProblems {
		if found := p.pattern.FindStringSubmatchIndex(problem); found != nil {
			return string(p.pattern.ExpandString(nil, p.words, problem, found))
		}
	}
	if strings.HasPrefix(text, "@") {
		return ": there is no such name; use @hourly, @daily, @weekly, @monthly or @yearly"
	}
	return ""
}

// checkScheduleHabits finds schedules that come at other times than their authors probably think.
func checkScheduleHabits(r *review) {
	fields, path := strings.Fields(r.cronJob.Spec.Schedule), field.NewPath("spec", "schedule")
	if len(fields) != 5 {
		return
	}
	if !strings.HasPrefix(fields[2], "*") && !strings.HasPrefix(fields[4], "*") && fields[2] != "?" && fields[4] != "?" {
		r.add(Warning, "schedule-day-or-weekday", path, "use * for one of them",
			"the schedule %q comes on the days of the month and on the days of the week: a day needs to match only one of them", shorten(r.cronJob.Spec.Schedule))
	}
	for i, size := range [...]int{60, 24} {
		if step, err := strconv.Atoi(strings.TrimPrefix(fields[i], "*/")); err == nil && strings.HasPrefix(fields[i], "*/") && step > 0 && size%step != 0 {
			r.add(Info, "schedule-uneven", path, "use a step that divides "+strconv.Itoa(size),
				"%s starts again at 0 after %d, so the last interval is shorter", fields[i], (size-1)/step*step)
		}
	}
}

// minStartingDeadline is the interval of the CronJob controller in seconds.
const minStartingDeadline = 10

// checkCronJobHabits finds settings that stop a CronJob, or hide why a Job failed.
func checkCronJobHabits(r *review) {
	spec, path := &r.cronJob.Spec, field.NewPath("spec")
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < minStartingDeadline {
		r.add(Warning, "starting-deadline-short", path.Child("startingDeadlineSeconds"), "use 10 or more, or remove it",
			"startingDeadlineSeconds is %d, but the controller looks only every %d s: it may start no Job at all", *deadline, minStartingDeadline)
	}
	if isZero(spec.FailedJobsHistoryLimit) {
		r.add(Warning, "no-failed-history", path.Child("failedJobsHistoryLimit"), "use 1 or more, or remove it",
			"with failedJobsHistoryLimit 0, a failed Job is deleted at once, with its pods and their logs, so nobody can see why it failed")
	}
	if ttl := r.spec.TTLSecondsAfterFinished; ttl != nil && spec.FailedJobsHistoryLimit != nil && *spec.FailedJobsHistoryLimit > 1 && *ttl < 3600 {
		r.add(Info, "ttl-before-history", r.specPath("ttlSecondsAfterFinished"), "raise or remove ttlSecondsAfterFinished",
			"ttlSecondsAfterFinished deletes each Job after %d s, so failedJobsHistoryLimit %d keeps none", *ttl, *spec.FailedJobsHistoryLimit)
	}
	if spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && !r.hasDeadline() {
		r.add(Info, "forbid-without-deadline", path.Child("concurrencyPolicy"), "add activeDeadlineSeconds to the Job's spec",
			"with concurrencyPolicy Forbid, a Job that hangs keeps all others from starting, and no deadline ends it")
	}
}

func checkTimeZone(r *review) {
	if r.cronJob.Spec.TimeZone == nil {
		return
	}
	const fix = "use a name from the IANA time zone database, such as Europe/Berlin or Etc/UTC"
	zone, path := *r.cronJob.Spec.TimeZone, field.NewPath("spec", "timeZone")
	switch {
	case zone == "":
		r.reject("time-zone-unknown", path, fix+", or remove it", "timeZone is empty")
	case strings.EqualFold(zone, "Local"):
		r.reject("time-zone-unknown", path, fix, "timeZone %q differs between machines", zone)
	default:
		if _, err := time.LoadLocation(zone); err != nil {
			r.reject("time-zone-unknown", path, fix, "there is no time zone %q", shorten(zone))
		}
	}
}
