package clean

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// team returns an API with three finished Jobs; train-1 has two pods.
func team(t *testing.T) *clitest.Writes {
	t.Helper()
	api := clitest.NewWrites(t, clitest.FailedJob("train-1"), clitest.FailedJob("train-2"), clitest.CompleteJob("train-3"))
	for _, name := range []string{"train-1-a", "train-1-b"} {
		api.Pods.Put(clitest.EndedPod(api.Job("train-1"), name, 1, ""))
	}
	return api
}

func TestPrefixIsANameWithoutItsLastNumberOrRandomSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"train-3": "train", "nightly-29000001": "nightly", "load-x7k2p": "load", "build-3f9a21c": "build", "train-retry-2": "train-retry",
		"train": "train", "load-orders": "load-orders", "a-b-c": "a-b-c", "facade-effaced": "facade-effaced", "-1": "-1", "7": "7",
	} {
		assert.Equal(t, prefixOf(name), want, name)
	}
}

// Requirements: CLN-02
func TestCleanRejectsFlagsThatContradict(t *testing.T) {
	program.Rejects(t, nil, "clean", map[string]string{
		"--failed --succeeded": "exclude each other",
		"--keep -1":            "must be 0 or more",
		"train --keep 1":       "omit the names",
		"--older-than 7":       "use a duration such as 12h or 7d",
		"--yes":                "--yes needs --cascade=background, which deletes",
		"--cascade=foreground": "must be background or orphan",
		"--older-than -7h":     "use a duration such as 12h or 7d",
		"--older-than 99999d":  "at most 36500d",
		"train -A":             "across all namespaces",
		"cronjob/nightly":      "is not a Job",
		"--dry-run --yes":      "only show Jobs",
		"-o json --yes":        "only show Jobs",
		"--dry-run=client -y":  "only show Jobs",
	})
}

// The answer to a deletion is lost, before or after the Job is deleted: it is deleted once, and that is no error.
// Requirements: CLN-04
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	for name, meanwhile := range map[string]func(*clitest.Writes){
		"not deleted": func(*clitest.Writes) {},
		"deleted":     func(api *clitest.Writes) { api.API.Remove(api.Job("train-1")) },
		"deleted, and another was created": func(api *clitest.Writes) {
			other := api.Job("train-1")
			other.SetUID("another")
			api.API.Put(other)
		},
	} {
		api, lost := team(t), atomic.Bool{}
		api.Around = func(_ string, _ *http.Request, serve func()) {
			if lost.Swap(true) {
				serve()
				return
			}
			meanwhile(api)
			panic(http.ErrAbortHandler)
		}
		got := program.Run(t, api.API, "clean", "train-1", "train-2", "--yes", "--cascade=background")
		if got.Code != cmdutil.ExitDone || got.Out != "job.batch/train-1 deleted\njob.batch/train-2 deleted\n" {
			t.Errorf("%s: exit %d, %q, %q", name, got.Code, got.Out, got.ErrOut)
		}
	}
}

// Requirements: CLN-04
func TestASilentServerEndsTheDeletions(t *testing.T) {
	api := team(t)
	api.Around = func(string, *http.Request, func()) { panic(http.ErrAbortHandler) }
	got := program.Run(t, api.API, "clean", "train-1", "train-2", "--yes", "--cascade=background")
	if got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "error: cannot find out whether job.batch/train-1 was deleted: ") != 1 ||
		strings.Contains(got.ErrOut, "train-2") || !strings.Contains(got.ErrOut, "Deleted 0 of 2 Jobs.\n") {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
}

// Ctrl-C during a deletion completes it; the next Job stays.
// Requirements: CLN-05
func TestCtrlCPrintsHowManyWereDeleted(t *testing.T) {
	api := team(t)
	begun, interrupted := make(chan struct{}), make(chan struct{})
	api.Around = func(_ string, r *http.Request, serve func()) {
		if strings.HasSuffix(r.URL.Path, "/train-2") {
			close(begun)
			<-interrupted
		}
		serve()
	}
	s := program.Start(t, api.API, clitest.NewEnv(), "clean", "train-1", "train-2", "train-3", "--yes", "--cascade=background")
	<-begun
	s.Interrupt()
	close(interrupted)
	if code := s.End(); code != cmdutil.ExitInterrupted || s.ErrOut.String() != "Interrupted: deleted 2 of 3 Jobs with 2 pods.\n" || api.Job("train-3") == nil {
		t.Errorf("exit %d, %q, %q", code, s.Out.String(), s.ErrOut.String())
	}
}
