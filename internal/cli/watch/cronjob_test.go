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
		program.Run(t, nil, append([]string{"watch"}, strings.Fields(args)...)...).Want(t, cmdutil.ExitUsage, "", want)
	}
	program.Run(t, nil, "watch", "cronjob/a").Want(t, cmdutil.ExitError, "", "kubectl batchjob status cronjob/a")
}
