package retry

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// However many names are taken, a retry checks only a few, and then uses a name with a hash. With --name, it checks
// none.
// Requirements: RTY-14
func TestNamesOfManyStrangers(t *testing.T) {
	jobs := []*unstructured.Unstructured{failedJob(t, "a")}
	for n := range 50 {
		jobs = append(jobs, failedJob(t, fmt.Sprintf("a-retry-%d", n+1)))
	}
	for flag, c := range map[string]struct {
		reads int
		text  string
	}{"--dry-run=server": {1 + retry.MaxTaken, `^job.batch/a-[0-9a-f]{8}-retry-1 created`}, "--name=b": {1, "^job.batch/b created"}} {
		api, reads := clitest.NewWrites(t, jobs...), atomic.Int32{}
		api.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/jobs/") {
				reads.Add(1)
			}
			return nil
		})
		got := program.Run(t, api.API, "retry", "a", flag)
		if !regexp.MustCompile(c.text).MatchString(got.Out) || int(reads.Load()) != c.reads {
			t.Errorf("%s: %d reads of Jobs, want %d; %s%s", flag, reads.Load(), c.reads, got.Out, got.ErrOut)
		}
	}
}

// A Job with a manual selector may have a name that is too long for a label; its retries are found anyway.
// Requirements: RTY-09, RTY-14
func TestRetryOfALongName(t *testing.T) {
	long := strings.Repeat("long-name-", 9) + "a"
	job := failedJob(t, long, set("NonIndexed", "spec", "completionMode"), set(true, "spec", "manualSelector"))
	api := clitest.NewWrites(t, job)
	wantRun(t, program.Run(t, api.API, "retry", long), cmdutil.ExitDone, "-retry-1 created\n")
	wantRun(t, program.Run(t, api.API, "retry", long), cmdutil.ExitError, "-retry-1 has not finished")
}

// Ctrl-C before or after any of its requests leaves nothing, or a Job that runs nothing or the right indexes; the
// exit code and the output agree with that.
// Requirements: RTY-05
func TestCtrlCDuringRetry(t *testing.T) {
	const all, some = "", "0,1,3,5"
	for _, c := range []struct {
		at        string
		after     bool
		completed string
		state     string
	}{
		{"create jobs", false, some, "none"},
		{"create jobs", true, some, "none"},
		{"create jobs", true, all, "runs without "},
		{"patch jobs/status", false, some, "none"},
		{"patch jobs/status", true, some, "none"},
		{"patch jobs", false, some, "none"},
		{"patch jobs", true, some, "runs without 0,1,3,5"},
	} {
		t.Run(fmt.Sprintf("%s, after %v, without %s", c.at, c.after, c.completed), func(t *testing.T) {
			api := clitest.NewWrites(t, failedJob(t, "a", set(c.completed, "status", "completedIndexes")))
			interrupt := make(chan struct{})
			api.Around = func(call string, r *http.Request, serve func()) {
				if call != c.at {
					serve()
					return
				}
				if c.after {
					serve()
				}
				close(interrupt)
				<-r.Context().Done()
			}
			session := program.Start(t, api.API, clitest.NewEnv(), "retry", "a")
			<-interrupt
			session.Interrupt()
			session.Result().Want(t, cmdutil.ExitInterrupted, "")
			jobState{"a-retry-1", c.state}.want(t, api)
			if text := strings.Contains(session.ErrOut.String(), "job.batch/a-retry-1 was created, and runs.\n"); text != strings.HasPrefix(c.state, "runs") {
				t.Errorf("%s", session.ErrOut.String())
			}
		})
	}
}

// If the Job cannot be read after a lost response, the message says only that it may run.
// Requirements: RTY-27
func TestRetryWithALostAnswerThatCannotBeRead(t *testing.T) {
	for at, text := range map[string]string{
		"create jobs":       "job.batch/a-retry-1 may have been created, or may still be; see it with: kubectl batchjob status a-retry-1 -n ns1",
		"patch jobs/status": "job.batch/a-retry-1 was created, and may be left suspended; it runs nothing; the next retry removes it",
		"patch jobs":        "job.batch/a-retry-1 was created, and it is not known whether it runs; see it with: kubectl batchjob status a-retry-1 -n ns1",
	} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		api.Around = func(call string, _ *http.Request, serve func()) {
			if serve(); call == at {
				panic(http.ErrAbortHandler)
			}
		}
		api.API.Refuse = func(r *http.Request) *clitest.Status {
			if strings.HasSuffix(r.URL.Path, "/jobs/a-retry-1") && slices.Contains(api.Calls(), at) {
				return &clitest.Status{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "etcd is gone"}
			}
			return nil
		}
		wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, text)
	}
	api := clitest.NewWrites(t, failedJob(t, "a")) // A rejected request leaves no doubt.
	api.Deny("create jobs")
	assert.NotContains(t, program.Run(t, api.API, "retry", "a").ErrOut, "may have been created")
}

// A created Job is named even if it cannot be printed.
// Requirements: RTY-19, RTY-27
func TestUnprintableRetryIsNamed(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	wantRun(t, program.Run(t, api.API, "retry", "a", "-o", "go-template={{index .kind 99}}"), cmdutil.ExitError, "job.batch/a-retry-1 was created, but cannot be printed: ")
	jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)
}

// The controller of the Job may update its status while an interrupted retry removes it.
// Requirements: RTY-05
func TestInterruptedRetryMeetsTheController(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	api.Deny("patch jobs/status", "create selfsubjectaccessreviews")
	deletions := 0
	api.Around = func(call string, _ *http.Request, serve func()) {
		if call == "delete jobs" {
			if deletions++; deletions < 3 {
				api.API.Put(api.Job("a-retry-1"))
			}
		}
		serve()
	}
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, "you may not patch jobs/status")
	jobState{"a-retry-1", "none"}.want(t, api)
}
