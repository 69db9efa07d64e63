package advice

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// onEnding is what to do about what ended a pod from outside its containers; the pod is nil if it is gone.
func onEnding(in *facts.Facts, end *explain.Ending, message string, pod *explain.Pod) []explain.Advice {
	describe := ""
	if pod != nil {
		describe = kubectl(in.Job, "describe pod %s", shellWord(pod.Name))
	}
	switch end.Kind {
	case explain.EndProbe:
		return advise(words.ProbeAdvice(end), describe)
	case explain.EndPostStart:
		return advise(words.FixPostStartHook(end.Container), describe)
	case explain.EndRejected:
		return onRejection(end, pod)
	case explain.EndPodDeadline:
		return advise(words.PodDeadlineAdvice(in.Spec.Template.Spec.ActiveDeadlineSeconds), "")
	case explain.EndEvicted:
		return onEviction(end, message)
	}
	return nil
}

// onRejection is about a pod that never ran: the node may show why.
func onRejection(end *explain.Ending, pod *explain.Pod) []explain.Advice {
	text, command := words.CheckNode, ""
	if end.Reason == "NodeAffinity" {
		text = words.FitNode
	}
	if pod != nil && pod.Node != "" {
		command = "kubectl describe node " + shellWord(pod.Node)
	}
	return advise(text, command)
}

// onEviction depends on who evicts.
func onEviction(end *explain.Ending, message string) []explain.Advice {
	switch {
	case end.By == explain.ByKarpenter:
		return advise(words.KeepFromKarpenter, "")
	case end.By == explain.ByClusterAutoscaler:
		return advise(words.KeepFromAutoscaler, "")
	case end.By != explain.ByKubelet:
		return nil
	case strings.Contains(message, "exceeds the"):
		return advise(words.UseLessDisk, "")
	case strings.HasPrefix(message, "The node was low on resource"):
		return advise(words.RequestMore, "")
	}
	return nil
}

// onGoneEnding is about pods that are gone.
func onGoneEnding(in *facts.Facts, c *explain.Cause) []explain.Advice {
	out := onEnding(in, c.Ending, c.Message, nil)
	if c.Ending.Kind == explain.EndPreempted && c.Ending.By == explain.ByScheduler {
		out = advise(words.AvoidPreemption, "")
	}
	if c.Ending.IsDisruption() && c.Action != string(batchv1.PodFailurePolicyActionIgnore) {
		out = append(out, proposeFix(in, words.IgnoreDisruptions, ignoringDisruptions(in))...)
	}
	return out
}
