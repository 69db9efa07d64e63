package podproblems

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// addNodeRule adds the nodeSelector or the node affinity of a pod that matches no node.
func addNodeRule(in *facts.Facts, u *meaning.Unfit, pod string) {
	u.Name = selectorOf(&in.Spec.Template.Spec)
	u.Rule, u.Labels = nodeRuleOf(&in.Spec.Template.Spec)
	if p := input.PodNamed(in.Active, pod); p != nil && u.Rule == "" {
		added := maps.Clone(p.NodeSelector)
		maps.DeleteFunc(added, func(key, value string) bool {
			own, is := in.Spec.Template.Spec.NodeSelector[key]
			return is && own == value
		})
		u.Added = labels.Set(added).String()
		u.Name = cmp.Or(u.Added, u.Name) // The template has the rest.
	}
	u.IsOfJob = u.Pinned != "" && isMadeFor(in, u.Pinned)
}

// addClaim adds the claim that a reason is about, and the warning about it.
func addClaim(in *facts.Facts, p *explain.Problem, u *meaning.Unfit) {
	p.Start.Claims = claimsOf(in, p.Pods[0])
	nameClaim(u, p.Start.Claims)
	if u.Kind == meaning.UnfitClaimMissing {
		u.Holder = placed(in.Pods)
	}
	if c := lists.First(p.Start.Claims, func(c *meaning.Claim) bool { return c.Name == u.Name && c.Warning != "" }); c != nil {
		p.Details = append(p.Details, c.Warning)
	}
}

// addUnfit adds the reasons why no node can take the pod, and whether an autoscaler adds a node.
func addUnfit(in *facts.Facts, p *explain.Problem) {
	p.Scheduling.Unfit = meaning.UnfitsOf(p.Details[0])
	for i := range p.Scheduling.Unfit {
		u := &p.Scheduling.Unfit[i]
		u.Pinned = pinnedTo(&in.Spec.Template.Spec)
		p.MayContinue = p.MayContinue || u.Kind == meaning.UnfitResource && !u.IsHelpless || u.Kind == meaning.UnfitPodCount // Other pods may make room.
		switch {
		case u.Kind == meaning.UnfitResource:
			u.Requested = requestOf(&in.Spec.Template.Spec, corev1.ResourceName(u.Name))
		case u.Kind == meaning.UnfitNodeAffinity:
			addNodeRule(in, u, p.Pods[0])
		case u.Kind == meaning.UnfitTaint:
			u.Rule = tolerationOf(in.Spec.Template.Spec.Tolerations, u.TaintKey())
		case u.Kind == meaning.UnfitPodAffinity:
			u.Name = affinityKind(in.Spec.Template.Spec.Affinity, u.Name)
			u.Rule, u.Selector = ruleOf(&in.Spec.Template, u.Name)
		case u.Kind == meaning.UnfitTopologySpread:
			u.Rule = spreadOf(in.Spec.Template.Spec.TopologySpreadConstraints)
		case u.Kind == meaning.UnfitHostPort:
			u.Name, u.Holder = hostPortsOf(&in.Spec.Template.Spec), placed(in.Active)
		case u.IsAboutClaim():
			addClaim(in, p, u)
		}
	}
	if e := lastOfAutoscaler(in, p.Pods[0]); e != nil {
		p.Scheduling.Autoscaler, p.Details = meaning.OfAutoscaler(e.Source, e.Reason, e.Message), append(p.Details, e.Message)
	}
}

// isMadeFor reports whether the Job does its work for one node, as its labels or an argument of it say.
func isMadeFor(in *facts.Facts, node string) bool {
	return strings.Contains(labels.FormatLabels(in.Job.Labels)+",", "/node="+node+",") || slices.ContainsFunc(in.Spec.Template.Spec.Containers,
		func(c corev1.Container) bool { return strings.Contains(strings.Join(c.Args, " "), "--node "+node) })
}

// maxRule is the maximum number of characters of a rule.
const maxRule = 80

// affinityKind returns the kind of affinity that a reason is about. A scheduler that does not distinguish them means the only kind that the
// pod template has, or else the rules of other pods.
func affinityKind(a *corev1.Affinity, name string) string {
	if name != "pod affinity/anti-affinity" {
		return name
	}
	with := a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
	without := a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
	switch {
	case with && without:
		return name
	case with:
		return "pod affinity"
	case without:
		return "pod anti-affinity"
	}
	return "existing pods anti-affinity"
}

