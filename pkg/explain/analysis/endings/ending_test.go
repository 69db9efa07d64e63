package endings_test

import (
	"cmp"
	"strings"
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

// Requirements: CLI-14
func TestFailedLivenessProbeIsTheCause(t *testing.T) {
	const first = "container main was killed because its liveness probe failed: “dial tcp 10.1.2.3:8080: connect: connection refused”"
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(137, "Error", 11*time.Minute)))
	f.Events = probeEvents
	r := explaintest.WantFirst(t, f, first)
	explaintest.WantText(t, r, "code 137", "find out why container main did not answer its liveness probe", "kubectl describe pod a")
	explaintest.WantWithout(t, r, "grace period", "low on memory", "find out what stopped")

	// The kubelet could not run the probe.
	f.Events = append([]input.Event{explaintest.AboutPod("a", "Warning", "kubelet", "Unhealthy", `Liveness probe errored and resulted in unknown state: rpc error: code = NotFound desc = no task`)}, probeEvents[1])
	explaintest.WantFirst(t, f, "because its liveness probe failed: “rpc error: code = NotFound desc = no task”")

	// A later deletion does not change it, with and without our controller's event.
	f = explaintest.FailedOnce()
	f.Events = probeEvents
	explaintest.WantText(t, explaintest.WantFirst(t, f, first), "find out why container main did not answer its liveness probe")
	f.Events = append([]input.Event{explaintest.FailedEvent(explaintest.Exited(137), "a", 1, 11*time.Minute)}, probeEvents...)
	explaintest.WantWithout(t, explaintest.WantFirst(t, f, first), "low on memory")
}

// A container that the kubelet restarts has not ended its pod, and another container has its own end.
//
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
		"own limit":         {"Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ", "", "", "pod was evicted by the kubelet: “Pod ephemeral local storage usage exceeds the total limit of containers 2Gi”", "raise the limit"},
		"empty dir":         {"Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". `, "", "", `pod was evicted by the kubelet: “Usage of EmptyDir volume "scratch" exceeds the limit "1Gi"”`, "raise the limit"},
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

// A message that only names the check of the kubelet is explained; nothing is to be fixed if another pod did the work.
//
// Requirements: CLI-17
func TestRejectionForTheLabelsOfTheNodeIsExplained(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("NodeAffinity", "Pod Predicate NodeAffinity failed", "", "", nil)))
	r := explaintest.WantFirst(t, f, "pod was rejected by the kubelet (NodeAffinity: the node's labels do not match its nodeSelector or affinity) and never ran")
	explaintest.WantText(t, r, "which the kubelet may not have known yet when it started")
}

// Requirements: CLI-17
func TestRejectedPodNeverRan(t *testing.T) {
	shortened := map[string]string{
		"UnexpectedAdmissionError": "not enough cpus available to satisfy… requested=1, available=0",
		"OutOfcpu":                 "Node didn't have enough… cpu, requested: 4000, used: 253562, capacity: 254600",
	}
	for reason, message := range map[string]string{
		"UnexpectedAdmissionError": "Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected",
		"OutOfcpu":                 "Node didn't have enough resource: cpu, requested: 4000, used: 253562, capacity: 254600",
		"NodeShutdown":             "Pod was rejected as the node is shutting down.",
		"Evicted":                  "The node had condition: [DiskPressure].",
		"TopologyAffinityError":    "Resources cannot be allocated with Topology locality",
	} {
		t.Run(reason, func(t *testing.T) {
			whole, detail := message, cmp.Or(shortened[reason], message)
			first := "pod was rejected by the kubelet (" + reason + ") and never ran: “" + strings.TrimRight(detail, ".") + "”"
			f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus(reason, "Pod was rejected: "+whole, "", "", nil)))
			f.Events = []input.Event{explaintest.AboutPod("a", "Warning", "kubelet", reason, whole)}
			r := explaintest.WantFirst(t, f, first)
			explaintest.WantText(t, r, whole, "kubectl describe node node-1")
			explaintest.WantWithout(t, r, "exit code", "kubectl logs", "batchjob logs", "ran low")

			f = explaintest.FailedOnce() // The pod no longer exists.
			f.Events = []input.Event{explaintest.AboutPod("a", "Warning", "kubelet", reason, whole)}
			explaintest.WantWithout(t, explaintest.WantFirst(t, f, first), "find out what deletes", "kubectl logs")
			f.Events = append(f.Events, explaintest.FailedEvent(cause.Failure{PodReason: reason}, "a", 1, 11*time.Minute))
			explaintest.WantFirst(t, f, first)
		})
	}
}

// Requirements: CLI-14
func TestFailedStartupProbeIsWhyAContainerIsRestarted(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobOfOne(), explaintest.PodOf("a", func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, StartedAt: explaintest.Ago(2 * time.Minute), FinishedAt: explaintest.Ago(time.Minute)}},
		}}
	}))
	f.Events = []input.Event{
		explaintest.AboutPod("a", "Warning", "kubelet", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503"),
		explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "Container main failed startup probe, will be restarted"),
	}
	r := explaintest.WantFirst(t, f, "container main is killed and restarted repeatedly because its startup probe fails (exit code 137, restarted 3 times); “HTTP probe failed with statuscode: 503”")
	explaintest.WantText(t, r, "give container main more time to start", "kubectl describe pod a")
	explaintest.WantWithout(t, r, "low on memory")
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
