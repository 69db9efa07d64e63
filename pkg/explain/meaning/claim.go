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

// ofProvisioner matches the beginning of a provisioner's warning, which names what the claim names, too.
var ofProvisioner = lazyregexp.New(`(?i)^failed to provision volume with StorageClass "[^"]*": (?:rpc error: code = \w+ desc = )?`)

// Reported returns the warning about the claim, without what the claim says, too; "" for none.
func (c *Claim) Reported() string { return ofProvisioner.ReplaceAllString(c.Warning, "") }

// why returns why the claim is not bound, to be added to that, or "".
func (c *Claim) why() string {
	switch {
	case c.Warning != "":
		return wording.InBrackets(wording.Quoted(wording.Shorten(c.Reported(), maxMessage)))
	case c.NoClass:
		return ": it has no StorageClass, and the cluster has no default one"
	case c.Provisioner != "":
		return ": its provisioner " + c.Provisioner + " has not created a volume"
	}
	return ""
}

// noDriver matches a warning of a provisioner about the node that the scheduler has chosen.
var noDriver = lazyregexp.New(`no topology key found on CSINode "?([a-z0-9][a-z0-9.-]*)|error getting CSINode for selected node "?([a-z0-9][a-z0-9.-]*)`)

// provisioning has advice on warnings about claims that get no volume, by their words; {claim} and {class} are names, {name} is the group.
var provisioning = []struct {
	pattern *lazyregexp.Regexp
	advice  string
}{
	{lazyregexp.New(`^storageclass\S* "([^"]+)" not found`), "create StorageClass {name}, or recreate claim {claim} with one that exists (kubectl get storageclass)"},
	{lazyregexp.New(`no volume plugin matched|does not support dynamic provisioning`), "create a PersistentVolume that fits claim {claim}, or recreate the claim with a StorageClass whose provisioner makes volumes"},
	{lazyregexp.New(`secrets? "([^"]+)" not found`), "create Secret {name}, which the parameters of StorageClass {class} name, or correct them (recreate the StorageClass); its provisioner tries again by itself"},
	{lazyregexp.New(`(?i)no (?:available )?topology found|error getting CSINodes?\b`), "check that the node pods of the CSI driver run, and have registered (kubectl get csinodes), and that allowedTopologies of StorageClass {class} names labels of nodes"},
	{lazyregexp.New(`(?i)RequestLimitExceeded|throttl|rate ?limit|Error 429|\b429\b`), "wait: the cloud limits the requests of the provisioner of StorageClass {class}, which tries again by itself"},
	{lazyregexp.New(`(?i)ResourceExhausted|quota|(?:volumes?|storage|disks?) limit|limit ?exceeded|(?:not enough|insufficient|no|out of) (?:free |available |disk )?(?:space|capacity|storage|room|disk|extents)`),
		"free storage behind StorageClass {class}, or have its quota or capacity raised; or recreate claim {claim} with a smaller size; its provisioner tries again by itself"},
	{lazyregexp.New(`(?i)PermissionDenied|Unauthenticated|unauthorized|not authorized|forbidden|permission denied|access ?denied|AuthFailure|InvalidClientTokenId|credential|AuthorizationFailed|code: 40[13]\b|Error 40[13]\b`),
		"give the identity of the provisioner of StorageClass {class} (the role or ServiceAccount of its controller, or its Secret) the right that the warning names; it tries again by itself"},
	{lazyregexp.New(`(?i)deadline ?exceeded|timed? ?out|given volume id|code = Aborted|connection refused|no route to host|unreachable|failed to dial|\bdial\b|no such host|code = Unavailable|transport is closing`),
		"check whether the storage behind StorageClass {class} answers: its provisioner runs, and tries again; the log of its controller says what it waits for"},
	{lazyregexp.New(`(?i)InvalidArgument|\binvalid\b|unsupported|not support|unknown parameter|missing (?:required )?parameter|only supports?|access ?modes?|must be`),
		"compare size and accessModes of claim {claim}, and the parameters of StorageClass {class}, with what the warning asks for; neither can be changed, so recreate the one at fault"},
	{ofProvisioner, "look for more in the log of the provisioner of StorageClass {class}: it runs, has got this error from the storage, and tries again"},
}

// warnedAdvice returns advice on the warning about a claim, "" for others.
func (c *Claim) warnedAdvice() string {
	for i := range provisioning {
		if p := &provisioning[i]; p.pattern.MatchString(c.Warning) {
			return wording.Insert(p.advice, "{claim}", c.Name, "{class}", c.StorageClass, "{name}", p.pattern.Group(c.Warning))
		}
	}
	return ""
}

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
			return cmp.Or(c.warnedAdvice(), fmt.Sprintf("find out why claim %s is not bound: does its StorageClass %s exist, and does its provisioner run?", c.Name, c.StorageClass))
		}
	}
	if u.Name != "" {
		return fmt.Sprintf("find out why claim %s is not bound: its StorageClass, and the provisioner", u.Name)
	}
	return "find out which claim of the pod is not bound, and why"
}
