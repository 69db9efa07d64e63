package wait

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// Issue 17, point 3: who waits sees that the Job is stalled, and why; with --timeout=0 too.
func TestWaitShowsStalls_CLI_06(t *testing.T) {
	job := clitest.SimpleJob("ns1", "train", 0)
	o := clitest.NewObjects(t, job)
	clock := clitest.NewClock()
	s := program.Start(t, o.API, clock.Env(), "wait", "train")
	clitest.WaitFor(t, func() bool { return strings.Contains(s.ErrOut.String(), "train  Running  0/10 done") }, s.ErrOut.String)
	pod := clitest.EndedPod(job, "train-a", 0, "")
	pod.Status.Phase, pod.Labels["batch.kubernetes.io/job-name"] = "Pending", "train"
	pod.Status.ContainerStatuses[0].State = clitest.Waits("ImagePullBackOff", "")
	o.Pods.Put(pod)
	job.Object["status"].(map[string]any)["active"] = int64(1)
	o.API.Put(job)
	const stalled = "train  Stalled  0/10 done, 1 active, ImagePullBackOff"
	clitest.WaitFor(t, func() bool { clock.Fire(); return strings.Contains(s.ErrOut.String(), stalled) }, s.ErrOut.String)
	s.Interrupt()
	s.End()
	once := program.Run(t, o.API, "wait", "train", "--timeout=0")
	if want := "job.batch/train Stalled, 0/10 done, 1 active, ImagePullBackOff"; once.Code != cmdutil.ExitTimeout || !strings.Contains(once.ErrOut, want) {
		t.Errorf("exit %d, %q", once.Code, once.ErrOut)
	}
}
