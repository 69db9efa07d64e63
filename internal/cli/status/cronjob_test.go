package status

import (
	"testing"
)

// A CronJob is named alone, and has no rows.
// Requirements: CRJ-08.
func TestCronJobIsShownAlone(t *testing.T) {
	program.Rejects(t, nil, "status", map[string]string{
		"cronjob/a cronjob/b": "name one CronJob", "train cronjob/a": "name one CronJob", "cronjob/a -w": "omit flags of the table", "cronjob/a -o wide": "omit flags of the table",
		"cronjob/a -o custom-columns=A:.kind": "omit flags", "cronjob/a --problems": "omit flags", "cronjob/": "names no CronJob", "cronjob/a -A": "across all namespaces",
		"jobset/a": "kubectl batchjob why jobset/a", "--by-owner -w": "--by-owner is for the table", "--by-owner -o json": "--by-owner is for the table",
	})
}
