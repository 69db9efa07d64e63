package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Autoscaler is an autoscaler's statement about a pod that no node can take.
type Autoscaler struct {
	// By is ByClusterAutoscaler or ByKarpenter.
	By string `json:"by"`
	// Adds reports whether the autoscaler adds a node for the pod.
	Adds bool `json:"adds,omitempty"`
	// Why is the autoscaler's reason for adding no node; "" if it gives none.
	Why string `json:"why,omitempty"`
}

// autoscalers are the events of autoscalers about a pod.
var autoscalers = []struct {
	by, reason string
	// why has a group for the reason why no node is added, which may be ""; nil if a node is added.
	why *lazyregexp.Regexp
}{
	{ByClusterAutoscaler, "TriggeredScaleUp", nil},
	{ByClusterAutoscaler, "NotTriggerScaleUp", lazyregexp.New(`^pod didn't trigger scale-up(?: \([^)]*\))?(?:: ?(.*))?$`)},
	{ByKarpenter, "Nominated", nil},
	{ByKarpenter, "FailedScheduling", lazyregexp.New(`^(?:Failed to schedule pod|Could not schedule pod)(?:, (.*))?$`)},
}

// OfAutoscaler returns an autoscaler's statement about new nodes for a pod, from an event about the pod; nil for other events.
func OfAutoscaler(source, reason, message string) *Autoscaler {
	for _, known := range autoscalers {
		// The scheduler's event FailedScheduling is not about new nodes.
		if reason != known.reason || known.by == ByKarpenter && !strings.HasPrefix(source, ByKarpenter) {
			continue
		}
		a := &Autoscaler{By: known.by, Adds: known.why == nil}
		if !a.Adds {
			message = strings.Join(strings.Fields(message), " ")
			if a.Why = message; known.why.MatchString(message) {
				a.Why = known.why.Group(message)
			}
		}
		return a
	}
	return nil
}

// Text returns what the autoscaler does about the pod, as a clause.
func (a *Autoscaler) Text() string {
	if a.Adds {
		return component(a.By) + " adds a node for it"
	}
	return wording.Join(": ", component(a.By)+" adds no node for it", wording.Shorten(a.Why, maxMessage))
}
