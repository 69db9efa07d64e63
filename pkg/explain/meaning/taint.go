package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// stateTaint is a taint that a component sets on a node while the node is in a state, and removes itself. No toleration helps.
type stateTaint struct {
	// key is the key of the taint, or its end, with the slash.
	key string
	// is is the predicate of a sentence about nodes, in singular and plural.
	is     [2]string
	advice string
}

var stateTaints = []stateTaint{
	{key: "node.kubernetes.io/disk-pressure", is: [2]string{"has too little free disk space", "have too little free disk space"},
		advice: "free disk space on the nodes (unused images, logs, files of other pods), or enlarge their disks; the kubelet then removes the taint"},
	{key: "node.kubernetes.io/memory-pressure", is: [2]string{"has too little free memory", "have too little free memory"},
		advice: "free memory on the nodes, or add a node; the kubelet then removes the taint"},
	{key: "node.kubernetes.io/pid-pressure", is: [2]string{"runs too many processes", "run too many processes"},
		advice: "find out which pods start so many processes on the nodes, or add a node; the kubelet then removes the taint"},
	{key: "node.kubernetes.io/not-ready", is: [2]string{"is not ready", "are not ready"},
		advice: "find out why the nodes are not ready: their condition Ready has the reason, such as a network plugin that is not installed or does not run"},
	{key: "node.kubernetes.io/unreachable", is: [2]string{"is unreachable", "are unreachable"},
		advice: "check the machines and the kubelets of the nodes, which no longer report to the API server"},
	{key: "node.kubernetes.io/network-unavailable", is: [2]string{"has no network yet", "have no network yet"},
		advice: "check the network plugin, or the routes of the cloud, on the nodes; the taint is then removed"},
	{key: "node.kubernetes.io/unschedulable", is: [2]string{"is cordoned", "are cordoned"}, advice: uncordon},
	{key: "node.cloudprovider.kubernetes.io/uninitialized", is: [2]string{"waits for its cloud controller", "wait for their cloud controller"},
		advice: "check whether the cloud-controller-manager runs: it initializes new nodes, and then removes the taint; a Job that installs it needs a toleration for the taint"},
	{key: "node.cloudprovider.kubernetes.io/shutdown", is: [2]string{"is shut down", "are shut down"},
		advice: "start the machines of the nodes, or add a node"},
	{key: "ToBeDeletedByClusterAutoscaler", is: [2]string{"is being removed by the cluster autoscaler", "are being removed by the cluster autoscaler"}},
	{key: "karpenter.sh/disrupted", is: [2]string{"is being removed by Karpenter", "are being removed by Karpenter"}},
	{key: "karpenter.sh/disruption", is: [2]string{"is being removed by Karpenter", "are being removed by Karpenter"}},
	{key: "karpenter.sh/unregistered", is: [2]string{"is still starting", "are still starting"}},
	{key: "/agent-not-ready", is: [2]string{"waits for its agent of {owner}", "wait for their agent of {owner}"},
		advice: "check the agent of {owner} on the nodes, a pod of a DaemonSet; it removes the taint when it is ready"},
}

// stateTaint returns the row of the taint of the reason, nil for a taint that reserves nodes.
func (u *Unfit) stateTaint() *stateTaint {
	if u.Kind != UnfitTaint {
		return nil
	}
	key := u.TaintKey()
	return lists.First(stateTaints, func(t *stateTaint) bool {
		return t.key == key || strings.HasPrefix(t.key, "/") && strings.HasSuffix(key, t.key)
	})
}

// IsState reports whether the reason is a state of nodes, not a taint that reserves them.
func (u *Unfit) IsState() bool { return u.stateTaint() != nil }

// TaintKey returns the key of the taint, "" if the message has none.
func (u *Unfit) TaintKey() string {
	key, _, _ := strings.Cut(u.Name, ":")
	return strings.TrimSpace(key)
}

// byState returns the predicate about the nodes with the taint, and advice.
func (u *Unfit) byState(t *stateTaint) (is [2]string, advice string) {
	owner, _, _ := strings.Cut(u.TaintKey(), "/")
	fill := func(text string) string { return wording.Insert(text, "{owner}", owner) }
	for i := range is {
		is[i] = fill(t.is[i]) + " (taint " + u.TaintKey() + ")"
	}
	return is, fill(t.advice)
}

// reserved are taints of nodes that are not meant for Jobs: other advice comes first.
var reserved = []string{"CriticalAddonsOnly", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd", "eks.amazonaws.com/compute-type", "virtual-kubelet.io/provider"}

// IsReserved reports whether the reason is a taint of nodes that are not meant for Jobs.
func (u *Unfit) IsReserved() bool {
	return u.Kind == UnfitTaint && (slices.Contains(reserved, u.TaintKey()) || strings.HasSuffix(u.Name, ": windows"))
}

// ForAdvice returns the reasons in the order of their advice: those that hold for nodes that the pod template allows come first.
func ForAdvice(all []Unfit) []*Unfit {
	out := make([]*Unfit, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortStableFunc(out, func(a, b *Unfit) int { return cmp.Compare(a.rank(), b.rank()) })
	var joined []*Unfit
	for _, u := range out {
		if last := len(joined) - 1; last >= 0 && u.reserves() && joined[last].reserves() { // A toleration for one of the taints suffices.
			both := *joined[last]
			both.More, joined[last] = append(slices.Clone(both.More), u.Name), &both
			continue
		}
		joined = append(joined, u)
	}
	return joined
}

// reserves reports whether the reason is a taint that is named, and that reserves nodes for pods such as those of Jobs.
func (u *Unfit) reserves() bool {
	return u.Name != "" && u.Rule == "" && u.Kind == UnfitTaint && !u.IsState() && !u.IsReserved() && !strings.HasPrefix(u.Name, "node.kubernetes.io/")
}

// IsForOthers reports whether the reason is that the only node that the pod template allows is none of these: another reason keeps it from
// taking the pod.
func (u *Unfit) IsForOthers() bool {
	return u.Kind == UnfitNodeAffinity && u.Pinned != "" && u.Nodes < u.Of
}

func (u *Unfit) rank() int {
	switch {
	case u.IsForOthers():
		return 4
	case u.IsReserved():
		return 3
	case u.Kind == UnfitTaint && u.stateTaint() == nil:
		return 2
	case u.Kind == UnfitNodeAffinity:
		return 1
	}
	return 0
}

// taintAdvice returns advice on a taint.
func taintAdvice(u *Unfit, _ []Claim) string {
	if u.Name == "" {
		return "{recreate} with tolerations for the taints of the nodes, or remove a taint"
	}
	if t := u.stateTaint(); t != nil {
		_, advice := u.byState(t)
		return advice
	}
	if strings.HasPrefix(u.Name, "node.kubernetes.io/") {
		return fmt.Sprintf("find out why nodes have the taint {%s}, which the cluster itself sets and removes; a toleration would not help", u.Name)
	}
	taints, tolerations, has := "", "", ""
	for _, name := range append([]string{u.Name}, u.More...) {
		key, value, _ := strings.Cut(name, ":")
		taints = wording.Join(" or ", taints, "{"+name+"}")
		tolerations = wording.Join("; or ", tolerations, "key: "+strings.TrimSpace(key)+", "+cmp.Or(prefixed("value: ", strings.TrimSpace(value)), "operator: Exists"))
	}
	if u.Rule != "" {
		has = "; the one that it has for this key is for another taint (" + u.Rule + ")"
	}
	return fmt.Sprintf("{recreate} with a toleration for the taint %s in its pod template (%s)%s, or remove the taint from a node", taints, tolerations, has)
}
