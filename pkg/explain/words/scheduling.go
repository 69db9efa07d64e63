package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// noNode is the beginning of the sentence about a pod that fits no node.
const noNode = "no node can take the pod"

// maxUnfits is the maximum number of reasons in a sentence.
const maxUnfits = 5

// unschedulableText explains why no node can take the pod.
func unschedulableText(p *explain.Problem, now time.Time) string {
	return Joined(": ", noNode, unfitsBriefly(p, now))
}

func unfitsBriefly(p *explain.Problem, _ time.Time) string { return unfitsText(p.Unfit, p.Claims) }

// unfitsText returns the reasons with their numbers of nodes: "1 Insufficient nvidia.com/gpu, 8 node affinity/selector".
func unfitsText(all []explain.Unfit, claims []explain.Claim) string {
	var parts []string
	for i := range all[:min(len(all), maxUnfits)] {
		u := &all[i]
		text := unfitText(u, claims)
		if u.Nodes > 0 {
			text = Number(u.Nodes) + " " + text
		}
		parts = append(parts, text)
	}
	if n := len(all) - maxUnfits; n > 0 {
		parts = append(parts, Times(int32(n), "other reason", "other reasons"))
	}
	return strings.Join(parts, ", ")
}

// unfitTexts are the scheduler's words for reasons without a name.
var unfitTexts = map[explain.UnfitKind]string{
	explain.UnfitPodCount:       "Too many pods",
	explain.UnfitNodeAffinity:   "node affinity/selector",
	explain.UnfitNodeName:       "node name",
	explain.UnfitCordoned:       "unschedulable (cordoned)",
	explain.UnfitTopologySpread: "topology spread constraints",
	explain.UnfitPodAffinity:    "pod affinity/anti-affinity",
	explain.UnfitHostPort:       "host port in use",
	explain.UnfitVolumeCount:    "maximum number of volumes",
	explain.UnfitNoNodes:        "the cluster has no nodes",
}

