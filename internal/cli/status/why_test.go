package status

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Requirements: CLI-30. The list says why a Job failed, uncut without a terminal, also in JSON, for two requests.
func TestListHasTheCausesOfFailures(t *testing.T) {
	o := clitest.NewExplained(t, clitest.ExplainedJob("ns1", "second"))
	got := program.Run(t, o.API, "status")
	if !strings.Contains(got.Out, "  rule Corrupt: exit 42: table is corrupt  ") {
		t.Errorf("%s", got.Out)
	}
	if pods, events := o.Queries("/pods"), o.Queries("/events"); len(pods) != 1 || len(events) != 1 {
		t.Errorf("%q, %q", pods, events)
	}
	got = program.Run(t, o.API, "status", "train", "-o", "jsonpath={.why.text} {.why.causes[0].exitCode}")
	if !strings.HasPrefix(got.Out, "rule Corrupt: exit 42: table") || !strings.HasSuffix(got.Out, " 42") {
		t.Errorf("%q", got.Out)
	}
}
