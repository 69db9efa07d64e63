package meaning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Sentences returns the reasons as clauses with their numbers of nodes, such as "2 nodes are cordoned" and "3 lack free cpu"; claims
// belong to the pod, one and many are the words for nodes.
func Sentences(all []Unfit, claims []Claim, one, many string) (out []string) {
	hasWord := false // The first number has the word for nodes.
	all = joinResources(all)
	for i := range all {
		u := &all[i]
		r, nodes := u.row(), wording.Plural(u.Nodes, one, many)
		if u.isOnlyNode() {
			nodes = "the only " + one
		}
		switch {
		case u.Nodes == 0, r.nodes[0] == "" && r.text != "": // It does not depend on the node.
			out = append(out, u.Text(claims))
		case r.text == "":
			out = append(out, nodes+": "+u.Text(claims))
		default:
			switch {
			case hasWord && u.isOnlyNode():
				nodes = "it"
			case hasWord:
				nodes = wording.Thousands(u.Nodes)
			}
			hasWord = true
			is := r.nodes
			if t := u.stateTaint(); t != nil {
				is, _ = u.byState(t)
			} else if u.IsForOthers() {
				is = [2]string{"is not {pinned} (node affinity)", "are not {pinned} (node affinity)"}
			}
			out = append(out, u.fill(nodes+" "+wording.Form(u.Nodes, is[0], is[1]), claims))
		}
	}
	return out
}

// isOnlyNode reports whether the reason holds for the only node of the cluster. A rule needs the room of these words.
func (u *Unfit) isOnlyNode() bool { return u.Nodes == 1 && u.Of == 1 && u.Rule == "" }

// joinResources joins the resources that the same nodes lack to one reason, as they do not add up: a node that lacks some has no other
// reason, except that it runs as many pods as it may.
func joinResources(all []Unfit) (out []Unfit) {
	var others int32
	for i := range all {
		if all[i].Kind != UnfitResource && all[i].Kind != UnfitPodCount {
			others += all[i].Nodes
		}
	}
	isOfAll := func(u *Unfit) bool { return u.Kind == UnfitResource && u.Of > 0 && u.Nodes == u.Of-others }
	var names []string
	for i := range all {
		if isOfAll(&all[i]) {
			names = append(names, all[i].Name)
		}
	}
	for i := range all {
		u := all[i]
		if isOfAll(&u) {
			if len(names) == 0 {
				continue // The first one has them all.
			}
			u.Name, names = wording.Enumerate(names, "and"), nil
		}
		out = append(out, u)
	}
	return out
}

// choice is the beginning of a message about a pod for which the scheduler chose a node, to which it could not bind it.
var choice = lazyregexp.New(`(?i)^(?:binding rejected: )?(?:running (?:Pre)?Bind plugin|binding volumes: |provisioning failed for PVC)`)

// IsChosen reports whether the scheduler chose a node for the pod.
func IsChosen(all []Unfit) bool { return len(all) == 1 && choice.MatchString(all[0].Message) }

// IsElsewhere reports whether only nodes, or the cluster, keep the pod from a node: its template is not at fault.
func IsElsewhere(all []Unfit) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(u Unfit) bool {
		isOfNode := u.IsForOthers() || u.IsOfJob || u.Added != "" || u.Kind == UnfitClaimMissing && u.Holder != "" || u.Kind == UnfitPodAffinity && strings.HasPrefix(u.Name, "existing") && u.Selector != ""
		return !isOfNode && !u.IsState() && !slices.Contains([]UnfitKind{UnfitCordoned, UnfitNoNodes, UnfitFargateFull, UnfitClaimPending, UnfitClaimUnbound, UnfitVolumeMissing}, u.Kind)
	})
}

// unpin returns advice on a pod template that allows only one node.
func (u *Unfit) unpin() string {
	return "{recreate} without the nodeSelector or affinity that allows only node " + u.Pinned
}

// fullAdvice returns advice on nodes that take no more: on the only one that the pod template allows, or on all.
func fullAdvice(onPinned, onAll string) func(*Unfit, []Claim) string {
	return func(u *Unfit, _ []Claim) string {
		if u.Pinned != "" {
			return strings.ReplaceAll(onPinned, "{pinned}", u.Pinned) + u.unpin()
		}
		return onAll
	}
}

func resourceAdvice(u *Unfit, _ []Claim) string {
	if u.Pinned != "" {
		return fmt.Sprintf("lower what the pod requests of %s%s, free some of it on node %s, or %s", u.Name, wording.InBrackets(u.Requested), u.Pinned, u.unpin())
	}
	requests := ""
	if u.Requested != "" {
		requests = " (the pod requests " + u.Requested + ")"
	}
	if strings.Contains(u.Name, "/") {
		return fmt.Sprintf("free %s on a node, or add a node that offers it%s; if a node should offer it, check its device plugin", u.Name, requests)
	}
	switch {
	case strings.HasPrefix(u.Name, "hugepages-"):
		return fmt.Sprintf("have nodes reserve %s (vm.nr_hugepages, or the kernel's command line, before the kubelet starts), or {recreate} without them%s", u.Name, requests)
	case u.Requested == "":
		return fmt.Sprintf("free %s on the nodes, or add a node", u.Name)
	case u.IsHelpless: // The pods of the nodes do not matter.
		return fmt.Sprintf("lower what the pod requests of %s, which is %s, or add a node that has as much: without other pods, no node would have room for it, either", u.Name, u.Requested)
	}
	return fmt.Sprintf("lower what the pod requests of %s, which is %s, free some of it, or add a node that has as much", u.Name, u.Requested)
}

