package retry

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// stalledJob has completed four of six indexes, and has not finished.
func stalledJob(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	return failedJob(t, name, set([]any{}, "status", "conditions"))
}

// Ctrl-C once the new Job is stored does not leave both Jobs running: they would do the same work.
// Requirements: RTY-05, RTY-37
func TestCtrlCDuringReplaceLeavesOneJob(t *testing.T) {
	const all, some = "", "0,1,3,5"
	for _, c := range []struct {
		at, completed, deny string
		text                []string
	}{
		{"create jobs", all, "", []string{"job.batch/a-retry-1 was created, and runs.\n", "job.batch/a deleted\n"}},
		{"create jobs", all, "delete jobs", []string{"job.batch/a-retry-1 was created, and runs.\n", "error: job.batch/a-retry-1 was created, and job.batch/a, which it replaces, may be left"}},
		{"patch jobs", some, "", []string{"job.batch/a-retry-1 was created, and runs.\n", "job.batch/a deleted\n"}},
	} {
		old := stalledJob(t, "a")
		set(c.completed, "status", "completedIndexes")(old)
		api, interrupt := clitest.NewWrites(t, old), make(chan struct{})
		if c.deny != "" {
			api.Deny(c.deny, "create selfsubjectaccessreviews")
		}
		api.Around = func(call string, r *http.Request, serve func()) {
			if serve(); call == c.at {
				close(interrupt)
				<-r.Context().Done()
			}
		}
		session := program.Start(t, api.API, clitest.NewEnv(), "retry", "a", "--replace")
		<-interrupt
		session.Interrupt()
		got := clitest.Result{Code: session.End(), Out: session.Out.String(), ErrOut: session.ErrOut.String()}
		wantRun(t, got, cmdutil.ExitInterrupted, c.text...)
		jobState{"a-retry-1", "runs without " + c.completed}.want(t, api)
		if left := api.Job("a") != nil; left != (c.deny != "") || got.Out != "" {
			t.Errorf("%s: the old Job is left: %t; %s", c.at, left, got.Out)
		}
	}
}
