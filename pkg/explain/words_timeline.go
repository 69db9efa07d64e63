package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// about is Job, Pod, Condition or Event.
func (m *Moment) about() string {
	switch m.Kind {
	case MomentPodsCreated, MomentPodsSucceeded, MomentPodsFailed:
		return "Pod"
	case MomentCondition:
		return "Condition"
	case MomentEvent, MomentOmitted:
		return "Event"
	}
	return "Job"
}

func (m *Moment) text() string {
	switch m.Kind {
	case MomentCreated:
		return "the Job was created"
	case MomentStarted:
		return "the Job started"
	case MomentDeletionRequested:
		return "its deletion was asked for"
	case MomentCondition:
		return m.conditionText()
	case MomentPodsCreated:
		return m.pods() + plural(int(m.PodCount), " was created", " were created")
	case MomentPodsSucceeded:
		return m.pods() + " succeeded"
	case MomentPodsFailed:
		return m.pods() + " failed: " + lowerFirst(m.Failure.Text())
	case MomentOmitted:
		return fmt.Sprintf("%d more", m.Count)
	}
	return m.Reason + ": " + m.Message
}

// pods is "pod a-x7" or "3 pods".
func (m *Moment) pods() string {
	if m.Pod != "" {
		return "pod " + m.Pod
	}
	return times(m.PodCount, "pod", "pods")
}

func (m *Moment) conditionText() string {
	text := "condition " + m.Condition
	if m.Status != string(corev1.ConditionTrue) {
		text += " is " + m.Status
	}
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	return text
}
