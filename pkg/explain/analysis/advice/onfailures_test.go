package advice_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// To ignore a disruption that each of the next pods meets would make the Job endless.
// Requirements: CLI-15
func TestDisruptionThatTheNextPodsMeetIsNotIgnored(t *testing.T) {
	killed := func(p *corev1.Pod) { explaintest.Exits(143, "Error", 11*time.Minute)(p) }
	tainted := explaintest.WithStatus("", "", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", killed)
	evicted := explaintest.WithStatus("", "", "EvictionByEvictionAPI", "Eviction API: evicting", killed)
	pinned := func(pods ...*input.Pod) input.Input {
		f := explaintest.FailedOnce(pods...)
		f.Job.Spec.Template.Spec.NodeName = "etcd-1"
		return f
	}
	gone := pinned()
	gone.Events = []input.Event{explaintest.AboutPod("a", "Normal", "taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod ns/a")}
	full := explaintest.WithStatus("OutOfcpu", "Node didn't have enough resource: cpu", "", "", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	deleted := explaintest.FailedOnce()
	deleted.Events = []input.Event{explaintest.FailedEvent(explaintest.DeletedPod, "a", 1, time.Minute)}
	for name, tc := range map[string]struct {
		f               input.Input
		advice, command string
	}{
		"a taint of its nodeName": {pinned(explaintest.PodOf("a", tainted)), "a toleration for the NoExecute taints of node etcd-1, or without nodeName", "TAINTS:.spec.taints etcd-1"},
		"the pod is gone":         {gone, "a toleration for the NoExecute taints of node etcd-1, or without nodeName", "TAINTS:.spec.taints etcd-1"},
		"several pods":            {explaintest.FailedOnce(explaintest.PodOf("a", tainted), explaintest.PodOf("b", tainted)), "a toleration for the NoExecute taints of the nodes", "TAINTS:.spec.taints"},
		"rejected by a full node": {explaintest.FailedOnce(explaintest.PodOf("a", full)), "have a rejected pod replaced, recreate the Job with a backoffLimit above 0", ""},
		"it was deleted":          {deleted, "have a deleted pod replaced, recreate the Job with a backoffLimit above 0", ""},
		"a drain of its nodeName": {pinned(explaintest.PodOf("a", evicted)), "recreate the Job without nodeName etcd-1", "kubectl describe node etcd-1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := explaintest.Report(tc.f)
			explaintest.WantText(t, r, tc.advice, tc.command)
			explaintest.WantWithout(t, r, "action Ignore")
		})
	}
}

// The evidence names the preemption, so the advice does not ask to search for another cause.
// Requirements: CLI-06
func TestPreemptedPodHasItsOwnAdvice(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.Exits(137, "Error", time.Minute)(p)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler"}}
	})))
	explaintest.WantText(t, r, "give its pods a higher priority (priorityClassName)")
	explaintest.WantWithout(t, r, "liveness probe", "low on memory")
}
