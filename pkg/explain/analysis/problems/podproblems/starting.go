package podproblems

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// addMeaning adds the meaning of the message about the first of the pods. Only one message is read, because a huge Job may
// have as many messages as pods.
func addMeaning(in *facts.Facts, p *explain.Problem) {
	defer func() {
		if t := p.Start.Trouble; t.IsAboutObject() {
			t.Namespace, t.SeenAt = cmp.Or(t.Namespace, in.Job.Namespace), lastSeen(in, p)
		}
	}()
	switch p.Kind {
	case explain.ProblemSchedulingGated:
		addGate(in, p)
	case explain.ProblemUnschedulable:
		addUnfit(in, p)
	case explain.ProblemImagePull:
		addImageTrouble(in, p)
		if t, pod := p.Start.Trouble, input.PodNamed(in.Active, p.Pods[0]); t.IsDenied() && pod != nil {
			t.NoPullSecrets = !pod.PullSecrets
		}
		p.MayContinue = p.Start.Trouble.MayPass()
	case explain.ProblemPodPending:
		if len(p.Details) > 0 {
			p.Start.Trouble = meaning.OfStart(p.Start.Reason, p.Details[0])
		}
		if p.Start.Trouble != nil && p.Start.Trouble.Volume != "" {
			addVolume(in, p)
		}
	}
}

// addGate adds the reason why Kueue holds the pods, if one of their scheduling gates is its own.
func addGate(in *facts.Facts, p *explain.Problem) {
	if !slices.ContainsFunc(p.Scheduling.Gates, kueue.IsGate) {
		return
	}
	p.Controller = explain.Kueue
	if p.Suspension.Queue, p.Suspension.Hold = facts.HeldByKueue(in); p.Suspension.Hold == nil {
		return
	}
	h := p.Suspension.Hold
	h.Gated, p.MayContinue = p.Count, h.Passes() || h.Requeues()
	if h.Message != "" {
		p.Details = []string{h.Message}
	}
}

// stillTried is the maximum age of the last event about a pod that a kubelet still tries to start. It tries every few minutes, and of
// all events about a pod, it reports one in five minutes at least, which may be Pulled instead of the warning.
const stillTried = 15 * time.Minute

// lastSeen returns when the kubelet last failed to start the first of the pods, zero if it still tries, or if that is unknown.
func lastSeen(in *facts.Facts, p *explain.Problem) time.Time {
	var warned, last time.Time
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		warns := e.Pod == p.Pods[0] && e.Warning() && e.Reason != "FailedScheduling"
		if warns {
			warned = e.Last
		}
		if warns || e.Pod == p.Pods[0] && e.Source == meaning.ByKubelet {
			last = e.Last
		}
	}
	if in.Now.Sub(last) < stillTried {
		return time.Time{}
	}
	return warned
}

// addUnfit adds the reasons why no node can take the pod, and whether an autoscaler adds a node.
func addUnfit(in *facts.Facts, p *explain.Problem) {
	p.Scheduling.Unfit = meaning.UnfitsOf(p.Details[0])
	for i := range p.Scheduling.Unfit {
		u := &p.Scheduling.Unfit[i]
		u.Pinned = pinnedTo(&in.Spec.Template.Spec)
		p.MayContinue = p.MayContinue || u.Kind == meaning.UnfitResource || u.Kind == meaning.UnfitPodCount // Other pods may make room.
		switch {
		case u.Kind == meaning.UnfitResource:
			u.Requested = requestOf(&in.Spec.Template.Spec, corev1.ResourceName(u.Name))
		case u.Kind == meaning.UnfitNodeAffinity:
			u.Name = selectorOf(&in.Spec.Template.Spec)
		case u.Kind == meaning.UnfitPodAffinity:
			u.Rule = ruleOf(in.Spec.Template.Spec.Affinity, u.Name)
		case u.Kind == meaning.UnfitTopologySpread:
			u.Rule = spreadOf(in.Spec.Template.Spec.TopologySpreadConstraints)
		case u.Kind == meaning.UnfitHostPort:
			u.Name, u.Holder = hostPortsOf(&in.Spec.Template.Spec), holderOf(in)
		case u.IsAboutClaim():
			p.Start.Claims = claimsOf(in, p.Pods[0])
			nameClaim(u, p.Start.Claims)
		}
	}
	if e := lastOfAutoscaler(in, p.Pods[0]); e != nil {
		p.Scheduling.Autoscaler, p.Details = meaning.OfAutoscaler(e.Source, e.Reason, e.Message), append(p.Details, e.Message)
	}
}

