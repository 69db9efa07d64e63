package meaning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Autoscaler is an autoscaler's statement about a pod that no node can take.
type Autoscaler struct {
	// By is ByClusterAutoscaler or ByKarpenter.
	By string `json:"by"`
	// Adds reports whether the autoscaler adds a node for the pod.
	Adds bool `json:"adds,omitempty"`
	// Why is the autoscaler's reason for adding no node; "" if it gives none. Kind is its meaning, "" if that is unknown.
	Why  string         `json:"why,omitempty"`
	Kind AutoscalerKind `json:"kind,omitempty"`
	// Groups is the number of node groups that the reason is about, 0 if it is unknown. Name is the name of the NodePool.
	Groups int32  `json:"groups,omitempty"`
	Name   string `json:"name,omitempty"`
	Limits string `json:"limits,omitempty"`
}

// AutoscalerKind is the kind of reason why an autoscaler adds no node.
type AutoscalerKind string

// The kinds.
const (
	GroupAtMaximum   AutoscalerKind = "GroupAtMaximum"   // a node group has its maximum size
	ClusterAtMaximum AutoscalerKind = "ClusterAtMaximum" // the cluster has its maximum of nodes or resources
	ScaleUpFailed    AutoscalerKind = "ScaleUpFailed"    // the cloud did not add a node
	CloudQuota       AutoscalerKind = "CloudQuota"       // the cloud, or its quota, has no such machines left
	PoolAtLimit      AutoscalerKind = "PoolAtLimit"      // a NodePool of Karpenter has reached its limits
	PoolsUnfit       AutoscalerKind = "PoolsUnfit"       // no NodePool of Karpenter has nodes that fit the pod
)

// autoscalerRow is one kind of reason. A message has a reason for each node group: the kinds that need another change than the
// scheduler's reasons are here.
type autoscalerRow struct {
	kind AutoscalerKind
	// pattern may have the groups groups, name and limits.
	pattern               *lazyregexp.Regexp
	text, advice, command string
}

var autoscalerReasons = []autoscalerRow{
	{
		kind:    GroupAtMaximum,
		pattern: lazyregexp.New(`(?:(?P<groups>\d+) )?max (?:node group size|limit) reached`),
		text:    "{groups} at maximum size",
		advice:  "raise the maximum size of the node group that the pod may use (and the quota of the cloud, if needed), or wait until other pods end",
		command: "kubectl describe configmap cluster-autoscaler-status -n kube-system",
	},
	{
		kind:    ClusterAtMaximum,
		pattern: lazyregexp.New(`max cluster (?P<limits>.+?) limit reached|max total nodes in cluster reached`),
		text:    "the cluster has its maximum of {limits}",
		advice:  "raise the limits of the cluster autoscaler (--max-nodes-total, --cores-total, --memory-total), or wait until other pods end",
		command: "kubectl describe configmap cluster-autoscaler-status -n kube-system",
	},
	{
		kind:    ScaleUpFailed,
		pattern: lazyregexp.New(`(?:(?P<groups>\d+) )?in backoff after failed scale-up`),
		text:    "its last attempt failed ({groups} in back-off)",
		advice:  "find out why the cloud did not add a node, such as a quota or no capacity: the autoscaler's status and log say so; it tries again automatically",
		command: "kubectl describe configmap cluster-autoscaler-status -n kube-system",
	},
	{
		kind:    CloudQuota,
		pattern: lazyregexp.New(`in zones? (?P<name>.+) associated with this pod failed: \w+ (?P<limits>quota exceeded|out of resources)`),
		text:    "the cloud gives no more such machines in {name} ({limits})",
		advice:  "let the pod use other zones or machine types, or have the quota of the cloud raised for these machines or their GPUs; the autoscaler tries again automatically",
	},
	{
		kind:    PoolAtLimit,
		pattern: lazyregexp.New(`\blimits\b[\w ]* for (?:nodepool|provisioner):?(?: \(?(?:NodePool=)?"?(?P<name>[-.\w]+))?`),
		text:    "{pool} has reached its limits",
		advice:  "raise spec.limits of {pool}, or wait until other pods end",
		command: "kubectl describe nodepools {name}",
	},
	{
		kind:    PoolsUnfit,
		pattern: lazyregexp.New(`incompatible with (?:nodepool|provisioner) "(?P<name>[^"]+)", `),
		text:    "{pools}",
		advice:  "{fit pools}",
		command: "kubectl describe nodepools",
	},
}

