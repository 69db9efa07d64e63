package eventtext

import (
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// available is the beginning of the list of reasons in kube-scheduler's message (framework.FitError).
var available = lazyregexp.New(`^\d+/\d+ nodes are available: `)

// counted matches a reason with the number of nodes for which it holds.
var counted = lazyregexp.New(`^(\d+) (.+)$`)

// afterReasons are the beginnings of kube-scheduler's text about preemption, and about the resource claims that it could
// free.
var afterReasons = []string{". preemption: ", " preemption: ", ", preemption: ", ". no new claims to deallocate", " no new claims to deallocate"}

// unfits are messages of the filters of kube-scheduler, as of Kubernetes 1.37 and in earlier releases. The group, if any, is
// the name.
var unfits = []struct {
	kind    explain.UnfitKind
	pattern *lazyregexp.Regexp
}{
	{explain.UnfitResource, lazyregexp.New(`^(?:node\(s\) had )?[Ii]nsufficient (\S+)`)},
	{explain.UnfitPodCount, lazyregexp.New(`^Too many pods`)},
	{explain.UnfitTaint, lazyregexp.New(`^node\(s\) had (?:untolerated )?taints? \{([^}]*)\}`)},
	{explain.UnfitTaint, lazyregexp.New(`^node\(s\) had (?:untolerated )?taint`)},
	{explain.UnfitCordoned, lazyregexp.New(`^node\(s\) were unschedulable`)},
	{explain.UnfitTopologySpread, lazyregexp.New(`pod topology spread constraints`)},
	{explain.UnfitPodAffinity, lazyregexp.New(`pod (?:anti-)?affinity|pods anti-affinity|pod affinity/anti-affinity`)},
	{explain.UnfitVolumeNode, lazyregexp.New(`volume node affinity conflict|PersistentVolume's node affinity|no available volume zone`)},
	{explain.UnfitNodeAffinity, lazyregexp.New(`node affinity|node selector`)},
	{explain.UnfitNodeName, lazyregexp.New(`requested (?:node name|hostname)`)},
	{explain.UnfitHostPort, lazyregexp.New(`free (?:host )?ports`)},
	{explain.UnfitVolumeCount, lazyregexp.New(`exceed max volume count`)},
	{explain.UnfitNoVolume, lazyregexp.New(`available persistent volumes to bind|enough free storage|bound to non-existent`)},
	{explain.UnfitClaimMissing, lazyregexp.New(`(?i)persistentvolumeclaim "([^"]+)" not found`)},
	{explain.UnfitClaimDeleted, lazyregexp.New(`(?i)persistentvolumeclaim "([^"]+)" is being deleted`)},
	{explain.UnfitClaimMissing, lazyregexp.New(`(?i)create the persistentvolumeclaim "([^"]+)"`)},
	{explain.UnfitClaimUnbound, lazyregexp.New(`provisioning failed for PVC "([^"]+)"`)},
	{explain.UnfitClaimUnbound, lazyregexp.New(`unbound (?:immediate )?PersistentVolumeClaim|binding volumes: `)},
	{explain.UnfitClaimInUse, lazyregexp.New(`ReadWriteOncePod`)},
	{explain.UnfitDevices, lazyregexp.New(`(?i)resourceclaim|cannot allocate all claims`)},
	{explain.UnfitNoNodes, lazyregexp.New(`^no nodes available to schedule pods`)},
}

// UnfitsOf parses the reasons why no node can take a pod from the scheduler's message (condition PodScheduled or event
// FailedScheduling), in the order of the message. A text in an unknown format is one reason of the kind Other.
func UnfitsOf(message string) []explain.Unfit {
	message = strings.Join(strings.Fields(message), " ")
	if message == "" {
		return nil
	}
	prefix := available.FindString(message)
	list := message[len(prefix):]
	for _, after := range afterReasons {
		list, _, _ = strings.Cut(list, after)
	}
	list = strings.TrimRight(list, " .")
	// A reason may contain commas: "1 node(s) had taint {a: b}, that the pod didn't tolerate".
	var reasons []string
	for part := range strings.SplitSeq(list, ", ") {
		if last := len(reasons) - 1; last >= 0 && (prefix == "" || !counted.MatchString(part)) {
			reasons[last] += ", " + part
			continue
		}
		reasons = append(reasons, part)
	}
	out := make([]explain.Unfit, len(reasons))
	for i, reason := range reasons {
		out[i] = unfitOf(reason)
	}
	return out
}

func unfitOf(reason string) explain.Unfit {
	u := explain.Unfit{Kind: explain.UnfitOther, Message: reason}
	if m := counted.FindStringSubmatch(reason); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
			u.Nodes, u.Message = int32(n), m[2]
		}
	}
	for i := range unfits {
		m := unfits[i].pattern.FindStringSubmatch(u.Message)
		if m == nil {
			continue
		}
		if u.Kind = unfits[i].kind; len(m) > 1 {
			u.Name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m[1]), ":"))
		}
		break
	}
	return u
}

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
func AutoscalerOf(e *explain.Event) *explain.Autoscaler {
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

// LacksRoom reports whether the scheduler's message about a pod names a resource of which nodes have too little, so that the
// pod may be scheduled once other pods have ended or a node is added.
func LacksRoom(message string) bool {
	// "0/3 nodes are available: 3 Insufficient cpu.", "0/1 nodes are available: 1 Too many pods."
	return strings.Contains(message, "Insufficient ") || strings.Contains(message, "Too many pods")
}
