package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// cronJob returns a CronJob with these fields, and without other findings.
func cronJob(spec string) string {
	return `apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  ` + spec + `
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: i}]
`
}

// The fields around the Job; test/cluster/integration compares the findings with an API server (JOB-40).
func TestInvalidCronJobFieldsAreReported(t *testing.T) {
	for spec, want := range map[string]string{
		"": "!error schedule-missing spec.schedule", `schedule: "0 3 * *"`: "!error schedule-invalid spec.schedule", `schedule: "TZ=UTC 0 3 * * *"`: "!error schedule-invalid spec.schedule",
		"concurrencyPolicy: never": "!error concurrency-policy-unknown spec.concurrencyPolicy", "concurrencyPolicy: Forbid": "info forbid-without-deadline spec.concurrencyPolicy", "concurrencyPolicy: Replace": "",
		"successfulJobsHistoryLimit: -1": "!error negative spec.successfulJobsHistoryLimit", "failedJobsHistoryLimit: -1": "!error negative spec.failedJobsHistoryLimit",
		"startingDeadlineSeconds: -1": "!error negative spec.startingDeadlineSeconds", "startingDeadlineSeconds: 10": "",
		"timeZone: Local": "!error time-zone-unknown spec.timeZone", `timeZone: ""`: "!error time-zone-unknown spec.timeZone", "timeZone: Mars/Olympus": "!error time-zone-unknown spec.timeZone",
		"timeZone: Europe/Berlin": "", "timeZone: Etc/UTC": "",
	} {
		text := spec
		if spec != "" && !strings.HasPrefix(spec, "schedule") {
			text += "\n  schedule: '@daily'"
		}
		if got := look(t, cronJob(text), nil); len(got) > 1 || !slices.Equal(got, strings.Split(want, "\x00")) && (want != "" || got != nil) {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// A schedule with a time zone is distinguished from an invalid one: the time zone has its own field.
// Requirements: JOB-40
func TestTimeZoneInAScheduleIsReported(t *testing.T) {
	const want = "spec.schedule: a schedule cannot contain a time zone (use the timeZone field)"
	if got := texts(t, cronJob(`schedule: "CRON_TZ=UTC 0 3 * * *"`), "schedule-invalid"); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// Problems of a schedule are in plain words.
// Requirements: JOB-40
func TestSchedules(t *testing.T) {
	for schedule, want := range map[string]string{
		"0 3 * * *": "", "*/5 0-23/2 1,15 jan-MAR sun": "", "? * ? * ?": "", "@every 1h30m": "", "@daily": "", "  0 3\t* * *": "", "5/10 * * * *": "", "59 23 31 12 6": "",
		"0 3 * *": ": it has 4 fields, not 5", "0 3 * * * *": ": it has 6 fields, not 5", " ": ": it has 0 fields, not 5",
		"60 * * * *": ": 60 is above 59", "* 24 * * *": ": 24 is above 23", "* * 0 * *": ": 0 is below 1",
		"* * * 13 *": ": 13 is above 12", "* * * * 7": ": a day of the week is 0 to 6, and 0 is Sunday", "*/0 * * * *": ": a step must be 1 or more",
		"*/x * * * *": ": x is not allowed at its place", "5-1 * * * *": ": 5 is above 1", "1,b * * * *": ": b is not allowed at its place", "-1 * * * *": ": a number is missing before or after a sign", "* * * mon *": ": mon is not allowed at its place", "* * L * *": ": L is not allowed at its place",
		"@every x": ": write a duration, such as @every 1h30m", "@often": ": there is no such name; use @hourly, @daily, @weekly, @monthly or @yearly",
	} {
		if want != "" {
			want = fmt.Sprintf("spec.schedule: the schedule %q is invalid%s (write minute, hour, day of month, month and day of week, such as \"0 3 * * *\")", schedule, want)
		}
		got := texts(t, cronJob(fmt.Sprintf("schedule: %q", schedule)), "schedule-invalid")
		assert.Equal(t, strings.Join(got, "\n"), want, schedule)
	}
}

// Settings that stop a CronJob, or hide why its Jobs fail.
// Requirements: LNT-03
func TestHabitsOfCronJobsAreReported(t *testing.T) {
	const deadline = "\n  jobTemplate: {spec: {activeDeadlineSeconds: 900, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}\n"
	for spec, want := range map[string][]string{
		"schedule: 0 0 31 2 *":                                   {"error schedule-never spec.schedule"},
		"schedule: 0 0 31 4,6 *":                                 {"error schedule-never spec.schedule"},
		"schedule: 0 0 29 2 *":                                   nil,
		"schedule: 0 0 31 2 mon":                                 {"warning schedule-day-or-weekday spec.schedule"}, // on the 31st, or on Mondays
		"schedule: '*/45 * * * *'":                               {"info schedule-uneven spec.schedule"},
		"schedule: '*/15 */6 * * *'":                             nil,
		"schedule: '@daily'\n  failedJobsHistoryLimit: 3\n  # t": {"info ttl-before-history spec.jobTemplate.spec.ttlSecondsAfterFinished"},
		"schedule: '@daily'\n  startingDeadlineSeconds: 9":       {"warning starting-deadline-short spec.startingDeadlineSeconds"},
		"schedule: '@daily'\n  failedJobsHistoryLimit: 0":        {"warning no-failed-history spec.failedJobsHistoryLimit"},
		"schedule: '@daily'\n  successfulJobsHistoryLimit: 0":    nil,
		"schedule: '@daily'\n  concurrencyPolicy: Forbid":        {"info forbid-without-deadline spec.concurrencyPolicy"},
		"schedule: '@daily'\n  concurrencyPolicy: Replace":       nil,
		"schedule: '@daily'\n  concurrencyPolicy: Forbid\n  # d": nil,
	} {
		text := cronJob(spec)
		before, _, _ := strings.Cut(text, "\n  jobTemplate:")
		switch {
		case strings.HasSuffix(spec, "# d"):
			text = before + deadline
		case strings.HasSuffix(spec, "# t"):
			text = before + strings.Replace(deadline, "activeDeadlineSeconds: 900", "ttlSecondsAfterFinished: 60", 1)
		}
		assert.SlicesEqual(t, look(t, text, nil), want, spec)
	}
}
