package words

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// EndingText returns the Text of a cause with an Ending; it adds a container that exited with a code of its own.
func EndingText(c *explain.Cause) string {
	text := endText(c.Ending)
	if c.ExitCode != nil && c.Ending.Kind != explain.EndProbe && c.Ending.Kind != explain.EndPostStart && *c.ExitCode != 137 && *c.ExitCode != 143 {
		text += fmt.Sprintf(", and container %s %s", c.Container, exited(*c.ExitCode, ""))
	}
	return text
}

func endText(e *explain.Ending) string {
	switch e.Kind {
	case explain.EndProbe:
		return fmt.Sprintf("Container %s was killed because its %s probe failed", e.Container, e.Probe)
	case explain.EndPostStart:
		return fmt.Sprintf("Container %s was killed because its postStart hook failed", e.Container)
	case explain.EndRejected:
		return fmt.Sprintf("Pod was rejected by the kubelet (%s) and never ran", e.Reason)
	case explain.EndEvicted:
		if e.By == "" {
			return "Pod was evicted through the Eviction API"
		}
		return "Pod was evicted by " + componentText(e.By)
	case explain.EndPreempted:
		if e.By == explain.ByKubelet {
			return "Pod was preempted by the kubelet"
		}
		return "Pod was preempted by the scheduler for a pod with a higher priority"
	case explain.EndTaint:
		return "Pod was deleted because of a NoExecute taint on its node"
	case explain.EndNodeGone:
		if e.Reason == "" { // Only the pod's condition shows that this is the cause.
			return "Pod is gone, and its node no longer exists"
		}
		return "Pod was deleted because its node no longer exists"
	case explain.EndNodeShutdown:
		return "Pod was terminated because its node shut down"
	case explain.EndPodDeadline:
		return "Pod ran longer than its own activeDeadlineSeconds"
	}
	if e.By != "" {
		return "Pod was terminated by " + componentText(e.By)
	}
	return fmt.Sprintf("Pod was disrupted (%s)", e.Reason)
}

// componentText returns the name of a component within a sentence.
func componentText(by string) string {
	switch by {
	case explain.ByKarpenter:
		return "Karpenter"
	case explain.ByClusterAutoscaler:
		return "the cluster autoscaler"
	}
	return "the " + by
}

// RestartedByProbeText describes the end of a container that the kubelet restarted because of a probe.
func RestartedByProbeText(e *explain.Ending, message string) string {
	c := explain.Cause{Ending: e, Message: message}
	return LowerFirst(endText(e)) + endingSays(&c)
}

// endingClause turns the text of an Ending into a clause.
func endingClause(text string) string {
	if strings.HasPrefix(text, "pod ") {
		return "the " + text
	}
	return text
}

// endingOfIt returns the text of an Ending, with "it" for a pod that the sentence has named already.
func endingOfIt(c *explain.Cause) string {
	text := LowerFirst(EndingText(c))
	if rest, about := strings.CutPrefix(text, "pod "); about {
		return "it " + rest
	}
	return text
}

// killedWith returns the exit code of a container that the kubelet killed, in parentheses: EndingText omits it.
func killedWith(c *explain.Cause) string {
	if c.ExitCode == nil || c.Ending.Kind != explain.EndProbe && c.Ending.Kind != explain.EndPostStart {
		return ""
	}
	return fmt.Sprintf(" (exit code %d)", *c.ExitCode)
}

// endingSays returns the message of the component that ended the pods, for the end of a sentence; "" if the text says as much.
func endingSays(c *explain.Cause) string {
	switch c.Ending.Kind {
	case explain.EndTaint, explain.EndNodeGone, explain.EndNodeShutdown, explain.EndPodDeadline:
		return ""
	case explain.EndPreempted:
		if c.Ending.By == explain.ByScheduler {
			return ""
		}
	}
	if text := meaning.Gist(c.Message, maxQuoted); text != "" {
		return ": " + wording.Quoted(text)
	}
	return ""
}

// KilledExitGone describes the exit code of a container that the kubelet killed in a pod that no longer exists.
const KilledExitGone = "its exit code is gone with the pod, and is 137 (SIGKILL) if it did not stop on SIGTERM"

// Advice on components that ended pods.
const (
	KeepFromKarpenter  = `to keep Karpenter from evicting its pods, add the annotation karpenter.sh/do-not-disrupt: "true" to the pod template`
	KeepFromAutoscaler = `to keep the cluster autoscaler from evicting its pods, add the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false" to the pod template`
	UseLessDisk        = "raise the limit that the message names, or make the pod write less to its local disk"
	RequestMore        = "request in the pod template what its containers use of the resource that ran low, so that they run on a node that has it"
	FitNode            = "compare the pod's node selector and affinity with the labels of the node"
	CheckNode          = "check what the message names on the node; the pod never ran, so it has no log"
)

// ProbeAdvice returns advice on a probe that failed.
func ProbeAdvice(e *explain.Ending) string {
	if e.Probe == "startup" {
		return fmt.Sprintf("give container %s more time to start (failureThreshold and periodSeconds of its startup probe), or correct the probe", e.Container)
	}
	return fmt.Sprintf("find out why container %s did not answer its %s probe, or correct the probe (path, port, timeoutSeconds, failureThreshold)", e.Container, e.Probe)
}

// PodDeadlineAdvice returns advice on the activeDeadlineSeconds of pods; seconds is nil if the pod template has none.
func PodDeadlineAdvice(seconds *int64) string {
	if seconds == nil {
		return "find out what sets activeDeadlineSeconds of its pods: the pod template does not"
	}
	return fmt.Sprintf("raise activeDeadlineSeconds of the pod template, which is %d", *seconds)
}
