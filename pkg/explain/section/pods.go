package section

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// PodTerminating is the state of a pod that is being deleted, see explain.PodInfo.State.
const PodTerminating = "Terminating"

// PodStopped is the state of a pod that the Job itself stopped, which is not a failure of its own.
const PodStopped = "Stopped by the Job"

// PodState draws the state with its mark.
func PodState(f *Frame, pod *explain.PodInfo) layout.Line {
	mark, style := PodMark(f, pod.Phase, pod.State)
	state := pod.State
	if pod.Stopped != "" {
		return cell(layout.Muted, f.Glyphs.Dot+" "+PodStopped)
	}
	if pod.Ready && state == string(corev1.PodRunning) {
		state = "Running, ready"
	}
	return cell(style, mark+" "+state)
}

// PodMark returns the mark and the style of a pod.
func PodMark(f *Frame, phase, state string) (mark string, style layout.Style) {
	switch {
	case state == PodTerminating:
		return f.Glyphs.Ending, layout.Special
	case phase == string(corev1.PodFailed):
		return f.Glyphs.Bad, layout.Bad
	case phase == string(corev1.PodSucceeded):
		return f.Glyphs.Good, layout.Good
	case state == string(corev1.PodRunning):
		return f.Glyphs.Running, layout.Info
	case state == string(corev1.PodPending), state == "ContainerCreating", state == "PodInitializing", state == "":
		return f.Glyphs.Dot, layout.Muted
	}
	return f.Glyphs.Warn, layout.Warn
}

// PodIndex returns the index of the pod, "" if it has none.
func PodIndex(pod *explain.PodInfo) string {
	if pod.Index == nil {
		return ""
	}
	return fmt.Sprint(*pod.Index)
}

// PodCounted returns PodInfo.Counted as a word.
func PodCounted(pod *explain.PodInfo) string {
	switch pod.Counted {
	case explain.Counted:
		return "yes"
	case explain.Recorded:
		return "recorded"
	case explain.NotCounted:
		return "no"
	case explain.AwaitsReplacement:
		return "with next pod"
	}
	return pod.Counted
}
