package analysis_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// failedOnce returns a Job that failed by its first failed pod.
func failedOnce(pods ...*input.Pod) input.Input {
	return factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](0), 1
		ended(j, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}), pods...)
}

// about returns an event about the pod, from before the Job failed.
func about(pod, kind, source, reason, message string) input.Event {
	at := noon.Add(-12 * time.Minute)
	return input.Event{Pod: pod, Type: kind, Source: source, Reason: reason, Message: message, Count: 1, First: at, Last: at}
}

// withStatus gives the failed pod a reason and a message, and a condition DisruptionTarget if disruption is set.
func withStatus(reason, message, disruption, why string, change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers, p.Status.Phase = nil, corev1.PodFailed
		if change != nil {
			change(p)
		}
		p.Status.Reason, p.Status.Message = reason, message
		if disruption != "" {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: disruption, Message: why}}
		}
	}
}

func wantFirst(t *testing.T, f input.Input, want string) explain.Report {
	t.Helper()
	r := report(f)
	assert.Contains(t, verdict(r), want)
	return r
}

const refused = `Get "http://10.1.2.3:8080/healthz": dial tcp 10.1.2.3:8080: connect: connection refused`

var probeEvents = []input.Event{
	about("a", "Warning", "kubelet", "Unhealthy", "Liveness probe failed: "+refused),
	about("a", "Normal", "kubelet", "Killing", "Container main failed liveness probe"),
}

// Requirements: CLI-14
func TestFailedLivenessProbeIsTheCause(t *testing.T) {
	const first = "container main was killed because its liveness probe failed: “dial tcp 10.1.2.3:8080: connect: connection refused”"
	f := failedOnce(podOf("a", exits(137, "Error", 11*time.Minute)))
	f.Events = probeEvents
	r := wantFirst(t, f, first)
	wantText(t, r, "code 137", "find out why container main did not answer its liveness probe", "kubectl describe pod a")
	wantWithout(t, r, "grace period", "low on memory", "find out what stopped")

	// The kubelet could not run the probe.
	f.Events = append([]input.Event{about("a", "Warning", "kubelet", "Unhealthy", `Liveness probe errored and resulted in unknown state: rpc error: code = NotFound desc = no task`)}, probeEvents[1])
	wantFirst(t, f, "because its liveness probe failed: “rpc error: code = NotFound desc = no task”")

	// A later deletion does not change it, with and without our controller's event.
	f = failedOnce()
	f.Events = probeEvents
	wantText(t, wantFirst(t, f, first), "find out why container main did not answer its liveness probe")
	f.Events = append([]input.Event{failedEvent(exited(137), "a", 1, 11*time.Minute)}, probeEvents...)
	wantWithout(t, wantFirst(t, f, first), "low on memory")
}

// A container that the kubelet restarts has not ended its pod, and another container has its own end.
//
// Requirements: CLI-14
func TestProbeOfAnotherContainerIsNoCause(t *testing.T) {
	f := failedOnce(podOf("a", exits(137, "Error", 11*time.Minute)))
	for _, message := range []string{"Container main failed liveness probe, will be restarted", "Container proxy failed liveness probe"} {
		f.Events = []input.Event{about("a", "Normal", "kubelet", "Killing", message)}
		wantWithout(t, report(f), "was killed because")
	}
}

// Requirements: CLI-15
func TestWhoEndedThePodIsTheCause(t *testing.T) {
	evicted := func(p *corev1.Pod) { exits(143, "Error", 11*time.Minute)(p) }
	for name, tc := range map[string]struct {
		disruption, message string
		event               input.Event
		first, advice       string
	}{
		"cluster autoscaler": {
			"EvictionByEvictionAPI", "Eviction API: evicting", about("a", "Normal", "cluster-autoscaler", "ScaleDown", "deleting pod for node scale down"),
			"pod was evicted by the cluster autoscaler: “deleting pod for node scale down”", "safe-to-evict",
		},
		"karpenter": {
			"EvictionByEvictionAPI", "Eviction API: evicting", about("a", "Normal", "karpenter", "Evicted", "Evicted pod: Underutilized"),
			"pod was evicted by Karpenter: “Underutilized”", "karpenter.sh/do-not-disrupt",
		},
		"scheduler": {
			"PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod", about("a", "Normal", "default-scheduler", "Preempted", "Preempted by pod 5d0c on node worker-1"),
			"pod was preempted by the scheduler for a pod with a higher priority", "priorityClassName",
		},
		"taint": {
			"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", about("a", "Normal", "taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod ns/a"),
			"pod was deleted because of a NoExecute taint on its node", "DisruptionTarget",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := failedOnce(podOf("a", withStatus("", "", tc.disruption, tc.message, evicted)))
			f.Events = []input.Event{tc.event}
			r := wantFirst(t, f, tc.first)
			wantText(t, r, tc.advice, "podFailurePolicy rule with action Ignore for the pod condition DisruptionTarget")
			wantWithout(t, r, "find out what stopped", "grace period")

			f = failedOnce() // The pod no longer exists.
			f.Events = []input.Event{tc.event, about("a", "Normal", "kubelet", "Killing", "Stopping container main")}
			r = wantFirst(t, f, tc.first)
			wantText(t, r, tc.advice, tc.event.Message)
			wantWithout(t, r, "find out what deletes or evicts", "no event names the cause")

			f.Events = append(f.Events, failedEvent(cause.Failure{Condition: corev1.DisruptionTarget}, "a", 1, 11*time.Minute))
			wantFirst(t, f, tc.first)
		})
	}
}

