package podproblems_test

import (
	"fmt"
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

// CLI-06, PRP-23: a pod that does not end, by the obstacle.
func TestStuckPodIsExplainedByItsHolder(t *testing.T) {
	deleted := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionGracePeriodSeconds, p.DeletionTimestamp = ptr.To[int64](30), ptr.To(explaintest.Ago(d-30*time.Second))
		}
	}
	for name, tc := range map[string]struct {
		since  time.Duration
		event  time.Duration // the age of the event of the kubelet, 0 for none
		gone   map[string]string
		change func(*corev1.Pod)
		kind   explain.ProblemKind
		text   string
	}{
		"in its grace period":     {since: 10 * time.Second, kind: explain.ProblemTerminatingHolds, text: "1 pod is terminating, and is replaced only after it has ended"},
		"beyond it":               {since: 5 * time.Minute, kind: explain.ProblemTerminatingStuck, text: "past the grace period"},
		"its node does not exist": {since: 5 * time.Minute, gone: map[string]string{"node-1": "it no longer exists"}, kind: explain.ProblemNodeGone, text: "on node node-1, which no longer exists"},
		"another node is gone":    {since: 5 * time.Minute, gone: map[string]string{"node-2": "it no longer exists"}, kind: explain.ProblemTerminatingStuck, text: "past the grace period"},
		"its container is not stopped": {since: 5 * time.Minute, event: time.Minute, kind: explain.ProblemTerminatingStuck,
			text: "1 pod is terminating past the grace period, as the container runtime cannot stop container main (context deadline exceeded), and"},
		"it was not stopped an hour ago": {since: 2 * time.Hour, event: time.Hour, kind: explain.ProblemTerminatingStuck, text: "1 pod is terminating past the grace period, and"},
		"the node controller says so": {since: 5 * time.Minute, change: func(p *corev1.Pod) { p.Status.Reason = "NodeLost" },
			kind: explain.ProblemNodeGone, text: "on node node-1, which is lost"},
	} {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
			j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		})
		f := explaintest.InputOf(job, explaintest.PodOf("train-x", func(p *corev1.Pod) {
			deleted(tc.since)(p)
			if tc.change != nil {
				tc.change(p)
			}
		}))
		f.GoneNodes = tc.gone
		if tc.event > 0 {
			f.Events = []input.Event{explaintest.PodEvent("FailedKillPod", `error killing pod: failed to "KillContainer" for "main" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"`, tc.event)}
		}
		r := explaintest.Report(f)
		p := explaintest.Problem(t, r, tc.kind)
		if stuck := tc.kind == explain.ProblemTerminatingStuck; stuck != strings.Contains(fmt.Sprint(r.Advice), "kubectl delete pod train-x --grace-period=0 --force -n ns") {
			t.Errorf("%s: %+v", name, r.Advice)
		}
		if !strings.Contains(p.Text, tc.text) || p.Count != 1 || !p.Blocks || !r.Verdict.Stalled {
			t.Errorf("%s: %+v, stalled %v", name, p, r.Verdict.Stalled)
		}
		grace := false
		for _, w := range r.Waits {
			grace = grace || w.Kind == explain.WaitGrace && w.Until.Equal(ptr.To(explaintest.Ago(tc.since-30*time.Second)))
		}
		if late := tc.since > 30*time.Second; grace == late {
			t.Errorf("%s: waits %+v", name, r.Waits)
		}
	}
}

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
