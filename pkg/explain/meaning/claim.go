package meaning

import (
	"cmp"
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Claim is a PersistentVolumeClaim of a pod.
type Claim struct {
	Name string `json:"name"`
	// Missing reports whether the claim does not exist. Phase and StorageClass are set for a claim that was read.
	Missing      bool   `json:"missing,omitempty"`
	Phase        string `json:"phase,omitempty"`
	StorageClass string `json:"storageClass,omitempty"`
	// NoClass reports whether the claim names no StorageClass, and the cluster had no default one.
	NoClass bool `json:"noClass,omitempty"`
	// Provisioner was asked for a volume for a claim that is not bound.
	Provisioner string `json:"provisioner,omitempty"`
	// Warning is the latest warning about a claim that is not bound.
	Warning string `json:"warning,omitempty"`
}

// why returns why the claim is not bound, to be added to that, or "".
func (c *Claim) why() string {
	switch {
	case c.Warning != "":
		return wording.InBrackets(wording.Quoted(wording.Shorten(c.Warning, maxMessage)))
	case c.NoClass:
		return ": it has no StorageClass, and the cluster has no default one"
	case c.Provisioner != "":
		return ": its provisioner " + c.Provisioner + " has not created a volume"
	}
	return ""
}

// noDriver matches a warning of a provisioner about the node that the scheduler has chosen.
var noDriver = lazyregexp.New(`no topology key found on CSINode "?([a-z0-9][a-z0-9.-]*)|error getting CSINode for selected node "?([a-z0-9][a-z0-9.-]*)`)

// runDriver is advice on such a node.
const runDriver = "find out why %s has not registered on node %[2]s (its pod there, and kubectl get csinode %[2]s): the volume is made for that node; or keep the pod off it (nodeSelector, affinity)"

func unboundAdvice(u *Unfit, claims []Claim) string {
	for i := range claims {
		switch c := &claims[i]; {
		case c.Name != u.Name:
		case c.NoClass && c.Warning == "":
			return fmt.Sprintf("mark a StorageClass as the default one (annotation storageclass.kubernetes.io/is-default-class), or create a PersistentVolume that fits claim %s", c.Name)
		case c.Provisioner != "" && c.Warning == "":
			return fmt.Sprintf("check whether %s is installed: a provisioner of that name, which may be a CSI driver, has to run in the cluster, and its log has errors", c.Provisioner)
		case noDriver.Group(c.Warning) != "":
			return fmt.Sprintf(runDriver, cmp.Or(wording.Join(" ", "the CSI driver of StorageClass", c.StorageClass), "its CSI driver"), noDriver.Group(c.Warning))
		case c.StorageClass != "":
			return fmt.Sprintf("find out why claim %s is not bound: does its StorageClass %s exist, and does its provisioner run?", c.Name, c.StorageClass)
		}
	}
	if u.Name != "" {
		return fmt.Sprintf("find out why claim %s is not bound: its StorageClass, and the provisioner", u.Name)
	}
	return "find out which claim of the pod is not bound, and why"
}
