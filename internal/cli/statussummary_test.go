package cli

import (
	"net/http"
	"strings"
	"testing"
)

// CLI-01: one Job by name is a summary on one screen; anything else about the form, or
// several Jobs, is the table.
func TestStatusSummary_CLI_01(t *testing.T) {
	o := newExplained(t, explainedJob("ns1", "second"))
	summary := program.run(t, o.api, "status", "train")
	if summary.code != 0 || strings.Contains(summary.out, "COMPLETIONS") || strings.Count(summary.out, "\n") > 24 {
		t.Errorf("exit %d, %s", summary.code, summary.out)
	}
	for _, part := range []string{"Failed", "ns1/train", `rule 0 "Corrupt"`} {
		if !strings.Contains(summary.out, part) {
			t.Errorf("the summary does not say %q:\n%s", part, summary.out)
		}
	}
	for args, headers := range map[string]bool{
		"train -o wide": true, "train second": true, "train --no-headers": false, "-l app=train": true, "": true,
	} {
		got := program.run(t, o.api, append([]string{"status"}, strings.Fields(args)...)...)
		if got.code != 0 || strings.Contains(got.out, "COMPLETIONS") != headers || !strings.Contains(got.out, "train ") || strings.Contains(got.out, "rule 0") {
			t.Errorf("status %s: exit %d, %s", args, got.code, got.out)
		}
	}
	if got := program.run(t, o.api, "status", "train", "-o", "name"); got.out != "job.batch/train\n" {
		t.Errorf("%q", got.out)
	}
	watch := program.start(t, o.api, testEnvironment(), "status", "train", "-w")
	watch.waitOut("COMPLETIONS")
	watch.interrupt()
	if code := watch.end(); code != exitInterrupted {
		t.Errorf("status -w: exit %d", code)
	}
	if got := program.run(t, o.api, "status", "absent"); got.code != exitError || got.out != "" || !strings.Contains(got.errOut, `job "absent" not found`) {
		t.Errorf("exit %d, %q, %q", got.code, got.out, got.errOut)
	}
	if used := o.methods(); len(used) != 1 || !used[http.MethodGet] {
		t.Errorf("it writes: %v", used)
	}
}