// affinityAdvice returns advice on a rule about the pods on a node, or in its zone.
func affinityAdvice(u *Unfit, _ []Claim) string {
	where, room := "", ", or add a node"
	if u.Pinned != "" { // No other one would do.
		where, room = " on node "+u.Pinned, ""
	}
	switch {
	case strings.HasPrefix(u.Name, "existing") && u.Selector != "": // It is likely that these pods have the same rule.
		return "find the pod" + where + " that excludes it, such as one that its own podAntiAffinity selects, and wait for its end, or delete it if it is left over" + room
	case strings.HasPrefix(u.Name, "existing"):
		return "find the pods" + where + " whose podAntiAffinity selects labels of the pod template, and wait for their end, or change these labels" + room
	case u.Rule == "":
		return "compare podAffinity and podAntiAffinity of the pod with the pods on the nodes" + room
	case u.Name == "pod anti-affinity":
		return "find the pods" + where + " that its podAntiAffinity keeps it away from, and wait for their end, or delete those that are left over; or {recreate} without the rule" + room
	}
	return "check where pods with the labels of the podAffinity run: only there can the pod run, too; or {recreate} without the podAffinity"
}

// hostname is the label with the host name of a node.
const hostname = "kubernetes.io/hostname"

// selectorAdvice returns advice on a nodeSelector or an affinity that no node matches.
func selectorAdvice(u *Unfit, _ []Claim) string {
	switch {
	case u.IsForOthers():
		return u.unpin()
	case u.Added != "":
		return fmt.Sprintf("find what gives the pod nodeSelector %s, which its template does not have: a webhook, the default of its namespace (OpenShift's annotation openshift.io/node-selector), or the controller that owns its Job; if it is wrong, correct it there and delete the pod, which then counts as failed, so that its replacement gets another one", u.Added)
	case u.IsOfJob:
		return "if node " + u.Pinned + " is gone, delete this Job, which is for this node only; if it is not, check its label " + hostname
	case u.Pinned != "":
		text := "{recreate} with the name of a node that exists, instead of " + u.Pinned
		if slices.Contains(u.Labels, hostname) {
			text += ": each kubelet sets this label for its node, so give it to no other one"
		}
		return text
	case u.Name != "" && slices.ContainsFunc(u.Labels, controlPlane.MatchString):
		return "{recreate} without the nodeSelector for nodes of the control plane: a managed one has no such nodes, and since Kubernetes 1.24, others have the label " +
			"node-role.kubernetes.io/control-plane, with an empty value, in place of node-role.kubernetes.io/master"
	case u.Name != "":
		return fmt.Sprintf("correct the nodeSelector %s of the pod template, or %s", u.Name, u.label("that label"))
	case u.Rule != "":
		return fmt.Sprintf("correct the node affinity of the pod template (%s), or %s", u.Rule, u.label("labels that it matches"))
	}
	return "compare nodeSelector and affinity of the pod with the labels of the nodes"
}

// controlPlane matches the labels of nodes of the control plane.
var controlPlane = lazyregexp.New(`^node-role\.kubernetes\.io/(?:master|control-plane)$`)

// ofCluster matches the keys of labels that kubelets, clouds and autoscalers set, by what a node is.
var ofCluster = lazyregexp.New(`^(?:beta\.|topology\.|failure-domain\.beta\.)?kubernetes\.io/|^(?:topology|node|failure-domain\.beta)\.kubernetes\.io/|` +
	`^(?:[\w.-]+\.)?(?:gke\.io|cloud\.google\.com|amazonaws\.com|azure\.com|eksctl\.io|karpenter\.(?:sh|k8s\.aws)|feature\.node\.kubernetes\.io|nvidia\.com)/`)

// IsByRole reports whether the reason is about what nodes are for, or about taints that are not named: another reason matters more.
func (u *Unfit) IsByRole() bool {
	return u.Kind == UnfitTaint && u.Name == "" || u.Kind == UnfitNodeAffinity && slices.ContainsFunc(u.Labels, ofCluster.MatchString)
}

// label returns the advice to label a node, or to add one of the kind if the labels say what a node is.
func (u *Unfit) label(with string) string {
	if slices.ContainsFunc(u.Labels, ofCluster.MatchString) {
		return "add a node that has it: the kubelet, the cloud or an operator sets such labels, so give them to no other node"
	}
	return "give a node " + with
}

// volumeNodeAdvice returns advice on volumes that the nodes cannot use.
func volumeNodeAdvice(u *Unfit, claims []Claim) string {
	text := "make room for the pod where its volume is{(claim)}, or use a volume in a zone that has room"
	if len(claims) > 1 && u.Name == "" {
		var names []string
		for i := range claims {
			names = append(names, claims[i].Name)
		}
		text = fmt.Sprintf("check whether the volumes of claims %s are in one zone, and whether a node there has room: a pod cannot use volumes of several zones", wording.Enumerate(names, "and"))
	}
	return u.fill(text+"; a StorageClass with volumeBindingMode WaitForFirstConsumer creates volumes where their pods fit", claims)
}
