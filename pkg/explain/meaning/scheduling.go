package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Unfit is one reason why no node can take a pod.
type Unfit struct {
	Kind UnfitKind `json:"kind"`
	// Nodes is the number of nodes for which the reason holds; 0 if it holds for the pod, whatever the node.
	Nodes int32 `json:"nodes,omitempty"`
	// Name is the resource (nvidia.com/gpu), the taint (dedicated: batch), the claim, or the nodeSelector (disk=ssd) or the host ports of the pod
	// template; "" if none is known.
	Name string `json:"name,omitempty"`
	// Requested is the amount of the resource that the Job's pod template requests; "" if it requests none.
	Requested string `json:"requested,omitempty"`
	// Holder is a pod of the Job that has the host port on its node, or that had the missing claim, "" if none is known.
	Holder string `json:"holder,omitempty"`
	// Rule is the only rule of the pod template for pod affinity or anti-affinity, such as app=db, by host, or for topology
	// spread, "" if there is another number of rules; its node affinity, with the keys in Labels; or its toleration for other taints of the key.
	Rule   string   `json:"rule,omitempty"`
	Labels []string `json:"-"`
	// Selector selects the pods of the only rule of the pod template for pod affinity or anti-affinity, as kubectl takes it, "" if there is
	// another number of rules, or if they may be in another namespace.
	Selector string `json:"-"`
	// Pinned is the only node that the pod template allows, "" if it may allow several.
	Pinned string `json:"pinned,omitempty"`
	// Of is the number of all nodes, 0 if it is unknown, and IsHelpless is set if none of them has room even without other pods.
	Of         int32 `json:"-"`
	IsHelpless bool  `json:"-"`
	// More are the other taints for one of which a toleration suffices, IsOfJob is set if a label of the Job has the name of the node, and
	// Added is the part of the pod's nodeSelector that its template does not have.
	More    []string `json:"-"`
	IsOfJob bool     `json:"-"`
	Added   string   `json:"-"`
	// Message is the scheduler's message.
	Message string `json:"message"`
}

// UnfitKind is a kind of reason why no node can take a pod: a filter of kube-scheduler.
type UnfitKind string

// The reasons.
const (
	UnfitResource       UnfitKind = "InsufficientResource"
	UnfitResources      UnfitKind = "InsufficientResources" // the scheduler does not name them
	UnfitQueueQuota     UnfitKind = "QueueQuota"            // of the queue of another scheduler
	UnfitPodCount       UnfitKind = "TooManyPods"
	UnfitNodeAffinity   UnfitKind = "NodeAffinity" // or nodeSelector
	UnfitNodeName       UnfitKind = "NodeName"
	UnfitTaint          UnfitKind = "Taint"
	UnfitCordoned       UnfitKind = "Cordoned" // spec.unschedulable of the node
	UnfitTopologySpread UnfitKind = "TopologySpread"
	UnfitPodAffinity    UnfitKind = "PodAffinity" // or anti-affinity
	UnfitHostPort       UnfitKind = "HostPort"
	UnfitVolumeNode     UnfitKind = "VolumeNodeAffinity" // the volume is in another zone, or on another node
	UnfitVolumeCount    UnfitKind = "VolumeLimit"
	UnfitNoVolume       UnfitKind = "NoVolume"      // there is no volume for the claim to bind to
	UnfitVolumeMissing  UnfitKind = "VolumeMissing" // the volume that the claim is bound to does not exist
	UnfitClassMissing   UnfitKind = "ClassMissing"  // the StorageClass of the claim does not exist
	UnfitDriverMissing  UnfitKind = "DriverMissing" // the CSI driver of the volume is not on the node
	UnfitClaimPending   UnfitKind = "ClaimPending"  // of an ephemeral volume
	UnfitClaimMissing   UnfitKind = "ClaimMissing"
	UnfitClaimDeleted   UnfitKind = "ClaimDeleted" // the claim is being deleted
	UnfitClaimUnbound   UnfitKind = "ClaimUnbound"
	UnfitClaimInUse     UnfitKind = "ClaimInUse" // ReadWriteOncePod
	UnfitDevices        UnfitKind = "Devices"    // ResourceClaims
	UnfitDevicesBusy    UnfitKind = "DevicesBusy"
	UnfitDeviceClass    UnfitKind = "DeviceClassMissing"
	UnfitDeviceClaim    UnfitKind = "ResourceClaimMissing"
	UnfitStorage        UnfitKind = "InsufficientStorage" // behind the StorageClass of the claim
	UnfitNoNodes        UnfitKind = "NoNodes"             // the cluster has none
	UnfitGang           UnfitKind = "Gang"                // the pods of a PodGroup only start together
	UnfitFargate        UnfitKind = "Fargate"             // AWS Fargate does not support a field of the pod
	UnfitFargateFull    UnfitKind = "FargateFull"
	UnfitOther          UnfitKind = "Other"
)

