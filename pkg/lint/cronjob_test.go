package lint

import (
	"slices"
	"strings"
	"testing"
)

// cronJob is one with these fields, and of which nothing else is to be said.
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

// What is around the Job; test/integration compares with an API server (JOB-40).
func TestInvalidCronJobFieldsAreReported_JOB_40(t *testing.T) {
	for spec, want := range map[string]string{
		"": "!error schedule-missing spec.schedule", `schedule: "0 3 * *"`: "!error schedule-invalid spec.schedule", `schedule: "TZ=UTC 0 3 * * *"`: "!error schedule-invalid spec.schedule",
		"concurrencyPolicy: never": "!error concurrency-policy-unknown spec.concurrencyPolicy", "concurrencyPolicy: Forbid": "", "concurrencyPolicy: Replace": "",
		"successfulJobsHistoryLimit: -1": "!error negative spec.successfulJobsHistoryLimit", "failedJobsHistoryLimit: -1": "!error negative spec.failedJobsHistoryLimit",
		"startingDeadlineSeconds: -1": "!error negative spec.startingDeadlineSeconds", "startingDeadlineSeconds: 0": "",
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

// A schedule with a time zone is told apart from one that cannot be read: there is a field for it.
func TestTimeZoneInAScheduleIsReported_JOB_40(t *testing.T) {
	const want = "spec.schedule: a schedule cannot have a time zone (use the field timeZone)"
	if got := texts(t, cronJob(`schedule: "CRON_TZ=UTC 0 3 * * *"`), "schedule-invalid"); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}