// readReason sets the kind of the reason in a message.
func (a *Autoscaler) readReason(message string) {
	for i := range autoscalerReasons {
		r, count := &autoscalerReasons[i], ""
		if !readGroups(r.pattern, message, map[string]*string{"groups": &count, "name": &a.Name, "limits": &a.Limits}) {
			continue
		}
		groups, _ := strconv.ParseInt(count, 10, 32)
		a.Kind, a.Groups = r.kind, int32(groups)
		return
	}
}

// Advice returns advice on the reason, with the command that shows more; "" if its kind is unknown.
func (a *Autoscaler) Advice() (text, command string) {
	if a == nil {
		return "", ""
	}
	r := a.row()
	return a.fill(r.advice), strings.TrimSpace(a.fill(r.command))
}

func (a *Autoscaler) row() *autoscalerRow {
	return cmp.Or(lists.First(autoscalerReasons, func(r *autoscalerRow) bool { return r.kind == a.Kind }), &autoscalerRow{})
}

func (a *Autoscaler) fill(template string) string {
	groups := "a node group is"
	if a.Groups > 0 {
		groups = wording.Plural(a.Groups, "node group is", "node groups are")
	}
	if a.Kind == ScaleUpFailed {
		groups = wording.Plural(max(a.Groups, 1), "node group", "node groups")
	}
	pools, fit := "", ""
	if a.Kind == PoolsUnfit {
		pools, fit = a.pools()
	}
	return wording.Insert(template, "{pools}", pools, "{fit pools}", fit, "{groups}", groups, "{limits}", cmp.Or(a.Limits, "nodes"), "{pool}", wording.Join(" ", "NodePool", a.Name), "{name}", a.Name)
}

// autoscalers are the events of autoscalers about a pod.
var autoscalers = []struct {
	by, reason string
	// why has a group for the reason why no node is added, which may be ""; nil if a node is added.
	why *lazyregexp.Regexp
}{
	{ByClusterAutoscaler, "TriggeredScaleUp", nil},
	{ByClusterAutoscaler, "NotTriggerScaleUp", lazyregexp.New(`^pod didn't trigger scale-up(?: \([^)]*\))?(?:: ?(.*))?$`)},
	{ByClusterAutoscaler, "FailedScaleUp", lazyregexp.New(`^(.*?)(?:\. Pod is at risk of not being scheduled\.?)?$`)},
	{ByKarpenter, "Nominated", nil},
	{ByKarpenter, "FailedScheduling", lazyregexp.New(`^[\w ]*\bschedule pod(?:, (.*))?$`)},
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
			a.readReason(a.Why)
		}
		return a
	}
	return nil
}

// Text returns what the autoscaler does about the pod, as a clause; "" without one.
func (a *Autoscaler) Text() string {
	switch {
	case a == nil:
		return ""
	case a.Adds:
		return component(a.By) + " adds a node for it"
	case a.Kind != "" && a.fill(a.row().text) != "":
		return component(a.By) + " adds no node: " + a.fill(a.row().text)
	}
	return wording.Join(": ", component(a.By)+" adds no node for it", a.why())
}

// why returns the reasons of a refusal: those of the cluster autoscaler are kube-scheduler's filters, for groups of nodes.
func (a *Autoscaler) why() string {
	refusals := UnfitsOf(noneOf + a.Why)
	if a.By != ByClusterAutoscaler || slices.ContainsFunc(refusals, func(u Unfit) bool { return u.Nodes == 0 || u.row().nodes[0] == "" }) {
		return wording.Shorten(a.Why, maxMessage)
	}
	return strings.Join(Sentences(refusals, nil, "node group", "node groups"), ", ")
}
