package retry

import (
	"fmt"
	"net/http"
	"strings"
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

// --replace creates a retry of an unfinished Job, and then deletes the Job: nothing is deleted before the new Job
// runs.
//
// Requirements: RTY-37
func TestReplacedJobIsDeletedLast(t *testing.T) {
	api := clitest.NewWrites(t, stalledJob(t, "a"))
	got := program.Run(t, api.API, "retry", "a", "--replace", "--image", "fixed")
	wantRun(t, got, cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "job.batch/a deleted\n", "It runs 2 indexes (2,4)")
	jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)
	if calls := fmt.Sprint(api.Calls()); calls != "[create jobs patch jobs/status patch jobs delete jobs]" || api.Job("a") != nil {
		t.Error(calls)
	}
}

// A Job that cannot be replaced is left unchanged, and an error names the Job that is left.
//
// Requirements: RTY-37
func TestReplaceLeavesTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		job   *unstructured.Unstructured
		args  string
		deny  []string
		code  int
		text  string
		calls string
	}{
		"finished":      {job: failedJob(t, "a"), code: cmdutil.ExitUsage, text: "--replace: job.batch/a has finished; leave out --replace", calls: "[]"},
		"no permission": {job: stalledJob(t, "a"), deny: []string{"delete jobs"}, code: cmdutil.ExitError, text: `you may not delete jobs in namespace "ns1", and --replace does`, calls: "[]"},
		"not created":   {job: stalledJob(t, "a"), deny: []string{"create jobs"}, code: cmdutil.ExitError, text: "you may not create jobs", calls: "[create jobs]"},
		"not deleted": {
			job: stalledJob(t, "a"), deny: []string{"delete jobs", "create selfsubjectaccessreviews"}, code: cmdutil.ExitError,
			text: "job.batch/a-retry-1 was created, and job.batch/a, which it replaces, may be left", calls: "[create jobs patch jobs/status patch jobs delete jobs]",
		},
		"a dry run": {job: stalledJob(t, "a"), args: "--dry-run=server", code: cmdutil.ExitDone, text: "job.batch/a-retry-1 created (server dry run)", calls: "[create jobs]"},
		"without the flag": {
			job: stalledJob(t, "a"), args: "--replace=false", code: cmdutil.ExitError,
			text: "job.batch/a has not finished; wait for it first: kubectl batchjob wait a; or end it and run what it has not completed: --replace", calls: "[]",
		},
	} {
		api := clitest.NewWrites(t, c.job)
		api.Deny(c.deny...)
		got := program.Run(t, api.API, append([]string{"retry", "a", "--replace"}, strings.Fields(c.args)...)...)
		wantRun(t, got, c.code, c.text)
		if calls := fmt.Sprint(api.Calls()); calls != c.calls || api.Job("a") == nil {
			t.Errorf("%s: %s", name, calls)
		}
	}
}

// Ctrl-C once the new Job is stored does not leave both Jobs running: they would do the same work.
//
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

// The output says that a printed Job is suspended if more steps are needed to run it.
//
// Requirements: RTY-39
func TestPrintedJobIsSuspended(t *testing.T) {
	for args, want := range map[string]bool{"--dry-run=client -o yaml": true, "--dry-run=server -o yaml": true, "-o yaml": false, "--dry-run=client -o yaml --indexes 0-5": false} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		got := program.Run(t, api.API, append([]string{"retry", "a"}, strings.Fields(args)...)...)
		wantRun(t, got, cmdutil.ExitDone, "kind: Job")
		if strings.HasPrefix(got.Out, "# This Job is suspended") != want {
			t.Errorf("%s: %s", args, got.Out)
		}
	}
}
