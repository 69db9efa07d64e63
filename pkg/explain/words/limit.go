package words

import "github.com/batchjob-dev/kubectl-batchjob/pkg/explain"

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
