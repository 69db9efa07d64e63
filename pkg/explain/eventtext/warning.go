package eventtext

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// SaysWhy reports whether a warning explains why its pod does not start. Some warnings only report a timeout, or an error
// that another event explains; the warnings of autoscalers are about nodes that do not exist.
func SaysWhy(e *input.Event) bool {
	switch e.Reason {
	case "Failed", "BackOff":
		return !strings.HasPrefix(e.Message, "Error: ")
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		t := meaning.OfStart(e.Reason, e.Message)
		return t == nil || !slices.Contains([]meaning.TroubleKind{meaning.MountTimeout, meaning.NotAttached, meaning.VolumeBusy}, t.Kind)
	}
	return AutoscalerOf(e) == nil
}

// SameStage reports whether two warnings are about the same stage of a pod's start, so that one may explain the other: a pod
// with a node is past the warnings of its scheduler.
func SameStage(x, y *input.Event) bool {
	return (x.Reason == "FailedScheduling") == (y.Reason == "FailedScheduling")
}