// ruleOf returns the only required rule of the kind, such as pod anti-affinity, "" if there is another number of them, or if it selects all
// pods; and the selector of its pods. If the anti-affinity of the pod template selects the pods of the template, existing pods have it, too.
func ruleOf(template *corev1.PodTemplateSpec, kind string) (rule, selector string) {
	var terms []corev1.PodAffinityTerm
	a, ofOthers := template.Spec.Affinity, strings.HasPrefix(kind, "existing")
	switch {
	case a == nil:
	case kind == "pod affinity" && a.PodAffinity != nil:
		terms = a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	case strings.HasSuffix(kind, "anti-affinity") && a.PodAntiAffinity != nil:
		terms = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(terms) != 1 || terms[0].LabelSelector == nil {
		return "", ""
	}
	s, err := metav1.LabelSelectorAsSelector(terms[0].LabelSelector)
	isHere := len(terms[0].Namespaces) == 0 && terms[0].NamespaceSelector == nil
	if err == nil && isHere && (!ofOthers || s.Matches(labels.Set(template.Labels))) {
		selector = s.String()
	}
	if ofOthers {
		return "", selector
	}
	by := terms[0].TopologyKey
	if by == corev1.LabelHostname {
		by = "host"
	}
	return wording.Cut(metav1.FormatLabelSelector(terms[0].LabelSelector), maxRule) + ", by " + by, selector
}

// spreadOf returns the only constraint that a node has to satisfy, "" if there is another number of them.
func spreadOf(all []corev1.TopologySpreadConstraint) string {
	required := slices.DeleteFunc(slices.Clone(all), func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable != corev1.DoNotSchedule })
	if len(required) != 1 {
		return ""
	}
	return fmt.Sprintf("maxSkew %d by %s", required[0].MaxSkew, required[0].TopologyKey)
}

// hostPortsOf returns the host ports of a pod, "" for none.
func hostPortsOf(spec *corev1.PodSpec) string {
	var ports []string
	for i := range spec.Containers {
		for _, p := range spec.Containers[i].Ports {
			if p.HostPort != 0 {
				ports = append(ports, strconv.Itoa(int(p.HostPort)))
			}
		}
	}
	return wording.Enumerate(ports, "or")
}

// placed returns one of the pods that has a node, or "".
func placed(pods []*input.Pod) string {
	if i := slices.IndexFunc(pods, func(pod *input.Pod) bool { return pod.Node != "" }); i >= 0 {
		return pods[i].Name
	}
	return ""
}

// nameClaim sets the claim that a reason is about if the scheduler does not name it: the pod's only claim, or the only
// claim that is not bound.
func nameClaim(u *meaning.Unfit, claims []meaning.Claim) {
	if u.Name != "" {
		return
	}
	var candidates []string
	for i := range claims {
		bound := claims[i].Phase == string(corev1.ClaimBound)
		if onlyUnbound := u.Kind == meaning.UnfitClaimUnbound || u.Kind == meaning.UnfitNoVolume; !bound || !onlyUnbound {
			candidates = append(candidates, claims[i].Name)
		}
	}
	if len(candidates) == 1 {
		u.Name = candidates[0]
	}
}

// lastOfAutoscaler returns the latest event in which an autoscaler reports whether it adds a node for the pod, or nil.
func lastOfAutoscaler(in *facts.Facts, pod string) *input.Event {
	for i := len(in.Events) - 1; i >= 0; i-- { // In the order of time.
		if e := &in.Events[i]; e.Pod == pod && meaning.OfAutoscaler(e.Source, e.Reason, e.Message) != nil {
			return e
		}
	}
	return nil
}

// requestOf returns the amount of a resource that a pod requests: the request of the pod as a whole, or the sum of its
// containers, but at least the request of its largest init container; "" for nothing. Sidecars run beside the containers.
func requestOf(spec *corev1.PodSpec, name corev1.ResourceName) string {
	if spec.Resources != nil {
		if q, asked := ofContainer(spec.Resources, name); asked {
			return q.String()
		}
	}
	var sum, largest resource.Quantity
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		q, _ := ofContainer(&c.Resources, name)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum.Add(q)
			continue
		}
		if q.Add(sum); q.Cmp(largest) > 0 {
			largest = q
		}
	}
	for i := range spec.Containers {
		q, _ := ofContainer(&spec.Containers[i].Resources, name)
		sum.Add(q)
	}
	if largest.Cmp(sum) > 0 {
		sum = largest
	}
	if sum.IsZero() {
		return ""
	}
	return sum.String()
}