// unfitRow is one kind of reason why no node can take a pod.
type unfitRow struct {
	kind     UnfitKind
	patterns []*lazyregexp.Regexp // the group, if any, is the name
	// yieldsTo are the kinds of messages that match this row, too.
	yieldsTo []UnfitKind
	// text follows the number of nodes where there is little room. Without text, the message is quoted. {claim}, {(claim)} and
	// {(warning)} are about the claim.
	text, advice string
	// nodes is the predicate of a sentence about the nodes, in singular and plural, if the reason is about nodes.
	nodes [2]string
	// advise returns advice that depends on more than names.
	advise func(u *Unfit, claims []Claim) string
	// isAboutClaim reports whether the reason is about a claim of the pod, or its volume.
	isAboutClaim bool
}

// unfits are messages of the filters of kube-scheduler, as of Kubernetes 1.37 and in earlier releases.
var unfits = []unfitRow{
	{
		kind: UnfitResource, yieldsTo: []UnfitKind{UnfitPodCount},
		patterns: re(`^(?:node\(s\) had )?[Ii]nsufficient (\S+)`),
		text:     "Insufficient {name}",
		nodes:    [2]string{"lacks free {name}", "lack free {name}"},
		advise:   resourceAdvice,
	},
	{
		kind:     UnfitResources, // of Volcano, which does not name them
		patterns: re(`^node\(s\) (?:lack resources|resource fit failed)`),
		text:     "lack resources",
		nodes:    [2]string{"lacks free resources", "lack free resources"},
		advice:   "free what the pod requests on the nodes, lower its requests, or add a node",
	},
	{
		kind:     UnfitQueueQuota,
		patterns: re(`^queue resource quota insufficient(?::? (.+))?`, `does not fit in queue '?([^' ]+)|(?i)not enough queue quota`),
		text:     "its queue has no quota left{(name)}",
		advice:   "wait until other pods of the queue end, lower what the pod requests, or have the quota of the queue raised",
	},
	{
		kind:     UnfitPodCount,
		patterns: re(`^Too many pods`, `^Insufficient pods$`, `pod number exceeded`),
		text:     "Too many pods",
		nodes:    [2]string{"runs as many pods as it may", "run as many pods as they may"},
		advise: fullAdvice("wait until pods of node {pinned} end, delete some of them, raise maxPods of its kubelet (status.allocatable.pods), or ",
			"add nodes that the pod may use: these run as many pods as they may (status.allocatable.pods)"),
	},
	{
		kind:     UnfitTaint,
		patterns: re(`^node\(s\) had (?:untolerated )?taints? \{([^}]*)\}`, `(?i)\btaints?\b|\btolerat`),
		text:     "with untolerated taint{taint}",
		nodes:    [2]string{"has an untolerated taint{taint}", "have an untolerated taint{taint}"},
		advise:   taintAdvice,
	},
	{
		kind:     UnfitCordoned,
		patterns: re(`(?i)\bnode\S* (?:\w+ )?unschedulable$|\bcordoned\b`),
		text:     "unschedulable (cordoned)",
		nodes:    [2]string{"is cordoned", "are cordoned"},
		advice:   uncordon,
	},
	{
		kind:     UnfitTopologySpread,
		patterns: re(`(?i)topology ?spread(?: constraints \((missing required label)\))?|\bpods spread\b`),
		text:     "topology spread constraints{(name)}{(rule)}",
		nodes:    [2]string{"does not satisfy its topology spread constraints{(name)}{(rule)}", "do not satisfy its topology spread constraints{(name)}{(rule)}"},
		advise: func(u *Unfit, _ []Claim) string {
			if u.Name != "" {
				return "{recreate} with a topologyKey in topologySpreadConstraints that the nodes have, or give them that label" + wording.InBrackets(u.Rule)
			}
			return spread
		},
	},
	{
		kind:     UnfitPodAffinity,
		patterns: re(`((?:existing )?pods? (?:anti-)?affinity) rules`, `(pod affinity/anti-affinity)`),
		text:     "excluded by {name}{(rule)}",
		nodes:    [2]string{"is excluded by {name}{(rule)}", "are excluded by {name}{(rule)}"},
		advise:   affinityAdvice,
	},
	{
		kind: UnfitVolumeNode, isAboutClaim: true,
		patterns: re(`(?i)volume.*(?:zone|affinity|conflict)|\bpv "[^"]+" node affinity`),
		text:     "volume node affinity{(claim)}",
		nodes:    [2]string{"cannot use its volume{(claim)}", "cannot use its volume{(claim)}"},
		advise:   volumeNodeAdvice,
	},
	{
		kind: UnfitNodeAffinity, yieldsTo: []UnfitKind{UnfitVolumeNode},
		patterns: re(`(?i)(?:^|match |enforced |'s )node ?(?:affinity|selector)|^pod affinity terms conflict`),
		text:     "node affinity/selector{(name)}",
		nodes:    [2]string{"does not match its {selector}", "do not match its {selector}"},
		advise:   selectorAdvice,
	},
	{
		kind:     UnfitNodeName,
		patterns: re(`(?i)requested (?:node name|hostname)|^host ?name$|^pod fits host$`),
		text:     "node name",
		nodes:    [2]string{"is not the node that it names", "are not the node that it names"},
		advice:   "{recreate} with a nodeName that exists, or without it",
	},
	{
		kind:     UnfitHostPort,
		patterns: re(`(?i)\b(?:host|free|pod) ports\b`),
		text:     "host port in use",
		nodes:    [2]string{"has its host port{ name} in use", "have its host port{ name} in use"},
		advise: func(u *Unfit, _ []Claim) string {
			if u.Holder != "" {
				return "{recreate} without hostPort, or with a lower parallelism: each node has the port only once, and pod " + u.Holder + " of the Job has it"
			}
			return "{recreate} without hostPort, or wait until the pod that has the port ends: each node has it only once"
		},
	},
	{
		kind:     UnfitVolumeCount,
		patterns: re(`(?i)max\b.*volume ?count|volume limit`),
		text:     "maximum number of volumes",
		nodes:    [2]string{"has as many volumes as it may", "have as many volumes as they may"},
		advise:   fullAdvice("wait until a volume is detached from node {pinned}, or ", "add nodes: these have as many volumes attached as they may"),
	},
	{
		kind: UnfitNoVolume, isAboutClaim: true,
		patterns: re(`available persistent volumes to bind|^volume binding no match$`),
		text:     "no PersistentVolume to bind{(claim)}",
		nodes:    [2]string{"has no PersistentVolume to bind{(claim)}", "have no PersistentVolume to bind{(claim)}"},
		advise:   unboundAdvice,
	},
	{
		kind: UnfitStorage, isAboutClaim: true,
		patterns: re(`enough free storage`),
		text:     "too little free storage{(claim)}",
		nodes:    [2]string{"has too little free storage for its volume{(claim)}", "have too little free storage for its volume{(claim)}"},
		advice:   "compare the size of {claim} with what its CSI driver reports for the nodes (kubectl get csistoragecapacities -A; a node without an entry counts as full): free storage there, or recreate the claim with a smaller size",
	},
	{
		kind: UnfitVolumeMissing, isAboutClaim: true,
		patterns: re(`^persistentvolumeclaim "([^"]+)" bound to non-existent`, `bound to non-existent|^persistentvolume "[^"]+" not found`),
		text:     "the PersistentVolume{(claim)} does not exist",
		advice:   "recreate {claim}, as the PersistentVolume that it is bound to does not exist anymore",
	},
	{
		kind:     UnfitClassMissing,
		patterns: re(`^storageclass\S* "([^"]+)" not found`),
		text:     "StorageClass {name} does not exist",
		advice:   "create StorageClass {name}, or recreate the claim with a StorageClass that exists",
	},
	{
		kind:     UnfitDriverMissing,
		patterns: re(`^(\S+) CSI driver is not installed`),
		text:     "CSI driver {name} is not installed",
		advice:   "install CSI driver {name} on the nodes, or keep the pod to nodes that have it",
	},
	{
		kind: UnfitClaimPending, isAboutClaim: true,
		patterns: re(`waiting for ephemeral volume controller to create the persistentvolumeclaim "([^"]+)"`),
		text:     "{claim} of its ephemeral volume is not created yet",
		advice:   "wait; if it lasts, the events of the pod say why kube-controller-manager cannot create the claim, such as a quota",
	},
	{
		kind: UnfitClaimMissing, isAboutClaim: true, yieldsTo: []UnfitKind{UnfitClaimPending},
		patterns: re(`(?i)persistentvolumeclaim "([^"]+)" not found`, `(?i)(?:create the |could not find \S*)persistentvolumeclaim "(?:[^"/]+/)?([^"]+)"`),
		text:     "{claim} does not exist",
		advice:   "create claim {name}{?, and the pod is scheduled automatically}; otherwise {recreate} with the name of a claim that exists, or without the volume",
	},
	{
		kind: UnfitClaimDeleted, isAboutClaim: true,
		patterns: re(`(?i)persistentvolumeclaim "([^"]+)" is being deleted`),
		text:     "{claim} is being deleted",
		advice:   "recreate the claim once it is gone, and the Job with it",
	},
	{
		kind: UnfitClaimUnbound, isAboutClaim: true,
		yieldsTo: []UnfitKind{UnfitVolumeNode, UnfitNoVolume, UnfitStorage, UnfitVolumeMissing, UnfitClassMissing, UnfitClaimPending, UnfitClaimMissing, UnfitClaimDeleted, UnfitClaimInUse},
		patterns: re(`\bPVC "([^"]+)"`, `(?i)persistent ?volume ?claim|\bbinding volumes\b`),
		text:     "{claim} is not bound{(warning)}",
		advise:   unboundAdvice,
	},
	{
		kind: UnfitClaimInUse, isAboutClaim: true,
		patterns: re(`ReadWriteOncePod`),
		text:     "{claim} is in use by another pod (ReadWriteOncePod)",
		advice:   "wait until the other pod ends, or use a claim with another access mode than ReadWriteOncePod",
	},
	{
		kind: UnfitDevices, yieldsTo: []UnfitKind{UnfitDeviceClaim, UnfitDevicesBusy},
		patterns: re(`(?i)resource ?claim|cannot allocate all claims`),
		advice:   "compare the ResourceClaims of the pod with the devices of the nodes (ResourceSlices)",
	},
	{
		kind:     UnfitDevicesBusy,
		patterns: re(`^cannot allocate all claims$`),
		text:     "no devices for its ResourceClaims",
		nodes:    [2]string{"has no free devices for its ResourceClaims", "have no free devices for its ResourceClaims"},
		advice:   "free devices, or add a node that offers them: compare what the ResourceClaims of the pod ask for (class, selectors, count) with the ResourceSlices of the nodes (kubectl get resourceslices); without any, check the DRA driver on the nodes",
	},
	{
		kind:     UnfitDeviceClass,
		patterns: re(`device class (\S+) does not exist`),
		text:     "DeviceClass {name} does not exist",
		advice:   "install the DRA driver that brings DeviceClass {name}, or correct deviceClassName in the ResourceClaim or its template",
	},
	{
		kind:     UnfitDeviceClaim,
		patterns: re(`(?i)^resourceclaim\S* "([^"]+)" not found`),
		text:     "ResourceClaim {name} does not exist",
		advice:   "create ResourceClaim {name}{?, and the pod is scheduled automatically}; otherwise {recreate} with the name of one that exists",
	},
	{
		kind:     UnfitNoNodes,
		patterns: re(`^no nodes available to schedule pods`),
		text:     "the cluster has no nodes",
		advice:   "find out why no node has joined the cluster, in the log of the kubelet (of k3s or rke2-server) on the machine that should: its name, its token, its cloud provider; or add a node",
	},
	{
		kind:     UnfitGang,
		patterns: re(`^pod group is not ready, (.+)`, `tasks in gang unschedulable: (?:pod group is not ready, )?(.+)`, `plugin "Coscheduling": (.+)`, `cannot find enough sibling pods, (.+)`, `at prefilter: (less than minAvailable)`, `pod with pgName: \S+ (last failed in .+), deny`),
		text:     "its PodGroup cannot start as a whole ({name})",
		advice:   "make room for all pods of the PodGroup at once, have at least minMember of them created (minAvailable of Volcano; parallelism of the Job), or lower minMember: they only start together",
	},
	{
		kind:     UnfitFargate,
		patterns: re(`^Pod not supported on Fargate: (.+)`),
		text:     "on Fargate, {name}",
		advice:   "{recreate} without what Fargate does not support, or change the namespace and labels of the pods so that no Fargate profile selects them, and they run on nodes",
	},
	{
		kind:     UnfitFargateFull,
		patterns: re(`^Fargate capacity is unavailable`),
		text:     "Fargate has no capacity for it at this time",
		advice:   "wait, or {recreate}, which tries again; a Fargate profile with subnets in more availability zones has more capacity",
	},
}

