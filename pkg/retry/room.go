package retry

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/klog/v2"
)

// Room is what limits the memory of the pods of a namespace. What could not be read is empty, and limits nothing.
type Room struct {
	LimitRanges []corev1.LimitRange
	Quotas      []corev1.ResourceQuota
	// Node has the most memory for pods, of the nodes that the pod may run on; nil if it is unknown.
	Node *corev1.Node
}

// NoRoomError is the reason why no pod can have so much memory.
type NoRoomError struct {
	Kind NoRoomKind
	// Name is the name of the LimitRange, ResourceQuota or Node; Resource is the resource that it limits, such as limits.memory.
	Name, Resource string
	// Container is "" for the whole pod.
	Container   string
	Wants, Most resource.Quantity
}

// NoRoomKind is the kind of object that a NoRoomError names.
type NoRoomKind string

// The kinds of objects.
const (
	NoRoomInLimitRange NoRoomKind = "LimitRange"
	NoRoomInQuota      NoRoomKind = "ResourceQuota"
	NoRoomOnNodes      NoRoomKind = "Node"
)

func (e *NoRoomError) Error() string { return string(e.Kind) + " " + e.Name + " has no room" }

// Check returns the first limit that the pod exceeds even if nothing else runs, nil if there is none. It ignores quotas with
// scopes, which may not apply to the pod.
func (r *Room) Check(spec *corev1.PodSpec) *NoRoomError {
	limit, request := podMemory(spec)
	for i := range r.LimitRanges {
		for _, item := range r.LimitRanges[i].Spec.Limits {
			most, limited := item.Max[corev1.ResourceMemory]
			if !limited {
				continue
			}
			refused := &NoRoomError{Kind: NoRoomInLimitRange, Name: r.LimitRanges[i].Name, Resource: "memory", Wants: limit, Most: most}
			switch item.Type {
			case corev1.LimitTypePod:
				if limit.Cmp(most) > 0 {
					return refused
				}
			case corev1.LimitTypeContainer:
				for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
					if wants := c.Resources.Limits[corev1.ResourceMemory]; wants.Cmp(most) > 0 {
						refused.Container, refused.Wants = c.Name, wants
						return refused
					}
				}
			}
		}
	}
	for i := range r.Quotas {
		q := &r.Quotas[i]
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		for name, wants := range map[corev1.ResourceName]resource.Quantity{
			corev1.ResourceLimitsMemory: limit, corev1.ResourceRequestsMemory: request, corev1.ResourceMemory: request,
		} {
			if most, limited := q.Spec.Hard[name]; limited && wants.Cmp(most) > 0 {
				return &NoRoomError{Kind: NoRoomInQuota, Name: q.Name, Resource: string(name), Wants: wants, Most: most}
			}
		}
	}
	if r.Node != nil {
		if most := NodeMemory(r.Node); request.Cmp(most) > 0 {
			return &NoRoomError{Kind: NoRoomOnNodes, Name: r.Node.Name, Resource: "memory", Wants: request, Most: most}
		}
	}
	return nil
}

// NodeMemory returns the memory that a node has for pods.
func NodeMemory(node *corev1.Node) resource.Quantity {
	return node.Status.Allocatable[corev1.ResourceMemory]
}

// conditionTaints is the prefix of taints that show a condition of a node, which passes.
const conditionTaints = "node.kubernetes.io/"

// Takes reports whether the pod may run on the node: whether its node selector and its required node affinity match, and it
// tolerates the taints.
func Takes(node *corev1.Node, spec *corev1.PodSpec) bool {
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(taint.Key, conditionTaints) &&
			!slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), taint, true) }) {
			return false
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		return len(term.MatchExpressions)+len(term.MatchFields) > 0 && matchAll(term.MatchExpressions, node.Labels) &&
			matchAll(term.MatchFields, labels.Set{metav1.ObjectNameField: node.Name})
	})
}

// matchAll reports whether values meet all requirements.
func matchAll(requirements []corev1.NodeSelectorRequirement, values labels.Set) bool {
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
		corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
		corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
	}
	return !slices.ContainsFunc(requirements, func(r corev1.NodeSelectorRequirement) bool {
		requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
		return err != nil || !requirement.Matches(values)
	})
}

// podMemory returns the memory limit and request of a pod: the sums of its containers, or one init container if that has more, or
// what the pod has as a whole. A container without a request has its limit as one.
func podMemory(spec *corev1.PodSpec) (limit, request resource.Quantity) {
	for _, c := range spec.Containers {
		ofLimit, ofRequest := memoryOf(&c.Resources)
		limit.Add(ofLimit)
		request.Add(ofRequest)
	}
	for _, c := range spec.InitContainers {
		ofLimit, ofRequest := memoryOf(&c.Resources)
		limit, request = larger(limit, ofLimit), larger(request, ofRequest)
	}
	if spec.Resources != nil {
		ofLimit, ofRequest := memoryOf(spec.Resources)
		if ofLimit.Sign() > 0 {
			limit = ofLimit
		}
		if ofRequest.Sign() > 0 {
			request = ofRequest
		}
	}
	return limit, request
}

func memoryOf(r *corev1.ResourceRequirements) (limit, request resource.Quantity) {
	limit = r.Limits[corev1.ResourceMemory]
	request, has := r.Requests[corev1.ResourceMemory]
	if !has {
		request = limit
	}
	return limit, request
}

func larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
