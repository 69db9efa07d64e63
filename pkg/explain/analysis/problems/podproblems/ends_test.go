package podproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// stuck returns a pod of this node whose grace period ended five minutes ago.
func stuck(name, node string) *input.Pod {
	return explaintest.PodOf(name, func(p *corev1.Pod) {
		p.Spec.NodeName, p.DeletionGracePeriodSeconds, p.DeletionTimestamp = node, ptr.To[int64](30), ptr.To(explaintest.Ago(5*time.Minute))
	})
}

// Requirements: PRP-23
func TestReportOfOneKubeletIsNotThatOfOthers(t *testing.T) {
	for other, want := range map[string]bool{"node-1": true, "node-2": false} {
		f := explaintest.InputOf(explaintest.JobWith(nil), stuck("train-x", "node-1"), stuck("train-y", other))
		f.Events = []input.Event{explaintest.PodEvent("FailedKillPod", `error killing pod: failed to "KillContainer" for "main" with KillContainerError: "context deadline exceeded"`, time.Minute)}
		if p := explaintest.Problem(t, explaintest.Report(f), explain.ProblemTerminatingStuck); p.Count != 2 || strings.Contains(p.Text, "the container runtime cannot stop") != want {
			t.Errorf("the other pod is on %s: %s", other, p.Text)
		}
	}
}

// Requirements: PRP-23
func TestEachGoneNodeIsAProblem(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(nil), stuck("train-x", "node-1"), stuck("train-y", "node-2"), stuck("train-z", "node-2"))
	f.GoneNodes = map[string]string{"node-1": "it does not respond", "node-2": "it no longer exists"}
	explaintest.WantText(t, explaintest.Report(f), "1 pod is terminating on node node-1, which does not respond", "2 pods are terminating on node node-2, which no longer exists",
		"kubectl delete node node-1", "kubectl delete node node-2")
}

// CLI-06: ended pods that no controller records show, without a Lease, that the controller is gone; in a finished Job, that
// its last finalizers stick.
func TestUncountedPodsShowAControllerThatIsGone(t *testing.T) {
	held := explaintest.Tracked(explaintest.Exits(1, "Error", 5*time.Minute))
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(nil), explaintest.PodOf("train-x", held), explaintest.PodOf("train-y", held)))
	if p := explaintest.Problem(t, r, explain.ProblemControllerGone); p.Count != 2 || len(p.Pods) != 2 || !p.Since.Equal(ptr.To(explaintest.Ago(5*time.Minute))) || !r.Verdict.Stalled {
		t.Errorf("%+v", p)
	}
	r = explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, "BackoffLimitExceeded", "") }), explaintest.PodOf("train-x", held)))
	if p := explaintest.Problem(t, r, explain.ProblemFinalizerStuck); p.Count != 1 || !strings.Contains(p.Text, "1 ended pod of the Job still has the finalizer") {
		t.Errorf("%+v", p)
	}
	if r.Verdict.Stalled {
		t.Error("a Job that has ended is stalled")
	}
	fresh := explaintest.PodOf("train-x", func(p *corev1.Pod) {
		held(p)
		p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = explaintest.Ago(20 * time.Second)
	})
	if r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(nil), fresh)); explaintest.HasProblem(r, explain.ProblemControllerGone) {
		t.Errorf("after 20 seconds: %+v", r.Problems)
	}
}