// ofContainer returns the request, or the limit if there is none: the API server uses it as the default.
func ofContainer(r *corev1.ResourceRequirements, name corev1.ResourceName) (resource.Quantity, bool) {
	if q, asked := r.Requests[name]; asked {
		return q.DeepCopy(), true
	}
	q, limited := r.Limits[name]
	return q.DeepCopy(), limited
}

// tolerationOf returns the toleration of a pod template for taints with a key, without the key; "" if it has none.
func tolerationOf(all []corev1.Toleration, key string) string {
	for i := range all {
		if t := &all[i]; t.Key == key && key != "" {
			value, effect := "", ""
			if t.Operator != corev1.TolerationOpExists {
				value = fmt.Sprintf("value %q", t.Value)
			}
			if t.Effect != "" {
				effect = "effect " + string(t.Effect)
			}
			return wording.Join(", ", value, effect)
		}
	}
	return ""
}

// required returns the node affinity that a pod template requires, nil if it requires none.
func required(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selectorOf returns the nodeSelector of a pod template, as kubectl takes it, "" if there is none, or a node affinity too.
func selectorOf(spec *corev1.PodSpec) string {
	if required(spec) != nil || len(spec.NodeSelector) == 0 {
		return ""
	}
	return labels.FormatLabels(spec.NodeSelector)
}

// nodeRuleOf returns the labels that a node needs for a pod template with a node affinity, as a rule, and the keys of all labels that it needs.
func nodeRuleOf(spec *corev1.PodSpec) (rule string, keys []string) {
	affinity := required(spec)
	if affinity == nil {
		return "", slices.Sorted(maps.Keys(spec.NodeSelector))
	}
	var terms []string
	for i := range affinity.NodeSelectorTerms {
		var rules []string
		for _, r := range affinity.NodeSelectorTerms[i].MatchExpressions {
			rules = append(rules, requirementText(&r))
			if !slices.Contains(keys, r.Key) {
				keys = append(keys, r.Key)
			}
		}
		terms = append(terms, strings.Join(rules, " and "))
	}
	for key := range spec.NodeSelector {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) == 0 { // It selects nodes by their names.
		return "", nil
	}
	selector := ""
	if len(spec.NodeSelector) > 0 {
		selector = labels.FormatLabels(spec.NodeSelector)
	}
	return wording.Cut(wording.Join(" and ", selector, wording.Join(" or ", terms...)), maxRule), keys
}

func requirementText(r *corev1.NodeSelectorRequirement) string {
	values := strings.Join(r.Values, ", ")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) > 1 {
			return fmt.Sprintf("%s %s (%s)", r.Key, operators[r.Operator], values)
		}
		return r.Key + equals[r.Operator] + values
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		return operators[r.Operator] + r.Key
	}
	return fmt.Sprintf("%s %s %s", r.Key, operators[r.Operator], values)
}

// operators are the operators of node affinities in words, and equals those of a single value.
var (
	operators = map[corev1.NodeSelectorOperator]string{
		corev1.NodeSelectorOpIn: "in", corev1.NodeSelectorOpNotIn: "not in", corev1.NodeSelectorOpDoesNotExist: "no ", corev1.NodeSelectorOpGt: ">", corev1.NodeSelectorOpLt: "<",
	}
	equals = map[corev1.NodeSelectorOperator]string{corev1.NodeSelectorOpIn: "=", corev1.NodeSelectorOpNotIn: "!="}
)

// pinnedTo returns the only node that a pod template allows, by its name or its host name; "" if it may allow several.
func pinnedTo(spec *corev1.PodSpec) string {
	affinity := required(spec)
	if host := spec.NodeSelector[corev1.LabelHostname]; host != "" || affinity == nil || len(affinity.NodeSelectorTerms) != 1 {
		return host
	}
	term := &affinity.NodeSelectorTerms[0]
	for _, r := range slices.Concat(term.MatchFields, term.MatchExpressions) {
		if (r.Key == metav1.ObjectNameField || r.Key == corev1.LabelHostname) && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return r.Values[0]
		}
	}
	return ""
}
