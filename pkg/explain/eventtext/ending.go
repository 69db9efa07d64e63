package eventtext

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// rejections are reasons for which a kubelet does not admit a pod, as of Kubernetes 1.36; there is one OutOf… for each
// resource.
var rejections = []string{
	"UnexpectedAdmissionError", "NodeAffinity", "NodeName", "NodePorts", "TopologyAffinityError", "AppArmor", "SysctlForbidden",
	"PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch", "InvalidNodeInfo", "UnexpectedPredicateFailureType",
	"InitContainerRestartPolicyForbidden", "PodFeatureUnsupported", "PodLevelResourcesNotAdmittedReason",
}

// pressure begins the message with which a kubelet rejects a pod, with the reason Evicted.
const pressure = "The node had condition: "

// IsRejection reports whether a kubelet gives this reason, with the message, to a pod that it does not admit.
func IsRejection(reason, message string) bool {
	switch {
	case strings.HasPrefix(message, "Pod was rejected"), strings.HasPrefix(message, "Pod "+pressure):
		return true
	case reason == "Evicted":
		return strings.HasPrefix(message, pressure)
	}
	return strings.HasPrefix(reason, "OutOf") || slices.Contains(rejections, reason)
}

// probeKill is what the kubelet says of a container that it kills and does not start again.
var probeKill = lazyregexp.New(`^Container (\S+) failed (liveness|startup) probe$`)

// probeRestart is what the kubelet says of a container that it kills and starts again.
var probeRestart = lazyregexp.New(`^Container (\S+) failed (liveness|startup) probe, will be restarted$`)

// RestartedByProbe is the probe for which the kubelet killed a container of the pod that it starts again, and what the
// probe said last; nil if no event, in the order of time, says so.
func RestartedByProbe(events []explain.Event, pod, container string) (*explain.Ending, string) {
	var end *explain.Ending
	said := map[string]string{}
	for i := range events {
		e := &events[i]
		if e.Pod != pod {
			continue
		}
		if probe, message := ProbeFailure(e); probe != "" {
			said[probe] = message
		}
		if m := probeRestart.FindStringSubmatch(e.Message); m != nil && e.Reason == "Killing" && m[1] == container {
			end = &explain.Ending{Kind: explain.EndProbe, By: explain.ByKubelet, Container: m[1], Probe: m[2]}
		}
	}
	if end == nil {
		return nil, ""
	}
	return end, said[end.Probe]
}

// ProbeFailure reads the message of an event Unhealthy: the probe, in lower case, and what it says; "" for others.
func ProbeFailure(e *explain.Event) (probe, message string) {
	before, after, found := strings.Cut(e.Message, " probe failed: ")
	if e.Reason != "Unhealthy" || !found || before != "Liveness" && before != "Startup" {
		return "", ""
	}
	return strings.ToLower(before), strings.TrimSpace(after)
}

// endReasons are reasons of events that mean the same whatever their message says.
var endReasons = map[string]explain.Ending{
	"ScaleDown":        {Kind: explain.EndEvicted, By: explain.ByClusterAutoscaler},
	"Preempted":        {Kind: explain.EndPreempted, By: explain.ByScheduler},
	"Preempting":       {Kind: explain.EndPreempted, By: explain.ByKubelet},
	"DeadlineExceeded": {Kind: explain.EndPodDeadline, By: explain.ByKubelet},
}

// EndingOf is what the event says about the end of its pod, and the message about that, which may be ""; nil if it says
// nothing.
func EndingOf(e *explain.Event) (*explain.Ending, string) {
	if e.Pod == "" {
		return nil, ""
	}
	message := strings.TrimSpace(e.Message)
	end := func(kind explain.EndKind, by string) *explain.Ending {
		return &explain.Ending{Kind: kind, By: by, Reason: e.Reason}
	}
	switch e.Reason {
	case "Killing":
		return killingOf(e, message), ""
	case postStartFailed:
		return postStartEnding(e), strings.TrimPrefix(message, "PostStartHook failed")
	case "TaintManagerEviction":
		if strings.HasPrefix(message, "Marking for deletion") {
			return end(explain.EndTaint, ""), ""
		}
	case "Evicted", "Disrupted":
		return evictionOf(e, message)
	}
	if known, is := endReasons[e.Reason]; is {
		return end(known.Kind, known.By), message
	}
	switch {
	case e.Warning() && e.Source == explain.ByKubelet && IsRejection(e.Reason, message):
		return end(explain.EndRejected, explain.ByKubelet), message
	case strings.HasSuffix(message, "by sigs.k8s.io/descheduler"):
		return end(explain.EndEvicted, explain.ByDescheduler), message
	}
	return nil, ""
}

// killingOf is why the kubelet kills a container for good, nil if the event does not say so.
func killingOf(e *explain.Event, message string) *explain.Ending {
	if m := probeKill.FindStringSubmatch(message); m != nil {
		return &explain.Ending{Kind: explain.EndProbe, By: explain.ByKubelet, Container: m[1], Probe: m[2]}
	}
	if message == postStartFailed {
		return postStartEnding(e)
	}
	return nil
}

// postStartFailed is the reason of the kubelet's warning about a postStart hook, and its message when it kills the container.
const postStartFailed = "FailedPostStartHook"

// hookOf is what kubelets before 1.27 say about a hook.
var hookOf = lazyregexp.New(`for Container "([^"]+)" in Pod`)

func postStartEnding(e *explain.Event) *explain.Ending {
	end := &explain.Ending{Kind: explain.EndPostStart, By: explain.ByKubelet, Reason: postStartFailed, Container: e.Container}
	if m := hookOf.FindStringSubmatch(e.Message); m != nil {
		end.Container = m[1]
	}
	return end
}

// assigned is what the scheduler says of a pod that it has assigned to a node.
var assigned = lazyregexp.New(`^Successfully assigned \S+ to (\S+)$`)

// AssignedNode is the node that the pod of the event was assigned to, "" if the event does not say so.
func AssignedNode(e *explain.Event) string {
	if e.Reason != "Scheduled" || e.Pod == "" {
		return ""
	}
	if m := assigned.FindStringSubmatch(e.Message); m != nil {
		return m[1]
	}
	return ""
}

// evictionOf is that of an event Evicted, which Karpenter and the kubelet have in common.
func evictionOf(e *explain.Event, message string) (*explain.Ending, string) {
	end := &explain.Ending{Kind: explain.EndEvicted, Reason: e.Reason}
	switch {
	case strings.HasPrefix(e.Source, explain.ByKarpenter):
		end.By = explain.ByKarpenter
		return end, strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(message, "Evicted pod"), ":"))
	case e.Reason != "Evicted" || e.Source != explain.ByKubelet:
		return nil, ""
	case IsRejection(e.Reason, message):
		end.Kind = explain.EndRejected
	}
	end.By = explain.ByKubelet
	return end, message
}
