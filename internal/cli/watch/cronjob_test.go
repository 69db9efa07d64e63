package watch

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// A CronJob is watched alone, and only in the view; without a terminal, the error names the verb that prints it.
// Requirements: CRJ-13.
func TestCronJobIsWatchedInTheView(t *testing.T) {
	for args, want := range map[string]string{
		"cronjob/a cronjob/b": "name one CronJob", "cronjob/a train": "name one CronJob",
		"cronjob/a --plain": "omit --plain", "cronjob/a --exit-status": "omit --plain and --exit-status", "cronjob/": "names no CronJob",
	} {
		got := program.Run(t, nil, append([]string{"watch"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, want) {
			t.Errorf("%s: exit %d, %s", args, got.Code, got.ErrOut)
		}
	}
	if got := program.Run(t, nil, "watch", "cronjob/a"); got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, "kubectl batchjob status cronjob/a") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}
