package kueue

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// HoldKind is the kind of reason why Kueue does not admit a Job.
type HoldKind string

// The kinds.
const (
	QuotaInUse       HoldKind = "QuotaInUse"           // other Jobs use the quota
	Preempting       HoldKind = "Preempting"           // other Jobs use the quota, and Kueue preempts them
	QuotaTooSmall    HoldKind = "QuotaTooSmall"        // the Job requests more than the whole quota
	NoResource       HoldKind = "NoResource"           // the ClusterQueue has no quota of a resource
	BorrowingLimit   HoldKind = "BorrowingLimit"       // the borrowing limit of the ClusterQueue in its cohort
	NoQueue          HoldKind = "NoQueue"              // the Job names no LocalQueue, and Kueue manages it all the same
	QueueMissing     HoldKind = "QueueMissing"         // the LocalQueue or the ClusterQueue does not exist
	QueueStopped     HoldKind = "QueueStopped"         // the LocalQueue or the ClusterQueue is stopped
	QueueInactive    HoldKind = "QueueInactive"        // the LocalQueue or the ClusterQueue is inactive
	NoDomains        HoldKind = "NoDomains"            // no node has the labels of the topology
	TopologyFull     HoldKind = "TopologyFull"         // the nodes of the topology have no room for all pods
	TopologyMismatch HoldKind = "TopologyMismatch"     // the flavor lacks the topology level of the annotation
	TopologyRequired HoldKind = "TopologyRequired"     // the flavor takes only pods with such annotations
	PodsNotReady     HoldKind = "PodsNotReady"         // pods of other Jobs are not ready yet
	Deactivated      HoldKind = "Deactivated"          // spec.active of the Workload is false
	UntoleratedTaint HoldKind = "UntoleratedTaint"     // the pods do not tolerate a taint of the flavor
	NotSelected      HoldKind = "NamespaceNotSelected" // the ClusterQueue does not select the namespace
	FlavorMismatch   HoldKind = "FlavorMismatch"       // the pods may not run on the nodes of the flavor
	FlavorMissing    HoldKind = "FlavorMissing"        // the ResourceFlavor does not exist
	InvalidRequests  HoldKind = "InvalidRequests"      // the requests exceed the limits, or a LimitRange
	NotResumed       HoldKind = "NotResumed"           // Kueue has admitted the Workload, and the Job is suspended all the same
	Evicted          HoldKind = "Evicted"              // Kueue has evicted the Workload, and queues it again
	NotRequeued      HoldKind = "NotRequeued"          // Kueue has evicted the Workload, which still has its quota
	AdmissionChecks  HoldKind = "AdmissionChecks"      // quota is reserved, but admission checks are not ready
	FailedChecks     HoldKind = "FailedChecks"         // an admission check gave the quota back
	Other            HoldKind = "Other"                // another reason, see Message
)

// Hold is the reason why Kueue does not admit a Job, from the conditions of its Workload.
type Hold struct {
	Kind     HoldKind `json:"kind"`
	Workload string   `json:"workload"`
	// Resource and Flavor identify the quota. Missing is the additional amount needed (QuotaInUse), and Most the maximum
	// available (QuotaTooSmall), as Kueue writes them; "" if it does not. For NoDomains, Resource is the label of the nodes.
	Resource string `json:"resource,omitempty"`
	Flavor   string `json:"flavor,omitempty"`
	Missing  string `json:"missing,omitempty"`
	Most     string `json:"most,omitempty"`
	// Also are the other resources that lack unused quota in the flavor (QuotaInUse). Others are the reasons against the other flavors.
	Also   []Shortage    `json:"also,omitempty"`
	Others []OtherFlavor `json:"others,omitempty"`
	// QueueKind is LocalQueue or ClusterQueue, and QueueName the name of the queue that is missing or stopped.
	QueueKind string `json:"queueKind,omitempty"`
	QueueName string `json:"queueName,omitempty"`
	// Taint is the taint that the pods do not tolerate: key=value:effect.
	Taint string `json:"taint,omitempty"`
	// Reason is the reason of the eviction, and Since the time of the eviction or admission.
	Reason string       `json:"reason,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`
	// Checks are the admission checks that are not ready. RequeueAt is when Kueue queues the Workload again after a check failed or an eviction.
	Checks    []AdmissionCheck `json:"checks,omitempty"`
	RequeueAt *metav1.Time     `json:"requeueAt,omitempty"`
	// Message is the message of the condition.
	Message string `json:"message,omitempty"`
}