const spread = "{recreate} with other topologySpreadConstraints (a larger maxSkew, or whenUnsatisfiable ScheduleAnyway), or add nodes in the domains that lack pods"

const uncordon = "uncordon a node (kubectl uncordon), or wait until its maintenance is over"

func (r *unfitRow) matches(message string) bool {
	return slices.ContainsFunc(r.patterns, func(p *lazyregexp.Regexp) bool { return p.MatchString(message) })
}

func (u *Unfit) row() *unfitRow {
	return cmp.Or(lists.First(unfits, func(r *unfitRow) bool { return r.kind == u.Kind }), &unfitRow{})
}

// IsAboutClaim reports whether the reason is about a claim of the pod, or its volume.
func (u *Unfit) IsAboutClaim() bool { return u.row().isAboutClaim }

// Text returns the reason without its number of nodes; claims belong to the pod.
func (u *Unfit) Text(claims []Claim) string {
	if text := u.row().text; text != "" {
		return u.fill(text, claims)
	}
	return wording.Quoted(wording.Shorten(u.Message, maxMessage))
}

// Brief returns the reason after its number of nodes: "3 Insufficient cpu".
func (u *Unfit) Brief(claims []Claim) string {
	if u.Nodes == 0 {
		return u.Text(claims)
	}
	return wording.Thousands(u.Nodes) + " " + u.Text(claims)
}

