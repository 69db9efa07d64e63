package kueue

import "regexp"

// holdRow is one kind of reason.
type holdRow struct {
	kind    HoldKind
	pattern *regexp.Regexp // nil if the state of the Workload shows the reason
	// text is a sentence without a full stop, see Hold.Text; quotes is set if the message adds to it. other is a clause about one of several
	// flavors, which is also in the text if that is "".
	text, advice, other string
	quotes              bool
}

// unusedQuota matches what a flavor lacks: its resource, its name, and how much.
const unusedQuota = `insufficient unused quota(?: in cohort)? for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:, (?P<missing>\S+) more needed)?`

const (
	suspended      = "{holds}"
	askQueue       = "wait for other Jobs of its ClusterQueue or cohort to end, request less, or have the quota raised; the ClusterQueue shows what is in use, and its cohort"
	requestLess    = "waiting does not help: {recreate} with smaller requests or less parallelism, or have the quota of the ClusterQueue raised"
	awaitPreempted = "wait until the pods of the preempted workloads have ended; if that takes long, find out which of them do not end"
	useQueue       = "waiting does not help: change the label kueue.x-k8s.io/queue-name of the Job to one of the queues that exist, or have this one created"
	deactivated    = "Kueue does not start {it}{(queue)}, as its Workload is deactivated (spec.active: false)"
	compareAll     = "compare its requests with the quota of the ClusterQueue and its cohort, with nodeLabels and nodeTaints of its ResourceFlavors, and with the LimitRange of its namespace; or try another queue"
	stopPolicy     = "the spec.stopPolicy of the queue (Hold, HoldAndDrain) stops it until someone sets that to None"
)