// To ignore a disruption that each of the next pods meets would make the Job endless.
//
// Requirements: CLI-15
func TestDisruptionThatTheNextPodsMeetIsNotIgnored(t *testing.T) {
	killed := func(p *corev1.Pod) { exits(143, "Error", 11*time.Minute)(p) }
	tainted := withStatus("", "", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", killed)
	evicted := withStatus("", "", "EvictionByEvictionAPI", "Eviction API: evicting", killed)
	pinned := func(pods ...*input.Pod) input.Input {
		f := failedOnce(pods...)
		f.Job.Spec.Template.Spec.NodeName = "etcd-1"
		return f
	}
	gone := pinned()
	gone.Events = []input.Event{about("a", "Normal", "taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod ns/a")}
	for name, tc := range map[string]struct {
		f               input.Input
		advice, command string
	}{
		"a taint of its nodeName": {pinned(podOf("a", tainted)), "a toleration for the NoExecute taints of node etcd-1, or without nodeName", "TAINTS:.spec.taints etcd-1"},
		"the pod is gone":         {gone, "a toleration for the NoExecute taints of node etcd-1, or without nodeName", "TAINTS:.spec.taints etcd-1"},
		"several pods":            {failedOnce(podOf("a", tainted), podOf("b", tainted)), "a toleration for the NoExecute taints of the nodes", "TAINTS:.spec.taints"},
		"a drain of its nodeName": {pinned(podOf("a", evicted)), "recreate the Job without nodeName etcd-1", "kubectl describe node etcd-1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := report(tc.f)
			wantText(t, r, tc.advice, tc.command)
			wantWithout(t, r, "action Ignore")
		})
	}
}

// Requirements: CLI-15
func TestEventCountsOnlyForPodsThatEndedSo(t *testing.T) {
	f := failedOnce(podOf("a", exits(1, "Error", 11*time.Minute)))
	f.Events = []input.Event{about("a", "Normal", "cluster-autoscaler", "ScaleDown", "deleting pod for node scale down")}
	wantWithout(t, wantFirst(t, f, "container main exited with code 1"), "was evicted by")

	// The event names one of three pods, and the ends of the others are unknown.
	f = failedOnce()
	f.Job.Status.Failed = 3
	f.Events = append([]input.Event{failedEvent(exited(137), "a", 3, 11*time.Minute)}, probeEvents...)
	if r := report(f); strings.Contains(verdict(r), "probe") {
		t.Error(verdict(r))
	}
}

