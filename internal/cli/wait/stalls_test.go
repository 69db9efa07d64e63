package wait

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// Issue 17, point 3: wait shows that the Job is stalled, and why; with --timeout=0, too.
func TestWaitShowsStalls_CLI_06(t *testing.T) {
	job := clitest.SimpleJob("ns1", "train", 0)
	o := clitest.NewObjects(t, job)
	clock := clitest.NewClock()
	s := program.Start(t, o.API, clock.Env(), "wait", "train")
	clitest.WaitFor(t, func() bool { return strings.Contains(s.ErrOut.String(), "train  Running, 0/10 done") }, s.ErrOut.String)
	pod := clitest.EndedPod(job, "train-a", 0, "")
	pod.Status.Phase, pod.Labels["batch.kubernetes.io/job-name"] = "Pending", "train"
	pod.Status.ContainerStatuses[0].State = clitest.Waits("ImagePullBackOff", "")
	o.Pods.Put(pod)
	job.Object["status"].(map[string]any)["active"] = int64(1)
	o.API.Put(job)
	const stalled = "train  Stalled, 0/10 done, 1 active, reason ImagePullBackOff"
	clitest.WaitFor(t, func() bool { clock.Fire(); return strings.Contains(s.ErrOut.String(), stalled) }, s.ErrOut.String)
	s.Interrupt()
	s.End()
	once := program.Run(t, o.API, "wait", "train", "--timeout=0")
	if want := "job.batch/train Stalled, 0/10 done, 1 active, reason ImagePullBackOff"; once.Code != cmdutil.ExitTimeout || !strings.Contains(once.ErrOut, want) {
		t.Errorf("exit %d, %q", once.Code, once.ErrOut)
	}
}

// stalledTrain returns a cluster with a Job whose only pod is pending for the reason that change sets.
func stalledTrain(t *testing.T, change func(*corev1.Pod)) *clitest.Objects {
	t.Helper()
	job := clitest.SimpleJob("ns1", "train", 0)
	job.Object["status"].(map[string]any)["active"] = int64(1)
	o := clitest.NewObjects(t, job)
	pod := clitest.EndedPod(job, "train-a", 0, "")
	pod.Status.Phase, pod.Labels["batch.kubernetes.io/job-name"] = corev1.PodPending, "train"
	change(pod)
	o.Pods.Put(pod)
	return o
}

// Requirements: RUN-15
func TestWaitGivesUpOnStalledJobs(t *testing.T) {
	o := stalledTrain(t, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = clitest.Waits("ImagePullBackOff", "not found")
	})
	clock := clitest.NewClock()
	s := program.Start(t, o.API, clock.Env(), "wait", "train", "--fail-if-stalled=10m", "-o", "json")
	s.WaitErr("; see: kubectl batchjob why train\n")
	started := clock.Now()
	clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return strings.Contains(s.ErrOut.String(), "error:") }, s.ErrOut.String)
	if after := clock.Now().Sub(started); after < 10*time.Minute {
		t.Errorf("it gave up after %s", after)
	}
	const want = "error: job.batch/train has been stalled for 10m: "
	if code := s.End(); code != cmdutil.ExitStalled || !strings.Contains(s.ErrOut.String(), want) || !strings.Contains(s.ErrOut.String(), "; see: kubectl batchjob why train\n") {
		t.Errorf("exit %d, %s", code, s.ErrOut.String())
	}
	if out := s.Out.String(); !strings.Contains(out, `"exitCode": 4`) || !strings.Contains(out, `"reason": "ImagePull"`) || !strings.Contains(out, `"stalled": true`) {
		t.Error(out)
	}
}

// wait does not give up on Jobs that may continue by themselves: with pods that are gated, or that fit no node.
//
// Requirements: RUN-15
func TestWaitIsPatientWithQueuedJobs(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"gated": func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses, pod.Spec.SchedulingGates = nil, []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
		},
		"no room": func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses, pod.Spec.NodeName = nil, ""
			pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := stalledTrain(t, change)
			clock := clitest.NewClock()
			s := program.Start(t, o.API, clock.Env(), "wait", "train", "--fail-if-stalled=1m")
			s.WaitErr("train  Stalled")
			for range 12 {
				seen := len(o.Queries("/pods"))
				clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return len(o.Queries("/pods")) > seen }, s.ErrOut.String)
			}
			o.API.Put(clitest.CompleteJob("train"))
			if code := s.End(); code != cmdutil.ExitDone {
				t.Errorf("exit %d, %s", code, s.ErrOut.String())
			}
		})
	}
}
