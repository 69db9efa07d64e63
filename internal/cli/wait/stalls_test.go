package wait

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

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

// Issue 17, point 3: wait shows that the Job is stalled, and why.
// Requirements: CLI-06
func TestWaitShowsStalls(t *testing.T) {
	o := stalledTrain(t, func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].State = clitest.Waits("ImagePullBackOff", "") })
	const stalled = "job.batch/train Stalled, 0/10 done, 1 active, reason ImagePullBackOff"
	program.Run(t, o.API, "wait", "train", "--timeout=0").Want(t, cmdutil.ExitTimeout, "", stalled)
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
// Requirements: RUN-15
func TestWaitIsPatientWithQueuedJobs(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"gated":   gated,
		"no room": noRoom,
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
			assert.Equal(t, s.End(), cmdutil.ExitDone, s.ErrOut.String())
		})
	}
}

// noRoom changes a pod so that no node has room for it.
func noRoom(pod *corev1.Pod) {
	pod.Status.ContainerStatuses, pod.Spec.NodeName = nil, ""
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
	}}
}

// gated changes a pod so that a scheduling gate holds it, as Kueue does with a pod in a queue.
func gated(pod *corev1.Pod) {
	pod.Status.ContainerStatuses, pod.Spec.NodeName = nil, ""
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
}

// Requirements: RUN-21
func TestWaitGivesUpOnPodsWithoutANode(t *testing.T) {
	quota := func(o *clitest.Objects) {
		o.Pods.Remove("train-a")
		job := clitest.SimpleJob("ns1", "train", 0)
		o.API.Put(job)
		o.Events = append(o.Events, &corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "train", Namespace: "ns1", UID: job.GetUID()},
			Type:           corev1.EventTypeWarning, Reason: "FailedCreate", Count: 1, LastTimestamp: metav1.NewTime(clitest.Now().Add(20 * time.Minute)),
			Message: `Error creating: pods "train-x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=9, limited: pods=9`,
		})
	}
	for name, tc := range map[string]struct {
		pod    func(*corev1.Pod)
		change func(*clitest.Objects)
		want   string
	}{
		"no room":  {noRoom, func(*clitest.Objects) {}, "nvidia.com/gpu"},
		"no quota": {noRoom, quota, "ResourceQuota compute"},
		"unbound claims": {func(pod *corev1.Pod) {
			noRoom(pod)
			pod.Status.Conditions[0].Message = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."
		}, func(*clitest.Objects) {}, "PersistentVolumeClaim"},
	} {
		t.Run(name, func(t *testing.T) {
			o := stalledTrain(t, tc.pod)
			tc.change(o)
			clock := clitest.NewClock()
			s := program.Start(t, o.API, clock.Env(), "wait", "train", "--fail-if-unscheduled=10m")
			s.WaitErr("train  Stalled")
			started := clock.Now()
			clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return strings.Contains(s.ErrOut.String(), "error:") }, s.ErrOut.String)
			if after := clock.Now().Sub(started); after < 10*time.Minute {
				t.Errorf("it gave up after %s", after)
			}
			code, got := s.End(), s.ErrOut.String()
			if code != cmdutil.ExitStalled || !strings.Contains(got, "error: job.batch/train has had no node for 10m: ") ||
				!strings.Contains(got, tc.want) || !strings.Contains(got, "; see: kubectl batchjob why train\n") {
				t.Errorf("exit %d, %s", code, got)
			}
		})
	}
}