// Requirements: CLI-16
func TestPodsOwnMessageIsTheCause(t *testing.T) {
	killed := func(p *corev1.Pod) { exits(137, "Error", 11*time.Minute)(p) }
	const low = "The node was low on resource: ephemeral-storage. Threshold quantity: 16023864137, available: 12671572Ki. Container build was using 1639680Ki, request is 0, has larger consumption of ephemeral-storage. "
	for name, tc := range map[string]struct{ reason, message, disruption, why, first, detail string }{
		"node low":          {"Evicted", low, "TerminationByKubelet", low, "pod was evicted by the kubelet: “The node was low on resource: ephemeral-storage”", "larger consumption"},
		"own limit":         {"Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ", "", "", "pod was evicted by the kubelet: “Pod ephemeral local storage usage exceeds the total limit of containers 2Gi”", "raise the limit"},
		"empty dir":         {"Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". `, "", "", `pod was evicted by the kubelet: “Usage of EmptyDir volume "scratch" exceeds the limit "1Gi"”`, "raise the limit"},
		"node shutdown":     {"Terminated", "Pod was terminated in response to imminent node shutdown.", "TerminationByKubelet", "", "pod was terminated because its node shut down", "imminent node shutdown"},
		"critical pod":      {"Preempting", "Preempted in order to admit critical pod", "TerminationByKubelet", "Pod was preempted by Kubelet to accommodate a critical pod.", "pod was preempted by the kubelet: “Preempted in order to admit critical pod”", "DisruptionTarget"},
		"node gone":         {"", "", "DeletionByPodGC", "PodGC: node no longer exists", "pod was deleted because its node no longer exists", "DisruptionTarget"},
		"its own deadline":  {"DeadlineExceeded", "Pod was active on the node longer than the specified deadline", "", "", "pod ran longer than its own activeDeadlineSeconds", "activeDeadlineSeconds"},
		"another component": {"", "", "Maintenance", "node is due for repair", "pod was disrupted (Maintenance): “node is due for repair”", "DisruptionTarget"},
	} {
		t.Run(name, func(t *testing.T) {
			r := wantFirst(t, failedOnce(podOf("a", withStatus(tc.reason, tc.message, tc.disruption, tc.why, killed))), tc.first)
			wantText(t, r, tc.detail, "code 137")
			wantWithout(t, r, "low on memory", "find out what stopped", "no event names the cause", "pod has condition DisruptionTarget")
			if name != "node low" {
				wantWithout(t, r, "node was low", "ran low")
			}
		})
	}
}

// Requirements: CLI-17
func TestRejectedPodNeverRan(t *testing.T) {
	shortened := map[string]string{
		"UnexpectedAdmissionError": "not enough cpus available to satisfy… requested=1, available=0",
		"OutOfcpu":                 "Node didn't have enough… cpu, requested: 4000, used: 253562, capacity: 254600",
		"NodeAffinity":             "Predicate NodeAffinity… node(s) didn't match Pod's node affinity/selector",
	}
	for reason, message := range map[string]string{
		"UnexpectedAdmissionError": "Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected",
		"OutOfcpu":                 "Node didn't have enough resource: cpu, requested: 4000, used: 253562, capacity: 254600",
		"NodeAffinity":             "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
		"NodeShutdown":             "Pod was rejected as the node is shutting down.",
		"Evicted":                  "The node had condition: [DiskPressure].",
		"TopologyAffinityError":    "Resources cannot be allocated with Topology locality",
	} {
		t.Run(reason, func(t *testing.T) {
			whole, detail := message, cmp.Or(shortened[reason], message)
			first := "pod was rejected by the kubelet (" + reason + ") and never ran: “" + strings.TrimRight(detail, ".") + "”"
			f := failedOnce(podOf("a", withStatus(reason, "Pod was rejected: "+whole, "", "", nil)))
			f.Events = []input.Event{about("a", "Warning", "kubelet", reason, whole)}
			r := wantFirst(t, f, first)
			wantText(t, r, whole, "kubectl describe node node-1")
			wantWithout(t, r, "exit code", "kubectl logs", "batchjob logs", "ran low")

			f = failedOnce() // The pod no longer exists.
			f.Events = []input.Event{about("a", "Warning", "kubelet", reason, whole)}
			wantWithout(t, wantFirst(t, f, first), "find out what deletes", "kubectl logs")
			f.Events = append(f.Events, failedEvent(cause.Failure{PodReason: reason}, "a", 1, 11*time.Minute))
			wantFirst(t, f, first)
		})
	}
}

// Requirements: CLI-14
func TestFailedStartupProbeIsWhyAContainerIsRestarted(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), ptr.To[int32](1), 1
	}),
		podOf("a", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, StartedAt: ago(2 * time.Minute), FinishedAt: ago(time.Minute)}},
			}}
		}))
	f.Events = []input.Event{
		about("a", "Warning", "kubelet", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503"),
		about("a", "Normal", "kubelet", "Killing", "Container main failed startup probe, will be restarted"),
	}
	r := wantFirst(t, f, "container main is killed and restarted repeatedly because its startup probe fails (exit code 137, restarted 3 times); “HTTP probe failed with statuscode: 503”")
	wantText(t, r, "give container main more time to start", "kubectl describe pod a")
	wantWithout(t, r, "low on memory")
}
