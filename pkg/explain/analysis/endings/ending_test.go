package endings_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

const refused = `Get "http://10.1.2.3:8080/healthz": dial tcp 10.1.2.3:8080: connect: connection refused`

var probeEvents = []input.Event{
	explaintest.AboutPod("a", "Warning", "kubelet", "Unhealthy", "Liveness probe failed: "+refused),
	explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "Container main failed liveness probe"),
}

// A container that the kubelet restarts has not ended its pod, and another container has its own end.
// Requirements: CLI-14
func TestProbeOfAnotherContainerIsNoCause(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(137, "Error", 11*time.Minute)))
	for _, message := range []string{"Container main failed liveness probe, will be restarted", "Container proxy failed liveness probe"} {
		f.Events = []input.Event{explaintest.AboutPod("a", "Normal", "kubelet", "Killing", message)}
		explaintest.WantWithout(t, explaintest.Report(f), "was killed because")
	}
}

// Requirements: CLI-15
func TestWhoEndedThePodIsTheCause(t *testing.T) {
	evicted := func(p *corev1.Pod) { explaintest.Exits(143, "Error", 11*time.Minute)(p) }
	for name, tc := range map[string]struct {
		disruption, message string
		event               input.Event
		first, advice       string
	}{
		"cluster autoscaler": {
			"EvictionByEvictionAPI", "Eviction API: evicting", explaintest.AboutPod("a", "Normal", "cluster-autoscaler", "ScaleDown", "deleting pod for node scale down"),
			"pod was evicted by the cluster autoscaler: “deleting pod for node scale down”", "safe-to-evict",
		},
		"karpenter": {
			"EvictionByEvictionAPI", "Eviction API: evicting", explaintest.AboutPod("a", "Normal", "karpenter", "Evicted", "Evicted pod: Underutilized"),
			"pod was evicted by Karpenter: “Underutilized”", "karpenter.sh/do-not-disrupt",
		},
		"scheduler": {
			"PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod", explaintest.AboutPod("a", "Normal", "default-scheduler", "Preempted", "Preempted by pod 5d0c on node worker-1"),
			"pod was preempted by the scheduler for a pod with a higher priority", "priorityClassName",
		},
		"taint": {
			"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", explaintest.AboutPod("a", "Normal", "taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod ns/a"),
			"pod was deleted because of a NoExecute taint on its node", "DisruptionTarget",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("", "", tc.disruption, tc.message, evicted)))
			f.Events = []input.Event{tc.event}
			r := explaintest.WantFirst(t, f, tc.first)
			explaintest.WantText(t, r, tc.advice, "podFailurePolicy rule with action Ignore for the pod condition DisruptionTarget")
			explaintest.WantWithout(t, r, "find out what stopped", "grace period")
			f.Job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: explaintest.Rules(143).Rules[142:]}
			explaintest.WantText(t, explaintest.Report(f), "before rule 0, which matched the exit code")

			f = explaintest.FailedOnce() // The pod no longer exists.
			f.Events = []input.Event{tc.event, explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "Stopping container main")}
			r = explaintest.WantFirst(t, f, tc.first)
			explaintest.WantText(t, r, tc.advice, tc.event.Message)
			explaintest.WantWithout(t, r, "find out what deletes or evicts", "no event names the cause")

			f.Events = append(f.Events, explaintest.FailedEvent(cause.Failure{Condition: corev1.DisruptionTarget}, "a", 1, 11*time.Minute))
			explaintest.WantFirst(t, f, tc.first)
		})
	}
}

// Requirements: CLI-15
func TestEventCountsOnlyForPodsThatEndedSo(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(1, "Error", 11*time.Minute)))
	f.Events = []input.Event{explaintest.AboutPod("a", "Normal", "cluster-autoscaler", "ScaleDown", "deleting pod for node scale down")}
	explaintest.WantWithout(t, explaintest.WantFirst(t, f, "container main exited with code 1"), "was evicted by")

	// The event names one of three pods, and the ends of the others are unknown.
	f = explaintest.FailedOnce()
	f.Job.Status.Failed = 3
	f.Events = append([]input.Event{explaintest.FailedEvent(explaintest.Exited(137), "a", 3, 11*time.Minute)}, probeEvents...)
	assert.NotContains(t, explaintest.Verdict(explaintest.Report(f)), "probe")
}