func unfitText(u *explain.Unfit, claims []explain.Claim) string {
	switch u.Kind {
	case explain.UnfitResource:
		return "Insufficient " + u.Name
	case explain.UnfitTaint:
		if u.Name == "" {
			return "untolerated taint"
		}
		return "untolerated taint {" + u.Name + "}"
	case explain.UnfitVolumeNode:
		return "volume node affinity" + inBrackets(claimName(u.Name))
	case explain.UnfitNoVolume:
		return "no PersistentVolume to bind" + inBrackets(claimName(u.Name))
	case explain.UnfitClaimMissing:
		return claimText(u, claims) + " does not exist"
	case explain.UnfitClaimDeleted:
		return claimText(u, claims) + " is being deleted"
	case explain.UnfitClaimUnbound:
		return claimText(u, claims) + " is not bound" + inBrackets(warningOf(u.Name, claims))
	case explain.UnfitClaimInUse:
		return claimText(u, claims) + " is in use by another pod (ReadWriteOncePod)"
	}
	if text, known := unfitTexts[u.Kind]; known {
		return text
	}
	return Quoted(wording.Shorten(u.Message, maxUnquoted))
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func claimName(name string) string {
	if name == "" {
		return ""
	}
	return "claim " + name
}

// claimText names the claim, or the candidates if it is unknown.
func claimText(u *explain.Unfit, claims []explain.Claim) string {
	if u.Name != "" {
		return "claim " + u.Name
	}
	var names []string
	for i := range claims {
		names = append(names, claims[i].Name)
	}
	return "a PersistentVolumeClaim of the pod" + inBrackets(Enumerate(names, "or"))
}

// warningOf returns the quoted warning about the named claim, "" if there is none.
func warningOf(name string, claims []explain.Claim) string {
	for i := range claims {
		if c := &claims[i]; c.Name == name {
			return quotedIfAny(wording.Shorten(c.Warning, maxUnquoted))
		}
	}
	return ""
}

// autoscalerText describes what an autoscaler does about the pod, "" if there is none.
func autoscalerText(p *explain.Problem, _ time.Time) string {
	a := p.Autoscaler
	switch {
	case a == nil:
		return ""
	case a.Adds:
		return componentText(a.By) + " adds a node for it"
	}
	return Joined(": ", componentText(a.By)+" adds no node for it", wording.Shorten(a.Why, maxUnquoted))
}

// UnfitAdvice returns advice on a reason why no node can take a pod, or "".
func UnfitAdvice(u *explain.Unfit, claims []explain.Claim) string {
	switch u.Kind {
	case explain.UnfitResource:
		return resourceAdvice(u)
	case explain.UnfitTaint:
		return taintAdvice(u.Name)
	case explain.UnfitClaimMissing:
		return fmt.Sprintf("create claim %s; the pod is then scheduled automatically", u.Name)
	case explain.UnfitClaimUnbound, explain.UnfitNoVolume:
		return unboundAdvice(u, claims)
	case explain.UnfitVolumeNode:
		return "make room for the pod where its volume is" + inBrackets(claimName(u.Name)) + ", or use a volume in a zone that has room; a StorageClass with volumeBindingMode WaitForFirstConsumer creates volumes where their pods fit"
	}
	return unfitAdvice[u.Kind]
}

// unfitAdvice is the advice without variable parts.
var unfitAdvice = map[explain.UnfitKind]string{
	explain.UnfitPodCount:       "add nodes: these run as many pods as they may (status.allocatable.pods)",
	explain.UnfitNodeAffinity:   "compare nodeSelector and affinity of the pod with the labels of the nodes",
	explain.UnfitNodeName:       "recreate the Job with a nodeName that exists, or without it",
	explain.UnfitCordoned:       "uncordon a node (kubectl uncordon), or wait until its maintenance is over",
	explain.UnfitTopologySpread: "recreate the Job with other topologySpreadConstraints (a larger maxSkew, or whenUnsatisfiable ScheduleAnyway), or add nodes in the domains that lack pods",
	explain.UnfitPodAffinity:    "compare podAffinity and podAntiAffinity of the pod with the pods on the nodes, or add nodes",
	explain.UnfitHostPort:       "recreate the Job without hostPort, or with a lower parallelism: each node has the port only once",
	explain.UnfitVolumeCount:    "add nodes: these have as many volumes attached as they may",
	explain.UnfitClaimDeleted:   "recreate the claim once it is gone, and the Job with it",
	explain.UnfitClaimInUse:     "wait until the other pod ends, or use a claim with another access mode than ReadWriteOncePod",
	explain.UnfitDevices:        "compare the ResourceClaims of the pod with the devices of the nodes (ResourceSlices)",
	explain.UnfitNoNodes:        "add a node",
}

func resourceAdvice(u *explain.Unfit) string {
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

// taintAdvice returns advice on a taint, "" if it is unknown. The cluster itself sets taints of node.kubernetes.io.
func taintAdvice(taint string) string {
	key, _, _ := strings.Cut(taint, ":")
	switch {
	case taint == "":
		return "recreate the Job with tolerations for the taints of the nodes, or remove a taint"
	case key == "node.kubernetes.io/unschedulable":
		return unfitAdvice[explain.UnfitCordoned]
	case strings.HasPrefix(key, "node.kubernetes.io/"), strings.HasPrefix(key, "node.cloudprovider.kubernetes.io/"):
		return fmt.Sprintf("find out why nodes have the taint {%s}, which the cluster itself sets and removes; a toleration would not help", taint)
	}
	return fmt.Sprintf("recreate the Job with a toleration for the taint {%s} in its pod template, or remove the taint from a node", taint)
}

func unboundAdvice(u *explain.Unfit, claims []explain.Claim) string {
	for i := range claims {
		if c := &claims[i]; c.Name == u.Name && c.StorageClass != "" {
			return fmt.Sprintf("find out why claim %s is not bound: does its StorageClass %s exist, and does its provisioner run?", c.Name, c.StorageClass)
		}
	}
	if u.Name != "" {
		return fmt.Sprintf("find out why claim %s is not bound: its StorageClass, and the provisioner", u.Name)
	}
	return "find out which claim of the pod is not bound, and why"
}
