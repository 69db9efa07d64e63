package words_test

import (
	"testing"

	"github.com/robfig/cron/v3"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A schedule is described as its controller parses it: steps, lists, ranges and names are the same if they select the same.
// Requirements: CRJ-09.
func TestScheduleInWords(t *testing.T) {
	for schedule, want := range map[string]string{
		"0 3 * * *":             "every day at 03:00",
		"@daily":                "every day at 00:00",
		"30 6,18 * * *":         "every day at 06:30 and 18:30",
		"0 */6 * * *":           "every day at 00:00, 06:00, 12:00 and 18:00",
		"* * * * *":             "every minute",
		"*/15 * * * *":          "every 15 minutes",
		"0,15,30,45 * * * *":    "every 15 minutes",
		"*/7 * * * *":           "every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56",
		"@hourly":               "every hour",
		"17 * * * *":            "every hour at minute 17",
		"5,10-12 * * * *":       "every hour at minutes 5 and 10-12",
		"0 8-17 * * *":          "every hour from 08:00 to 17:00",
		"*/15 8-17 * * MON-FRI": "every 15 minutes from 08:00 to 17:45, Monday to Friday",
		"30 */2 * * *":          "every 2 hours from 00:30 to 22:30",
		"0 0-4,6-8 * * *":       "at minute 0 of the hours 0-4 and 6-8",
		"*/30 0,4,5 * * *":      "every 30 minutes of the hours 0, 4 and 5",
		"0 8 * * 1-5":           "Monday to Friday at 08:00",
		"0 8 * * MON,THU":       "on Monday and Thursday at 08:00",
		"0 0 1 * *":             "on day 1 of the month at 00:00",
		"@yearly":               "on day 1 of January at 00:00",
		"0 0 1,15 6-8 *":        "on days 1 and 15 of June to August at 00:00",
		"0 0 * 1,7 *":           "every day of January and July at 00:00",
		"0 0 * 1 MON":           "on Monday in January at 00:00",
		"0 0 13 * FRI":          "on day 13 of the month and on Friday at 00:00",
		"0 0 */2 * *":           "on every 2nd day of the month at 00:00",
		"0,5,9,11,13 3 * * *":   "at minutes 0, 5, 9, 11 and 13 of the hour 3",
		"* 3 * * *":             "every minute from 03:00 to 03:59",
		"*/10 3 * * *":          "every 10 minutes from 03:00 to 03:50",
	} {
		parsed, err := cron.ParseStandard(schedule)
		assert.NoError(t, err)
		fields, _ := parsed.(*cron.SpecSchedule)
		assert.Equal(t, words.Schedule(fields), want, schedule)
	}
}