// holdRow is one kind of reason.
type holdRow struct {
	kind    HoldKind
	pattern *regexp.Regexp // nil if the state of the Workload shows the reason
	// text is a sentence without a full stop, see Hold.Text; quotes is set if the message adds to it. other is a clause about one of several
	// flavors.
	text, advice, other string
	quotes              bool
}

const (
	suspended    = "Kueue keeps {it} suspended"
	askQueue     = "wait for other Jobs of its ClusterQueue or cohort to end, request less, or have the quota raised; the ClusterQueue shows what is in use, and its cohort"
	requestLess  = "waiting does not help: {recreate} with smaller requests or less parallelism, or have the quota of the ClusterQueue raised"
	readWorkload = "read the conditions and events of its Workload"
)

// holds are messages of Kueue in the condition QuotaReserved of a Workload. A message may contain several of them, one for
// each flavor or pod set: reasons that go away by waiting come first.
var holds = []holdRow{
	{
		kind:    Preempting,
		pattern: regexp.MustCompile(`insufficient unused quota(?: in cohort)? for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:, (?P<missing>\S+) more needed)?.*Pending the preemption of \d+ workload`),
		text:    suspended + " and preempts others for it: {queue} has too little unused quota for {shortages}",
		advice:  "wait until the pods of the preempted workloads have ended; if that takes long, find out which of them do not end",
	},
	{
		kind:    QuotaInUse,
		pattern: regexp.MustCompile(`insufficient unused quota(?: in cohort)? for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:, (?P<missing>\S+) more needed)?`),
		text:    suspended + ": {queue} has too little unused quota for {shortages}", advice: askQueue,
		other: "it has too little for {shortages}",
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
		text:    suspended + ": its pods do not tolerate the taint {taint} of flavor {flavor}",
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
		text:    suspended + ": its nodeSelector or affinity does not match the nodes of flavor {flavor}",
		advice:  "waiting does not help: {recreate} with a nodeSelector and affinity that match the nodeLabels of a flavor, or use a queue with another flavor",
		other:   "flavor {flavor} does not match its nodeSelector or affinity",
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
		pattern: regexp.MustCompile(`resources validation failed: |resources didn't satisfy LimitRange constraints: `),
		text:    suspended + ": its requests are not allowed",
		quotes:  true,
		advice:  "waiting does not help: {recreate} with requests that are not above its limits, and that the LimitRange of the namespace allows",
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
		advice:  "waiting does not help: change the label kueue.x-k8s.io/queue-name of the Job to one of the queues that exist, or have this one created",
	},
	{
		kind:    QueueStopped,
		pattern: regexp.MustCompile(`^(?:The )?(?P<queuekind>LocalQueue|ClusterQueue)(?: (?P<queuename>\S+))? is stopped`),
		text:    suspended + ": {kind and name} is stopped",
		advice:  "waiting does not help before the queue is started again: its conditions say why it is stopped",
	},
	{
		kind:    QueueInactive,
		pattern: regexp.MustCompile(`^(?:The )?(?P<queuekind>LocalQueue|ClusterQueue)(?: (?P<queuename>\S+))? is inactive`),
		text:    suspended + ": {kind and name} is inactive",
		advice:  "waiting does not help before the queue is active: its conditions name what it lacks, such as a ResourceFlavor, or who stopped it",
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
		advice: "wait until pods on the nodes of the topology end, or {recreate} with smaller requests; with the annotation kueue.x-k8s.io/podset-preferred-topology " +
			"in place of podset-required-topology, its pods need not fit into one domain",
		other: "topology {name} has room for {fit}",
	},
	{
		kind:    TopologyMismatch,
		pattern: regexp.MustCompile(`Flavor "(?P<flavor>[^"]+)" (?:does not support TopologyAwareScheduling|does not contain the requested level)|no requested topology level: (?P<resource>[^\s,;]+)`),
		text:    suspended + ": {topology} does not have {level} that its annotation asks for",
		advice: "waiting does not help: compare the annotations kueue.x-k8s.io/podset-required-topology and podset-preferred-topology of the pod template " +
			"with topologyName of the ResourceFlavor and the levels of that Topology",
		other: "{topology} does not have {level} that its annotation asks for",
	},
	{
		kind:    TopologyRequired,
		pattern: regexp.MustCompile(`Flavor "(?P<flavor>[^"]+)" supports only TopologyAwareScheduling`),
		text:    suspended + ": flavor {flavor} takes only pods that ask for a topology",
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
	{kind: Deactivated, text: "Kueue has deactivated {it} and does not try to start it again{(queue)}{: checks}", quotes: true, advice: readWorkload},
	{
		kind: AdmissionChecks, text: "Kueue has reserved quota for {it}{(queue)} and waits for {checks}",
		advice: "find out what the admission check waits for",
	},
	{
		kind: NotResumed, text: "Kueue admitted {it}{(queue)} {since}, and has not resumed it",
		advice: "find the reason in the log of Kueue's controller, which resumes a Job that it has admitted",
	},
	{
		kind: Evicted, text: "Kueue evicted {it}{(queue)} {since}{(reason)}", quotes: true,
		advice: "wait: Kueue queues it again by itself; the conditions and events of its Workload say more",
	},
	{
		kind: NotRequeued, text: "Kueue evicted {it}{(queue)} {since}{(reason)} and has not queued it again, though it holds its quota", quotes: true,
		advice: "make Kueue start over, which frees the quota: delete the Workload; the log of Kueue's controller may say why it does not",
	},
	{kind: Other, text: suspended + "{(queue)}", quotes: true, advice: readWorkload},
}

func (h *Hold) row() *holdRow {
	return cmp.Or(lists.First(holds, func(r *holdRow) bool { return r.kind == h.Kind }), &holds[len(holds)-1])
}

// Passes reports whether Kueue starts the Job when others have ended, without a change.
func (h *Hold) Passes() bool {
	return slices.Contains([]HoldKind{QuotaInUse, Preempting, BorrowingLimit, TopologyFull, PodsNotReady}, h.Kind)
}

// Requeues reports whether Kueue queues the Job again by itself.
func (h *Hold) Requeues() bool { return h.Kind == FailedChecks || h.Kind == Evicted }

const podsReadyTimeout = "PodsReadyTimeout"

// evictions are the meanings of the reasons of evictions.
var evictions = map[string]string{
	podsReadyTimeout: "its pods were not all ready in time", "Preempted": "another workload preempted it",
	"AdmissionCheck": "an admission check failed", "ClusterQueueStopped": "its ClusterQueue is stopped", "LocalQueueStopped": "its LocalQueue is stopped",
	"NodeFailures": "its nodes failed",
}

// Text explains why Kueue does not admit what the words name, a Job or its owner, in the queue, which may be "", and returns the part of the message to add.
func (h *Hold) Text(it, queue string, now time.Time) (text, message string) {
	named, inQueue := "its queue", ""
	if queue != "" {
		named, inQueue = "queue "+queue, " (queue "+queue+")"
	}
	row, since, checks := h.row(), "", checksText(h.Checks)
	if h.Since != nil {
		since = wording.Age(now.Sub(h.Since.Time)) + " ago"
	}
	if row.quotes && evictions[h.Reason] == "" {
		message = h.Message
	}
	return wording.Insert(h.fill(row.text), "{it}", it, "{since}", since, "{(reason)}", wording.InBrackets(wording.Join(": ", h.Reason, evictions[h.Reason])), "{queue}", named, "{(queue)}", inQueue,
		"{kind and name}", wording.Join(" ", h.QueueKind, h.QueueName), "{kind}", h.QueueKind, "{checks}", checks, "{: checks}", inColon(checks)), message
}

// Advice returns advice on the reason.
func (h *Hold) Advice() string {
	if h.Kind == Evicted && h.Reason == podsReadyTimeout {
		return "find out why its pods were not ready in time, or have the timeout (waitForPodsReady) in Kueue's configuration raised; Kueue queues it again by itself"
	}
	return h.fill(h.row().advice)
}

// maxText is the maximum length of a check's message in a sentence, in characters.
const maxText = 80

// inColon returns a text with a colon before it, "" for none.
func inColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// checksText returns "admission check provision (Pending: no nodes yet)".
func checksText(checks []AdmissionCheck) string {
	var all []string
	for _, c := range checks {
		message := strings.TrimPrefix(c.Message, "Retrying after failure: ") // Kueue adds this to the message of the check.
		all = append(all, c.Name+wording.InBrackets(wording.Join(": ", c.State, wording.Shorten(message, maxText))))
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return "admission check " + all[0]
	}
	return "admission checks " + wording.Enumerate(all, "and")
}

// HoldOf returns the reason why Kueue does not admit the Workload, nil if its conditions give none.
func HoldOf(w *Workload) *Hold {
	reserved, evicted := w.Condition("QuotaReserved"), w.Condition("Evicted")
	hold := &Hold{Workload: w.Name}
	if reserved != nil && reserved.Status != "True" {
		hold.Message = flat(reserved.Message)
	}
	switch {
	case w.Inactive:
		hold.Kind, hold.Checks = Deactivated, w.Checks
		if hold.Message == "" && evicted != nil {
			hold.Message = flat(evicted.Message)
		}
	case reserved != nil && reserved.Status == "True":
		return hold.withQuota(w, evicted)
	case hold.Message == "":
		return nil
	}
	if hold.Kind != "" {
		return hold
	}
	hold.readMessage()
	switch {
	case hold.Kind == FailedChecks && len(w.Checks) == 0:
		hold.Kind = Other
	case hold.Kind == FailedChecks:
		hold.Checks, hold.RequeueAt = w.Checks, w.RequeueAt
	case hold.Kind == Other && evicted != nil && evicted.Status == "True" && hold.Message == flat(evicted.Message):
		hold.Kind, hold.Reason, hold.Since, hold.RequeueAt = Evicted, evicted.Reason, &evicted.LastTransitionTime, w.RequeueAt
	}
	return hold
}

// withQuota returns the hold of a Workload that has its quota, nil if there is no reason.
func (h *Hold) withQuota(w *Workload, evicted *metav1.Condition) *Hold {
	admitted := w.Condition("Admitted")
	switch {
	case evicted != nil && evicted.Status == "True":
		h.Kind, h.Reason, h.Message, h.Since = NotRequeued, evicted.Reason, flat(evicted.Message), &evicted.LastTransitionTime
	case len(w.Checks) > 0:
		h.Kind, h.Checks = AdmissionChecks, w.Checks
	case admitted == nil || admitted.Status != "True" || admitted.LastTransitionTime.IsZero():
		return nil
	default:
		h.Kind, h.Since = NotResumed, &admitted.LastTransitionTime
	}
	return h
}

// readMessage sets the kind of the hold and its details from Kueue's message.
func (h *Hold) readMessage() {
	h.Kind = Other
	for i := range holds {
		if known := &holds[i]; known.pattern != nil && known.pattern.MatchString(h.Message) {
			h.read(known, known.pattern.FindStringSubmatch(h.Message))
			h.addShortages()
			h.addOthers()
			return
		}
	}
}

// read sets the kind and the details from a match of the row's pattern.
func (h *Hold) read(known *holdRow, match []string) {
	h.Kind = known.kind
	fields := map[string]*string{
		"resource": &h.Resource, "flavor": &h.Flavor, "missing": &h.Missing, "most": &h.Most, "queuekind": &h.QueueKind, "queuename": &h.QueueName, "taint": &h.Taint,
	}
	for i, name := range known.pattern.SubexpNames() {
		if field := fields[name]; field != nil && match[i] != "" {
			*field = strings.TrimRight(match[i], ".")
		}
	}
	if parts := strings.Fields(h.Taint); known.kind == UntoleratedTaint && len(parts) > 2 { // Kueue writes {key value effect time}.
		h.Taint = parts[0] + "=" + parts[1] + ":" + parts[2]
	}
}

// flat puts a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
