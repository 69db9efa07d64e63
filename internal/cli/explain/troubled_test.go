package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// However many Jobs have failed, only some are read.
// Requirements: CLI-21
func TestWithoutANameTheNewestJobsAreExplained(t *testing.T) {
	o := clitest.NewObjects(t)
	for i := range maxUnnamed + 2 {
		job := clitest.FailedJob(fmt.Sprintf("f%03d", i))
		job.SetLabels(nil)
		o.API.Put(job)
	}
	got := program.Run(t, o.API, "why", "-o", "json")
	if names, _ := jobsIn(t, got.Out); len(names) != maxUnnamed || !strings.Contains(got.ErrOut, "the newest 50 of 52 Jobs") {
		t.Errorf("%d Jobs, %s", len(names), got.ErrOut)
	}
	if lists := len(o.Queries("/namespaces/ns1/jobs")); lists > maxUnnamed+1 { // one for the retries of each
		t.Errorf("%d lists of Jobs", lists)
	}
}

// Requirements: CLI-23, CLI-24
func TestFormatsOfKubectlForExplanations(t *testing.T) {
	o := clitest.NewExplained(t)
	for format, want := range map[string]string{
		"jsonpath={.verdict.cause.exitCode} {.verdict.cause.container} {.verdict.cause.pod}": "42 main train-a",
		"name": "job.batch/train\n",
		"go-template={{.kind}} {{.verdict.cause.exitCode}}": "JobExplanation 42",
		"jsonpath={.verdict.nonsense}":                      "",
	} {
		program.Run(t, o.API, "why", "train", "-o", format).Want(t, 0, want)
	}
	if got := program.Run(t, o.API, "why", "train", "-o", "jsonpath={"); got.Code != cmdutil.ExitUsage {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}
