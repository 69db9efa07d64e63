package create

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// A manifest for a Git repository contains nothing that an API server rejects (CLI-05: errors have a position).
func TestDryRunOnTheClientChecks(t *testing.T) {
	const typo = "  backofLimit: 3\n"
	for _, c := range []struct {
		text, args, out, errOut string
		code                    int
	}{
		{clitest.PlainJob, "", "job.batch/a created (dry run)\n", "", cmdutil.ExitDone},
		{clitest.PlainJob + "  backoffLimit: -1\n", "", "", "error: PATH:6:17: the API server would reject this: backoffLimit is -1; use 0 or more\n", cmdutil.ExitError},
		{clitest.PlainJob + "  backoffLimit: -1\n", "-o yaml --validate=ignore", "", "error: PATH:6:17: the API server would reject this: backoffLimit is -1; use 0 or more\n", cmdutil.ExitError},
		{clitest.PlainJob + "  ttlSecondsAfterFinished: 0\n", "", "job.batch/a created (dry run)\n", "", cmdutil.ExitDone},
		{clitest.PlainJob + typo, "", "", "error: PATH:6:16: the API server would reject this: batch/v1 has no field spec.backofLimit, did you mean backoffLimit; write backoffLimit, or remove it, or use --validate=ignore if your API server knows it\n", cmdutil.ExitError},
		{clitest.PlainJob + typo, "--validate=warn", "job.batch/a created (dry run)\n", "warning: PATH:6:16: batch/v1 has no field spec.backofLimit, did you mean backoffLimit\n", cmdutil.ExitDone},
		{clitest.PlainJob + typo, "--validate=ignore", "job.batch/a created (dry run)\n", "", cmdutil.ExitDone},
	} {
		program.RunOn(t, c.text, "create", append(strings.Fields(c.args), "--dry-run=client")...).Is(t, c.code, c.out, c.errOut)
	}
}