// Requirements: CLI-16
func TestPodsOwnMessageIsTheCause(t *testing.T) {
	killed := func(p *corev1.Pod) { explaintest.Exits(137, "Error", 11*time.Minute)(p) }
	const low = "The node was low on resource: ephemeral-storage. Threshold quantity: 16023864137, available: 12671572Ki. Container build was using 1639680Ki, request is 0, has larger consumption of ephemeral-storage. "
	for name, tc := range map[string]struct{ reason, message, disruption, why, first, detail string }{
		"node low":          {"Evicted", low, "TerminationByKubelet", low, "pod was evicted by the kubelet: “The node was low on resource: ephemeral-storage. … Container build was using 1639680Ki, request is 0”", "larger consumption"},
		"own limit":         {"Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ", "", "", "pod was evicted by the kubelet: “Pod ephemeral local storage usage exceeds the total limit of containers 2Gi”", "of the containers, 2Gi together"},
		"empty dir":         {"Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". `, "", "", `pod was evicted by the kubelet: “Usage of EmptyDir volume "scratch" exceeds the limit "1Gi"”`, "raise the sizeLimit of volume scratch (emptyDir), which is 1Gi"},
		"node shutdown":     {"Terminated", "Pod was terminated in response to imminent node shutdown.", "TerminationByKubelet", "", "pod was terminated because its node shut down", "imminent node shutdown"},
		"critical pod":      {"Preempting", "Preempted in order to admit critical pod", "TerminationByKubelet", "Pod was preempted by Kubelet to accommodate a critical pod.", "pod was preempted by the kubelet: “Preempted in order to admit critical pod”", "DisruptionTarget"},
		"node gone":         {"", "", "DeletionByPodGC", "PodGC: node no longer exists", "pod was deleted because its node no longer exists", "DisruptionTarget"},
		"its own deadline":  {"DeadlineExceeded", "Pod was active on the node longer than the specified deadline", "", "", "pod ran longer than its own activeDeadlineSeconds", "activeDeadlineSeconds"},
		"another component": {"", "", "Maintenance", "node is due for repair", "pod was disrupted (Maintenance): “node is due for repair”", "DisruptionTarget"},
	} {
		t.Run(name, func(t *testing.T) {
			r := explaintest.WantFirst(t, explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus(tc.reason, tc.message, tc.disruption, tc.why, killed))), tc.first)
			explaintest.WantText(t, r, tc.detail, "code 137")
			explaintest.WantWithout(t, r, "low on memory", "find out what stopped", "no event names the cause", "pod has condition DisruptionTarget")
			if name != "node low" {
				explaintest.WantWithout(t, r, "node was low", "ran low")
			}
		})
	}
}

// A condition with which another controller ended a pod explains it, unless a container has ended.
// Requirements: CLI-16
func TestConditionOfAnotherControllerIsTheCause(t *testing.T) {
	for _, tc := range []struct{ kind, reason, message, first string }{
		{"TerminatedByKueue", "UnschedulableOnAssignedNode", "due to node taint", "pod was ended by Kueue (UnschedulableOnAssignedNode): “due to node taint”"},
		{"EvictedBy", "", "the quota was reclaimed", "pod was ended (EvictedBy): “the quota was reclaimed”"},
	} {
		marked := func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(tc.kind), Status: corev1.ConditionTrue, Reason: tc.reason, Message: tc.message})
		}
		explaintest.WantFirst(t, explaintest.FailedOnce(explaintest.PodOf("a", marked)), tc.first)
		f := explaintest.FailedOnce(explaintest.PodOf("a", func(p *corev1.Pod) { explaintest.Exits(3, "Error", 11*time.Minute)(p); marked(p) }))
		explaintest.WantWithout(t, explaintest.WantFirst(t, f, "container main exited with code 3"), "was ended")
	}
}

// A message that only names the check of the kubelet is explained; nothing is to be fixed if another pod did the work.
// Requirements: CLI-17
func TestRejectionForTheLabelsOfTheNodeIsExplained(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("NodeAffinity", "Pod Predicate NodeAffinity failed", "", "", nil)))
	r := explaintest.WantFirst(t, f, "pod was rejected by the kubelet (NodeAffinity: the node's labels do not match its nodeSelector or affinity) and never ran")
	explaintest.WantText(t, r, "which the kubelet may not have known yet when it started")
}

// Requirements: CLI-14
func TestProbeExplainsRestartsThatUseUpTheBackoffLimit(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](2), 1
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
	}))
	f.Events = []input.Event{
		explaintest.AboutPod("a", "Warning", "kubelet", "Unhealthy", "Liveness probe failed: "+refused),
		explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "Container main failed liveness probe, will be restarted"),
	}
	r := explaintest.WantFirst(t, f, "connection refused”; it was restarted at least 2 times, and backoffLimit 2 allows no more")
	explaintest.WantText(t, r, "find out why container main did not answer its liveness probe")
}

// Requirements: FCT-10
func TestEventsOfAnEarlierPodOfTheNameDoNotCount(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(137, "Error", 12*time.Minute)))
	for _, e := range probeEvents {
		e.PodUID = types.UID("uid-a")
		f.Events = append(f.Events, e)
	}
	explaintest.WantFirst(t, f, "was killed because its liveness probe failed")
	for i := range f.Events {
		f.Events[i].PodUID = "of-another"
	}
	explaintest.WantWithout(t, explaintest.Report(f), "was killed because")
}
