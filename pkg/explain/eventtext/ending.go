package eventtext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// rejections are reasons for which a kubelet does not admit a pod, as of Kubernetes 1.36; reasons with the prefix OutOf, one
// per resource, are matched separately.
var rejections = []string{
	"UnexpectedAdmissionError", "NodeAffinity", "NodeName", "NodePorts", "TopologyAffinityError", "AppArmor", "SysctlForbidden",
	"PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch", "InvalidNodeInfo", "UnexpectedPredicateFailureType",
	"InitContainerRestartPolicyForbidden", "PodFeatureUnsupported", "PodLevelResourcesNotAdmittedReason",
}

// pressure is the beginning of the message with which a kubelet rejects a pod with the reason Evicted.
const pressure = "The node had condition: "

// IsRejection reports whether a kubelet uses this reason and message for a pod that it does not admit.
func IsRejection(reason, message string) bool {
	switch {
	case strings.HasPrefix(message, "Pod was rejected"), strings.HasPrefix(message, "Pod "+pressure):
		return true
	case reason == "Evicted":
		return strings.HasPrefix(message, pressure)
	}
	return strings.HasPrefix(reason, "OutOf") || slices.Contains(rejections, reason)
}

// probeKill is the kubelet's message about a container that it kills and does not restart.
var probeKill = lazyregexp.New(`^Container (\S+) failed (liveness|startup) probe$`)

// probeRestart is the kubelet's message about a container that it kills and restarts.
var probeRestart = lazyregexp.New(`^Container (\S+) failed (liveness|startup) probe, will be restarted$`)

// RestartedByProbe returns the probe for which the kubelet killed and restarted a container of the pod, with the last output
// of the probe; nil if no event shows that. events must be sorted by time.
func RestartedByProbe(events []input.Event, pod, container string) (*explain.Ending, string) {
	var end *explain.Ending
	outputs := map[string]string{}
	for i := range events {
		e := &events[i]
		if e.Pod != pod {
			continue
		}
		if probe, message := ProbeFailure(e); probe != "" {
			outputs[probe] = message
		}
		if m := probeRestart.FindStringSubmatch(e.Message); m != nil && e.Reason == "Killing" && m[1] == container {
			end = &explain.Ending{Kind: explain.EndProbe, By: explain.ByKubelet, Container: m[1], Probe: m[2]}
		}
	}
	if end == nil {
		return nil, ""
	}
	return end, outputs[end.Probe]
}

// probeFailure is the kubelet's message about a probe that failed, or that it could not run.
var probeFailure = lazyregexp.New(`(?s)^(Liveness|Startup) probe (?:failed|errored(?: and resulted in \w+ state)?): (.*)$`)

// ProbeFailure parses an event Unhealthy of a liveness or startup probe into the probe, in lower case, and its output; "" for
// other events.
func ProbeFailure(e *input.Event) (probe, message string) {
	m := probeFailure.FindStringSubmatch(e.Message)
	if e.Reason != "Unhealthy" || m == nil {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2])
}

// endReasons are the event reasons whose meaning does not depend on the message.
var endReasons = map[string]explain.Ending{
	"ScaleDown":        {Kind: explain.EndEvicted, By: explain.ByClusterAutoscaler},
	"Preempted":        {Kind: explain.EndPreempted, By: explain.ByScheduler},
	"Preempting":       {Kind: explain.EndPreempted, By: explain.ByKubelet},
	"DeadlineExceeded": {Kind: explain.EndPodDeadline, By: explain.ByKubelet},
}

// EndingOf returns the reason that the event gives for the end of its pod, and a message, which may be ""; nil if it gives
// none.
func EndingOf(e *input.Event) (*explain.Ending, string) {
	if e.Pod == "" {
		return nil, ""
	}
	message := strings.TrimSpace(e.Message)
	end := func(kind explain.EndKind, by string) *explain.Ending {
		return &explain.Ending{Kind: kind, By: by, Reason: e.Reason}
	}
	switch e.Reason {
	case "Killing":
		if m := probeKill.FindStringSubmatch(message); m != nil {
			return &explain.Ending{Kind: explain.EndProbe, By: explain.ByKubelet, Container: m[1], Probe: m[2]}, ""
		}
		if message == postStartFailed {
			return postStartEnding(e), ""
		}
		return nil, ""
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

// postStartFailed is the reason of the kubelet's warning about a postStart hook, and its message when it kills the container.
const postStartFailed = "FailedPostStartHook"

// hookOf matches the container in messages about a hook of kubelets before 1.27.
var hookOf = lazyregexp.New(`for Container "([^"]+)" in Pod`)

func postStartEnding(e *input.Event) *explain.Ending {
	container := cmp.Or(hookOf.Group(e.Message), e.Container)
	return &explain.Ending{Kind: explain.EndPostStart, By: explain.ByKubelet, Reason: postStartFailed, Container: container}
}

// assigned is the scheduler's message about a pod that it has assigned to a node.
var assigned = lazyregexp.New(`^Successfully assigned \S+ to (\S+)$`)

// AssignedNode returns the node that the pod of the event was assigned to, "" for other events.
func AssignedNode(e *input.Event) string {
	if e.Reason != "Scheduled" || e.Pod == "" {
		return ""
	}
	return assigned.Group(e.Message)
}

// evictionOf returns the reason and the message of an event Evicted, of Karpenter or of the kubelet.
func evictionOf(e *input.Event, message string) (*explain.Ending, string) {
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
