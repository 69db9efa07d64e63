package cronjob

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Times, time zones and schedules are parsed from messages of the CronJob controller only.
// Requirements: CRJ-01.
func TestMessagesOfTheCronJobController(t *testing.T) {
	start := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	for message, want := range map[string]time.Time{
		"Missed scheduled time to start a job: Fri, 27 Nov 2026 03:00:00 +0000": start,
		"Missed scheduled time to start a job: Fri, 27 Nov 2026 03:00:00 UTC":   start,
		"Missed scheduled time to start a job: soon":                            {},
		"missed": {},
	} {
		if got := missedStart(message); !got.Equal(want) {
			t.Errorf("%s: %s", message, got)
		}
	}
	for message, want := range map[string]string{
		`invalid timeZone: "Europe/Kyiv": unknown time zone Europe/Kyiv`:     "Europe/Kyiv",
		`unparseable schedule: "0 3 * *" : expected exactly 5 fields`:        "0 3 * *",
		`invalid schedule: 0 3 31 2 * : unable to compute the next schedule`: "0 3 31 2 *",
		`something else: "x" : y`: "",
	} {
		assert.Equal(t, rejectedIn(message), want, message)
	}
}
