package schedule

import "testing"

// The answers are those of the API server; test/integration/lint_test.go compares them (JOB-40).
func TestInvalidSchedulesAreExplained_JOB_40(t *testing.T) {
	for text, want := range map[string]string{
		"0 3 * * *": "", "*/5 0-23/2 1,15 jan-MAR sun": "", "? * ? * ?": "", "@every 1h30m": "", "@daily": "", "  0 3\t* * *": "", "5/10 * * * *": "", "59 23 31 12 6": "",
		"0 3 * *": "4 fields, not 5", "0 3 * * * *": "6 fields, not 5", "": "0 fields, not 5", "60 * * * *": `minute "60": allowed are 0 to 59`, "* 24 * * *": `hour "24": allowed are 0 to 23`,
		"* * 0 * *": `day of month "0": allowed are 1 to 31`, "* * * 13 *": `month "13": allowed are 1 to 12`, "* * * * 7": `day of week "7": allowed are 0 to 6`,
		"*/0 * * * *": `minute "*/0": a step is a number above 0`, "*/x * * * *": `minute "*/x": a step is a number above 0`, "5-1 * * * *": `minute "5-1": it begins above its end`,
		"1,b * * * *": `minute "b": allowed are 0 to 59`, "-1 * * * *": `minute "-1": allowed are 0 to 59`, "@every x": "@every needs a duration, such as 1h30m",
		"@often": "it is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every", "* * * mon *": `month "mon": allowed are 1 to 12`,
	} {
		got := ""
		if err := Check(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
