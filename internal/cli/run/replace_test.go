package run

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Requirements: RUN-19
func TestAFinalizerThatHoldsTheOldJobIsNamedAndCtrlCLeavesIt(t *testing.T) {
	server := newServer(t)
	server.API.Put(clitest.CompleteJob("train"))
	server.Around = func(call string, _ *http.Request, serve func()) {
		job := server.Job("train")
		if serve(); call == "delete jobs" {
			job.SetDeletionTimestamp(&metav1.Time{Time: clitest.Now()})
			job.SetFinalizers([]string{"foregroundDeletion", "example.com/keep"})
			server.API.Put(job)
		}
	}
	clock := clitest.NewClock()
	s := program.Start(t, server.API, clock.Env(), "run", "-f", clitest.WriteManifest(t, train), "--replace")
	const line = "Waiting for job.batch/train and its pods to be deleted (finalizers: foregroundDeletion, example.com/keep)\n"
	clitest.WaitFor(t, func() bool {
		clock.Advance(time.Second)
		return strings.Contains(s.ErrOut.String(), line)
	}, s.ErrOut.String)
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || strings.Count(s.ErrOut.String(), line) != 1 || !strings.Contains(s.ErrOut.String(), "job.batch/train is being deleted, and the new Job was not created\n") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
	assert.NotContains(t, strings.Join(server.Named(), "\n"), "create train")
}
