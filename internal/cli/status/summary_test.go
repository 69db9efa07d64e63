package status

import (
	"net/http"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// CLI-01: one Job by name is a one-screen summary; with several Jobs, or a flag about the form, it is the table.
func TestOneJobByNameIsASummary(t *testing.T) {
	o := clitest.NewExplained(t, clitest.ExplainedJob("ns1", "second"))
	summary := program.Run(t, o.API, "status", "train")
	if summary.Code != 0 || strings.Contains(summary.Out, "DONE") || strings.Count(summary.Out, "\n") > 24 {
		t.Errorf("exit %d, %s", summary.Code, summary.Out)
	}
	for _, part := range []string{"Failed", "ns1/train", `rule 0 "Corrupt"`} {
		if !strings.Contains(summary.Out, part) {
			t.Errorf("the summary does not say %q:\n%s", part, summary.Out)
		}
	}
	for args, headers := range map[string]bool{
		"train -o wide": true, "train second": true, "train --no-headers": false, "-l app=train": true, "": true,
	} {
		got := program.Run(t, o.API, append([]string{"status"}, strings.Fields(args)...)...)
		if got.Code != 0 || strings.Contains(got.Out, "DONE") != headers || !strings.Contains(got.Out, "train ") || strings.Contains(got.Out, "rule 0") {
			t.Errorf("status %s: exit %d, %s", args, got.Code, got.Out)
		}
	}
	if got := program.Run(t, o.API, "status", "train", "-o", "name"); got.Out != "job.batch/train\n" {
		t.Errorf("%q", got.Out)
	}
	watch := program.Start(t, o.API, clitest.NewEnv(), "status", "train", "-w")
	watch.WaitOut("DONE")
	watch.Interrupt()
	if code := watch.End(); code != cmdutil.ExitInterrupted {
		t.Errorf("status -w: exit %d", code)
	}
	if got := program.Run(t, o.API, "status", "absent"); got.Code != cmdutil.ExitError || got.Out != "" || !strings.Contains(got.ErrOut, `job "absent" not found`) {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	if used := o.Methods(); len(used) != 1 || !used[http.MethodGet] {
		t.Errorf("it writes: %v", used)
	}
}