// holds are messages of Kueue in the condition QuotaReserved of a Workload. A message may contain several of them, one for
// each flavor or pod set: reasons that go away by waiting come first.
var holds = []holdRow{
	{
		kind:    Preempting,
		pattern: regexp.MustCompile(unusedQuota + `.*Pending the preemption of \d+ workload`),
		text:    suspended + " and preempts others for it: {queue} has too little unused quota for {shortages}",
		advice:  awaitPreempted,
	},
	{
		kind:    QuotaInUse,
		pattern: regexp.MustCompile(unusedQuota),
		text:    suspended + ": {queue} has too little unused quota for {shortages}", advice: askQueue,
		other: "it has too little for {shortages}",
	},
	{
		kind:    SharedPreemption,
		pattern: regexp.MustCompile(`overlapping preemption targets`),
		text:    suspended + " until another workload has preempted those that it would preempt, too", advice: awaitPreempted,
	},
	{
		kind:    NoLongerFits,
		pattern: regexp.MustCompile(`no longer fits after processing another workload`),
		text:    suspended + ": it no longer fits into the quota of {queue} once Kueue has processed another workload, which comes first",
		advice:  "look for the workload of its cohort that comes first each time (kubectl get workloads.kueue.x-k8s.io -A), perhaps one that waits itself: have it admitted, make it smaller or delete it, give the ClusterQueue quota of its own, or move the Job to another queue (its label kueue.x-k8s.io/queue-name)",
	},
	{
		kind:    AdmissionGated,
		pattern: regexp.MustCompile(`^Admission is gated by: (?P<resource>\S+)`),
		text:    suspended + " until {resource} lets it in (annotation kueue.x-k8s.io/admission-gated-by)",
		advice:  "find out what {resource} waits for: it takes its name out of the annotation of the Job when Kueue may admit it",
	},
	{
		kind:    BorrowingLimit,
		pattern: regexp.MustCompile(`borrowing limit for (?P<resource>\S+) in flavor (?P<flavor>\S+) exceeded`),
		text:    suspended + ": {queue} may not borrow more quota for {resource} in flavor {flavor}", advice: askQueue,
		other: "it may not borrow more for {resource} in flavor {flavor}",
	},
	{
		kind:    QuotaTooSmall,
		pattern: regexp.MustCompile(`insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:.*?> maximum capacity(?: \((?P<most>[^\s)]+)\))?)?`),
		text:    suspended + ": it requests more {resource} than the quota of {queue} has in flavor {flavor}{(most)}", advice: requestLess,
		other: "flavor {flavor} has less {resource} in all than the Job requests{(most)}",
	},
	{
		kind:    NoResource,
		pattern: regexp.MustCompile(`resource (?P<resource>\S+) unavailable in ClusterQueue`),
		text:    suspended + ": the ClusterQueue of {queue} has no quota for {resource}",
		advice:  "waiting does not help: have {resource} added to the resourceGroups of the ClusterQueue, or {recreate} in a queue that has quota for it",
	},
	{
		kind:    UntoleratedTaint,
		pattern: regexp.MustCompile(`untolerated taint \{(?P<taint>[^}]+)\} in flavor (?P<flavor>[^\s,;]+)`),
		advice:  "waiting does not help: {recreate} with a toleration for {taint}, or use a queue with another flavor",
		other:   "its pods do not tolerate the taint {taint} of flavor {flavor}",
	},
	{
		kind:    NotSelected,
		pattern: regexp.MustCompile(`(?i)workload namespace doesn't match ClusterQueue selector`),
		text:    suspended + ": the namespaceSelector of the ClusterQueue of {queue} does not match its namespace",
		advice: "waiting does not help: have the namespaceSelector of the ClusterQueue changed (without one, it selects no namespace, and an empty one selects all), " +
			"or add the labels that it selects to the namespace",
	},
	{
		kind:    FlavorMismatch,
		pattern: regexp.MustCompile(`flavor (?P<flavor>[^\s,;]+) doesn't match node affinity`),
		text:    suspended + ": its {selector} does not match the nodes of flavor {flavor}",
		advice:  "waiting does not help: {recreate} with a nodeSelector and affinity that match the nodeLabels of a flavor, or use a queue with another flavor",
		other:   "flavor {flavor} does not match its {selector}",
	},
	{
		kind:    FlavorMissing,
		pattern: regexp.MustCompile(`flavor (?P<flavor>[^\s,;]+) not found`),
		text:    suspended + ": ResourceFlavor {flavor}, which the ClusterQueue of {queue} names, does not exist",
		advice:  "waiting does not help: have the ResourceFlavor created, or removed from the ClusterQueue",
		other:   "ResourceFlavor {flavor} does not exist",
	},
	{
		kind:    InvalidRequests,
		pattern: regexp.MustCompile(`resources validation failed: |resources didn't satisfy LimitRange constraints(?:: |$)`),
		text:    suspended + ": its requests are not allowed",
		quotes:  true,
		advice: "compare its requests with its limits, and with the LimitRange of its namespace, which may have been changed since; then {recreate} with requests " +
			"that both allow, as Kueue may not look at them again before that",
	},
	{
		kind:    NoQueue,
		pattern: regexp.MustCompile(`^LocalQueue (?:"" ?)?doesn't exist`),
		text:    suspended + ": it names no queue (label kueue.x-k8s.io/queue-name)",
		advice: "set the label kueue.x-k8s.io/queue-name of the Job, or of its owner, to a LocalQueue of its namespace; " +
			"or have the administrator of Kueue leave Jobs without that label alone (manageJobsWithoutQueueName, managedJobsNamespaceSelector)",
	},
	{
		kind:    QueueMissing,
		pattern: regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) (?:doesn't exist|not found)`),
		text:    suspended + ": {kind} {name} does not exist",
		advice:  useQueue,
	},
	{
		kind:    QueueGone,
		pattern: regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) is terminating or missing`),
		text:    suspended + ": {kind} {name} does not exist, or is being deleted",
		advice:  useQueue,
	},
	{
		kind:    QueueStopped,
		pattern: regexp.MustCompile(`^(?:The )?(?P<queuekind>LocalQueue|ClusterQueue)(?: (?P<queuename>\S+))? is stopped`),
		text:    suspended + ": {kind and name} is stopped",
		advice:  "waiting does not help before the queue is started again: " + stopPolicy,
	},
	{
		kind:    QueueInactive,
		pattern: regexp.MustCompile(`^(?:The )?(?P<queuekind>LocalQueue|ClusterQueue)(?: (?P<queuename>\S+))? is inactive`),
		text:    suspended + ": {kind and name} is inactive",
		advice:  "waiting does not help before the queue is active: its conditions name what it lacks, such as a ResourceFlavor, or say that it is stopped: " + stopPolicy,
	},
	{
		kind:    NoDomains,
		pattern: regexp.MustCompile(`no topology domains at level: (?P<resource>\S+)`),
		text:    suspended + ": its topology has no domains, as no node of its flavor has the label {resource}",
		advice:  "label the nodes that the ResourceFlavor selects with {resource}, or correct its Topology; nodes that are not ready do not count",
	},
	{
		kind:    TopologyFull,
		pattern: regexp.MustCompile(`topology "(?P<queuename>[^"]+)" (?:doesn't allow to fit any of|allows to fit only (?P<most>\d+) out of) (?P<missing>\d+) (?P<resource>pod|slice)\(s\)`),
		text:    suspended + ": topology {name} has room for {fit}{(excluded)}",
		advice:  "wait until pods on the nodes of the topology end, or {recreate} with smaller requests{roomier}",
		other:   "topology {name} has room for {fit}",
	},
	{
		kind:    TopologyMismatch,
		pattern: regexp.MustCompile(`Flavor "(?P<flavor>[^"]+)" (?:does not support TopologyAwareScheduling|does not contain the requested level)|no requested topology level(?: for [a-z ]+)?: (?P<resource>[^\s,;]+)`),
		advice: "waiting does not help: compare the annotations kueue.x-k8s.io/podset-required-topology and podset-preferred-topology of the pod template " +
			"with topologyName of the ResourceFlavor and the levels of that Topology",
		other: "{topology} does not have {level} that its annotation asks for",
	},
	{
		kind:    TopologyRequired,
		pattern: regexp.MustCompile(`Flavor "(?P<flavor>[^"]+)" supports only TopologyAwareScheduling`),
		advice:  "waiting does not help: {recreate} with the annotation kueue.x-k8s.io/podset-preferred-topology in the pod template, or use a queue with another flavor",
		other:   "flavor {flavor} takes only pods that ask for a topology",
	},
	{
		kind:    PodsNotReady,
		pattern: regexp.MustCompile(`(?i)waiting for all admitted workloads to be in (?:the )?PodsReady condition`),
		text:    suspended + " until the pods of all admitted workloads are ready (waitForPodsReady in its configuration)",
		advice:  "find the admitted workload whose pods are not ready, and what keeps them from starting; Kueue then admits the next one",
	},
	{
		kind:    FailedChecks,
		pattern: regexp.MustCompile(`failed admission checks?`),
		text:    suspended + ": {checks}",
		advice:  "resolve what the check reports, such as the maximum size of a node pool or a quota of the cloud, or use a queue with another flavor: Kueue tries again by itself",
	},
	{kind: Deactivated, text: "Kueue has deactivated {it} and does not try to start it again{(queue)}{: checks}", quotes: true, advice: "resolve the cause that its Workload names"},
	{
		kind: AdmissionChecks, text: "Kueue has reserved quota for {it}{(queue)} and waits for {checks}",
		advice: "find out what the admission check waits for: for nodes, its ProvisioningRequest in the namespace says so; for another cluster (MultiKueue), the queues there",
	},
	{kind: PodsUnplaced, text: suspended + "{(queue)}: it found {places}", advice: "{morePlaces}"},
	{kind: NotResumed, text: "Kueue admitted {it}{(queue)} {since}, and has not {released}", advice: "find the reason in the log of Kueue's controller (here as its manifests install it)"},
	{
		kind: Evicted, text: "Kueue evicted {it}{(queue)} {since}{(reason)}", quotes: true,
		advice: "wait: Kueue queues it again by itself; the conditions and events of its Workload say more",
	},
	{
		kind: NotRequeued, text: "Kueue evicted {it}{(queue)} {since}{(reason)} and has not queued it again, though it holds its quota", quotes: true,
		advice: "make Kueue start over, which frees the quota: delete the Workload; the log of Kueue's controller may say why it does not",
	},
	{
		kind: LeftEvicted, text: "Kueue evicted {it}{(queue)} {since}{(reason)} and has not queued it again", quotes: true,
		advice: "unless others of its queue come first, make Kueue start over: delete the Workload, which Kueue creates again; the log of its controller, or of that of an admission check, may say why it does not queue it",
	},
	{kind: Other, text: suspended + "{(queue)}", quotes: true, advice: compareAll},
}
