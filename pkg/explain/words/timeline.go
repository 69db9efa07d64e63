package words

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// MomentAbout is Job, Pod, Condition or Event.
func MomentAbout(m *explain.Moment) string {
	switch m.Kind {
	case explain.MomentPodsCreated, explain.MomentPodsSucceeded, explain.MomentPodsFailed:
		return "Pod"
	case explain.MomentCondition:
		return "Condition"
	case explain.MomentEvent, explain.MomentOmitted:
		return "Event"
	}
	return "Job"
}

// MomentText is what happened, without a full stop.
func MomentText(m *explain.Moment) string {
	switch m.Kind {
	case explain.MomentCreated:
		return "the Job was created"
	case explain.MomentStarted:
		return "the Job started"
	case explain.MomentDeletionRequested:
		return "its deletion was requested"
	case explain.MomentCondition:
		return conditionText(m)
	case explain.MomentPodsCreated:
		return momentPods(m) + Plural(int(m.PodCount), " was created", " were created")
	case explain.MomentPodsSucceeded:
		return momentPods(m) + " succeeded"
	case explain.MomentPodsFailed:
		return momentPods(m) + " failed: " + LowerFirst(m.Cause)
	case explain.MomentOmitted:
		return Count(m.Count, "more")
	}
	return m.Reason + ": " + m.Message
}

// pods is "pod a-x7" or "3 pods".
func momentPods(m *explain.Moment) string {
	if m.Pod != "" {
		return "pod " + m.Pod
	}
	return Times(m.PodCount, "pod", "pods")
}

func conditionText(m *explain.Moment) string {
	text := "condition " + m.Condition
	if m.Status != string(corev1.ConditionTrue) {
		text += " is " + m.Status
	}
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	return text
}