// Advice returns advice on the reason, or ""; claims belong to the pod.
func (u *Unfit) Advice(claims []Claim) string {
	r := u.row()
	switch {
	case u.Kind == UnfitClaimMissing && u.Holder != "": // It has been deleted while the Job ran.
		return u.fill("restore claim {name} with its data, which a new one would not have, as pod {holder} of the Job had it; or delete this Job, if what it worked on is gone", claims)
	case r.advise == nil:
		return u.fill(r.advice, claims)
	}
	return r.advise(u, claims)
}

// maxMessage is the maximum number of characters of a message in a sentence of its own.
const maxMessage = 160

// fill replaces the names in braces in a template.
func (u *Unfit) fill(template string, claims []Claim) string {
	if !strings.Contains(template, "{") {
		return template
	}
	var names []string
	warning := ""
	for i := range claims {
		names = append(names, claims[i].Name)
		if claims[i].Name == u.Name {
			warning = claims[i].why()
		}
	}
	claim, inClaim, taint, selector := "a PersistentVolumeClaim of the pod"+wording.InBrackets(wording.Enumerate(names, "or")), "", "", "node affinity or selector"
	if u.Name != "" {
		claim, inClaim, taint = "claim "+u.Name, " (claim "+u.Name+")", " {"+u.Name+"}"
		selector = "nodeSelector (" + u.Name + ")"
	} else if u.Rule != "" {
		selector = "node affinity (" + u.Rule + ")"
	}
	return wording.Insert(template, "{pinned}", u.Pinned, "{holder}", u.Holder, "{name}", u.Name, "{(rule)}", wording.InBrackets(u.Rule), "{ name}", spaced(u.Name), "{(name)}", wording.InBrackets(u.Name), "{taint}", taint, "{selector}", selector, "{claim}", claim, "{(claim)}", inClaim, "{(warning)}", warning)
}

// assigned is the scheduler's message about a pod that it has assigned to a node.
var assigned = lazyregexp.New(`^Successfully assigned \S+ to (\S+)$`)

// AssignedNode returns the node that an event says its pod was assigned to, "" for other events.
func AssignedNode(reason, message string) string {
	if reason != "Scheduled" {
		return ""
	}
	return assigned.Group(message)
}