// maxRule is the maximum number of characters of a rule.
const maxRule = 80

// ruleOf returns the only required rule of the kind, such as pod anti-affinity; "" if there is another number of them, or if it selects all
// pods.
func ruleOf(a *corev1.Affinity, kind string) string {
	var terms []corev1.PodAffinityTerm
	switch {
	case a == nil:
	case kind == "pod affinity" && a.PodAffinity != nil:
		terms = a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	case kind == "pod anti-affinity" && a.PodAntiAffinity != nil:
		terms = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(terms) != 1 || terms[0].LabelSelector == nil {
		return ""
	}
	return wording.Cut(metav1.FormatLabelSelector(terms[0].LabelSelector), maxRule) + ", by " + terms[0].TopologyKey
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

// holderOf returns a pod of the Job that has a node, or "".
func holderOf(in *facts.Facts) string {
	if i := slices.IndexFunc(in.Active, func(pod *input.Pod) bool { return pod.Node != "" }); i >= 0 {
		return in.Active[i].Name
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

// claimsOf returns the claims of the pod's volumes in the template, with the data that was read.
func claimsOf(in *facts.Facts, pod string) (all []meaning.Claim) {
	for _, name := range input.ClaimNames(&in.Spec.Template.Spec, pod) {
		read := lists.First(in.Claims, func(c *meaning.Claim) bool { return c.Name == name })
		all = append(all, ptr.Deref(read, meaning.Claim{Name: name}))
	}
	return all
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

// addImageTrouble adds the reason why an image is not on the node. Kubelets before 1.31 report it only in an event.
func addImageTrouble(in *facts.Facts, p *explain.Problem) {
	message := ""
	if len(p.Details) > 0 {
		message = p.Details[0]
	}
	if p.Start.Trouble = meaning.OfImage(p.Start.Reason, message); p.Start.Trouble != nil {
		return
	}
	failed := `Failed to pull image "` + p.Image + `"`
	for i := len(in.Events) - 1; i >= 0; i-- { // In the order of time.
		e := &in.Events[i]
		if e.Pod != p.Pods[0] || e.Reason != "Failed" || !strings.HasPrefix(e.Message, failed) {
			continue
		}
		if p.Start.Trouble = meaning.OfImage(p.Start.Reason, e.Message); p.Start.Trouble != nil {
			p.Details = append(p.Details, e.Message)
			return
		}
	}
}

// addVolume adds the volume's data from the template: its claim, or its ConfigMap or Secret if a key is missing, because
// the kubelet names only the volume. A message about a PersistentVolume has no name from the template.
func addVolume(in *facts.Facts, p *explain.Problem) {
	all, t := in.Spec.Template.Spec.Volumes, p.Start.Trouble
	switch v := lists.First(all, func(v *corev1.Volume) bool { return v.Name == t.Volume }); {
	case v == nil:
		p.Start.Claims = claimsOf(in, p.Pods[0])
	case v.PersistentVolumeClaim != nil:
		others := func(c meaning.Claim) bool { return c.Name != v.PersistentVolumeClaim.ClaimName }
		p.Start.Claims = slices.DeleteFunc(claimsOf(in, p.Pods[0]), others)
	case v.CSI != nil:
		t.Class = v.CSI.VolumeAttributes["secretProviderClass"]
	case t.Kind != meaning.KeyMissing:
	case v.ConfigMap != nil:
		t.Name = v.ConfigMap.Name
	case v.Secret != nil:
		t.Name = v.Secret.SecretName
	}
}

// selectorOf returns the nodeSelector of a pod template, as kubectl takes it, "" if there is none, or a node affinity too.
func selectorOf(spec *corev1.PodSpec) string {
	if spec.Affinity != nil || len(spec.NodeSelector) == 0 {
		return ""
	}
	return labels.FormatLabels(spec.NodeSelector)
}

// pinnedTo returns the only node that a pod template allows, by its name or its host name; "" if it may allow several.
func pinnedTo(spec *corev1.PodSpec) string {
	if host := spec.NodeSelector[corev1.LabelHostname]; host != "" || spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return host
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return ""
	}
	term := &required.NodeSelectorTerms[0]
	for _, r := range slices.Concat(term.MatchFields, term.MatchExpressions) {
		if (r.Key == metav1.ObjectNameField || r.Key == corev1.LabelHostname) && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return r.Values[0]
		}
	}
	return ""
}
