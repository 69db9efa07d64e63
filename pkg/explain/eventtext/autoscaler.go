package eventtext

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// autoscalers are the events of autoscalers about a pod.
var autoscalers = []struct {
	by, reason string
	// why has a group for the reason why no node is added, which may be ""; nil if a node is added.
	why *lazyregexp.Regexp
}{
	{explain.ByClusterAutoscaler, "TriggeredScaleUp", nil},
	{explain.ByClusterAutoscaler, "NotTriggerScaleUp", lazyregexp.New(`^pod didn't trigger scale-up(?: \([^)]*\))?(?:: ?(.*))?$`)},
	{explain.ByKarpenter, "Nominated", nil},
	{explain.ByKarpenter, "FailedScheduling", lazyregexp.New(`^(?:Failed to schedule pod|Could not schedule pod)(?:, (.*))?$`)},
}

// AutoscalerOf returns an autoscaler's statement about new nodes for a pod, from an event about the pod; nil for other
// events.
func AutoscalerOf(e *input.Event) *explain.Autoscaler {
	for _, known := range autoscalers {
		// The scheduler's event FailedScheduling is not about new nodes.
		byOther := known.by == explain.ByKarpenter && !strings.HasPrefix(e.Source, explain.ByKarpenter)
		if e.Pod == "" || e.Reason != known.reason || byOther {
			continue
		}
		a := &explain.Autoscaler{By: known.by, Adds: known.why == nil}
		if !a.Adds {
			message := strings.Join(strings.Fields(e.Message), " ")
			if a.Why = message; known.why.MatchString(message) {
				a.Why = known.why.Group(message)
			}
		}
		return a
	}
	return nil
}
