package words

import "github.com/batchjob-dev/kubectl-batchjob/pkg/explain"

// OtherCauses stands for the causes that an event counts without their names.
const OtherCauses = "Other causes, too many for an event each"

// PodMeaning is what the reason of a disruption, or of the failure of a whole pod, means, "" if that is not known.
func PodMeaning(reason string) string {
	switch reason {
	case "EvictionByEvictionAPI":
		return "the pod was evicted, as by kubectl drain"
	case "PreemptionByScheduler":
		return "the scheduler preempted it for a pod with a higher priority"
	case "DeletionByTaintManager":
		return "its node has a taint that the pod does not tolerate"
	case "DeletionByPodGC":
		return "its node is gone"
	case "TerminationByKubelet":
		return "its node ran low on resources or shut down"
	case "Evicted":
		return "its node ran low on resources"
	case "NodeLost", "NodeShutdown", "Shutdown", "Terminated":
		return "its node is gone or shut down"
	case "DeadlineExceeded":
		return "the pod ran longer than its own activeDeadlineSeconds"
	}
	return ""
}

// limitClause names the memory limit at the end of a clause, "" if there is none or the template has it.
func limitClause(l *explain.MemoryLimit) string {
	if l == nil || l.From == explain.LimitOfTemplate {
		return ""
	}
	return ", " + LimitText(l)
}

// LimitText is a memory limit, and where it comes from if that is not the Job's template.
func LimitText(l *explain.MemoryLimit) string {
	switch text := "memory limit " + l.Value; l.From {
	case explain.LimitOfLimitRange:
		return text + " from a LimitRange"
	case explain.LimitOfAllOfPod:
		return text + " of the whole pod"
	case explain.LimitOfPod:
		return text + " of the pod, not of the Job's template"
	default:
		return text
	}
}

// limitOrigin is a sentence about a limit that is not that of the Job's template.
func limitOrigin(l *explain.MemoryLimit) string {
	template := "has none"
	if l.Template != "" {
		template = "has " + l.Template
	}
	if l.From == explain.LimitOfLimitRange {
		return "the limit of " + l.Value + " was set by a LimitRange of the namespace, as the template " + template
	}
	return "the limit of " + l.Value + " was set in the pod, while the template " + template
}
