package meaning

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// unpin returns advice on a pod template that allows only one node.
func (u *Unfit) unpin() string {
	return "or {recreate} without the nodeSelector or affinity that allows only node " + u.Pinned
}

func resourceAdvice(u *Unfit, _ []Claim) string {
	if u.Pinned != "" {
		return fmt.Sprintf("lower what the pod requests of %s%s, free some of it on node %s, %s", u.Name, wording.InBrackets(u.Requested), u.Pinned, u.unpin())
	}
	requests := "requests"
	if u.Requested != "" {
		requests = "requests " + u.Requested
	}
	if strings.Contains(u.Name, "/") {
		return fmt.Sprintf("free %s on a node, or add a node that offers it (the pod %s); if a node should offer it, check its device plugin", u.Name, requests)
	}
	if u.Requested == "" {
		return fmt.Sprintf("free %s on the nodes, or add a node", u.Name)
	}
	return fmt.Sprintf("lower what the pod requests of %s, which is %s, free some of it, or add a node that has as much", u.Name, u.Requested)
}

// portAdvice returns advice on a host port that another pod has, which may be one of the same Job.
func portAdvice(u *Unfit, _ []Claim) string {
	text := "{recreate} without hostPort, or with a lower parallelism: each node has the port only once"
	if u.Holder != "" {
		text += ", and pod " + u.Holder + " of the Job has it"
	}
	return text
}

// affinityAdvice returns advice on a rule about the pods on a node, or in its zone.
func affinityAdvice(u *Unfit, _ []Claim) string {
	switch {
	case strings.HasPrefix(u.Name, "existing"):
		return "change the labels of the pod template, which the anti-affinity of pods on the nodes excludes, or add nodes"
	case u.Rule == "":
		return "compare podAffinity and podAntiAffinity of the pod with the pods on the nodes, or add nodes"
	case u.Name == "pod anti-affinity":
		return "{recreate} without the podAntiAffinity of its pod template, or with labels of which no pod runs there, or add nodes"
	}
	return "check where pods with the labels of the podAffinity run: only there can the pod run, too; or {recreate} without the podAffinity"
}
