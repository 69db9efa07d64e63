package kueue

import (
	"cmp"
	"fmt"
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
	SharedPreemption HoldKind = "SharedPreemption"     // another workload preempts those that it would preempt
	NoLongerFits     HoldKind = "NoLongerFits"         // others took the quota in the same round
	AdmissionGated   HoldKind = "AdmissionGated"       // an annotation names a controller that has to let it in
	BorrowingLimit   HoldKind = "BorrowingLimit"       // the borrowing limit of the ClusterQueue in its cohort
	NoQueue          HoldKind = "NoQueue"              // the Job names no LocalQueue, and Kueue manages it all the same
	QueueMissing     HoldKind = "QueueMissing"         // the LocalQueue or the ClusterQueue does not exist
	QueueGone        HoldKind = "QueueGone"            // the LocalQueue or the ClusterQueue does not exist, or is being deleted
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
	PodsUnplaced     HoldKind = "PodsUnplaced"         // Kueue has admitted the Workload with places for only some of its pods
	NotResumed       HoldKind = "NotResumed"           // Kueue has admitted the Workload, and the Job is suspended all the same
	Evicted          HoldKind = "Evicted"              // Kueue has evicted the Workload, and queues it again
	NotRequeued      HoldKind = "NotRequeued"          // Kueue has evicted the Workload, which still has its quota
	LeftEvicted      HoldKind = "LeftEvicted"          // Kueue has evicted the Workload long ago, and has not queued it again
	AdmissionChecks  HoldKind = "AdmissionChecks"      // quota is reserved, but admission checks are not ready
	FailedChecks     HoldKind = "FailedChecks"         // an admission check gave the quota back
	Other            HoldKind = "Other"                // another reason, see Message
)

// Hold is the reason why Kueue does not admit a Job, from the conditions of its Workload.
type Hold struct {
	FlavorReason
	Workload string `json:"workload"`
	// Others are the reasons against the other flavors.
	Others []FlavorReason `json:"others,omitempty"`
	// QueueKind is LocalQueue or ClusterQueue, and QueueName the name of the queue that is missing or stopped.
	QueueKind string `json:"queueKind,omitempty"`
	QueueName string `json:"queueName,omitempty"`
	// PodSet is the only pod set that the message is about, "" if the Workload has no other.
	PodSet string `json:"podSet,omitempty"`
	// Reason is the reason of the eviction, and Since the time of the condition: of the eviction, of the admission, or since which no quota
	// is reserved.
	Reason string       `json:"reason,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`
	// MaxSeconds is the maximum execution time of a Workload that was deactivated because of it, nil for others.
	MaxSeconds *int64 `json:"maxSeconds,omitempty"`
	// Selector is the nodeSelector of the pods, "" if they have none, or an affinity, too. Gated is the number of pods that a scheduling gate
	// of Kueue holds, 0 for a suspended Job, and GatedOf that of all active pods, 0 if they are the same.
	Selector string `json:"selector,omitempty"`
	Gated    int32  `json:"gated,omitempty"`
	GatedOf  int32  `json:"gatedOf,omitempty"`
	// Topology has the places of the pods (PodsUnplaced), nil for others.
	Topology *Topology `json:"topology,omitempty"`
	// Checks are the admission checks that are not ready. RequeueAt is when Kueue queues the Workload again after a check failed or an eviction.
	Checks    []AdmissionCheck `json:"checks,omitempty"`
	RequeueAt *metav1.Time     `json:"requeueAt,omitempty"`
	// Message is the message of the condition.
	Message string `json:"message,omitempty"`
}

func (h *Hold) row() *holdRow {
	return cmp.Or(lists.First(holds, func(r *holdRow) bool { return r.kind == h.Kind }), &holds[len(holds)-1])
}

// Passes reports whether Kueue starts the Job when others have ended, without a change.
func (h *Hold) Passes() bool {
	return slices.Contains([]HoldKind{QuotaInUse, Preempting, SharedPreemption, NoLongerFits, BorrowingLimit, TopologyFull, PodsNotReady}, h.Kind)
}

// Requeues reports whether Kueue queues the Job again by itself.
func (h *Hold) Requeues() bool { return h.Kind == FailedChecks || h.Kind == Evicted }

// HoldPods sets that a scheduling gate of Kueue holds gated of the active pods of the Workload.
func (h *Hold) HoldPods(w *Workload, gated, active int32) {
	if h.Gated = gated; gated < active {
		h.GatedOf = active
	}
	if t := w.Topology; h.Kind == NotResumed && t != nil && t.Placed < t.Count {
		h.Kind, h.Topology = PodsUnplaced, t
	}
}

const podsReadyTimeout = "PodsReadyTimeout"

// evictions are the meanings of the reasons of evictions.
var evictions = map[string]string{
	podsReadyTimeout: "its pods were not all ready in time", "Preempted": "another workload preempted it",
	admissionCheck: "an admission check failed", "ClusterQueueStopped": "its ClusterQueue is stopped", "LocalQueueStopped": "its LocalQueue is stopped",
	"NodeFailures": "its nodes failed",
}

// requeues are the advice on the reasons of evictions after which Kueue queues the Workload again.
var requeues = map[string]string{
	admissionCheck:        "resolve what the admission check reports, such as the maximum size of a node pool; Kueue queues it again by itself",
	"ClusterQueueStopped": stopPolicy + "; Kueue then queues it again by itself",
	"LocalQueueStopped":   stopPolicy + "; Kueue then queues it again by itself",
	podsReadyTimeout:      "find out why its pods were not ready in time, or have the timeout (waitForPodsReady) in Kueue's configuration raised; Kueue queues it again by itself",
	"Preempted":           "wait: Kueue queues it again by itself; a WorkloadPriorityClass (label kueue.x-k8s.io/priority-class of the Job) with a higher value keeps others from preempting it",
}

// admissionCheck is the reason of an eviction after an admission check has failed.
const admissionCheck = "AdmissionCheck"

// maxTimeExceeded is the end of the reason of a deactivation, and byHand the reason of one that is not Kueue's.
const (
	maxTimeExceeded = "MaximumExecutionTimeExceeded"
	byHand          = "Deactivated"
)

// deactivations are the advice on the reasons of deactivations, by the end of their names.
var deactivations = map[string]string{
	"RequeuingLimitExceeded": "find out why its pods were not ready in time, time and again, such as an image or a node; or have requeuingStrategy.backoffLimitCount in Kueue's configuration raised",
	maxTimeExceeded:          "set a longer time in the label kueue.x-k8s.io/max-exec-time-seconds, which Kueue accepts while the Job is suspended; it then starts over",
	"AdmissionCheck":         "resolve what the admission check reports, or use a queue without it",
	byHand:                   "find out who set spec.active of its Workload to false, and why: Kueue itself gives a reason when it does (--show-managed-fields)",
}

// Text explains why Kueue does not admit what the words name, a Job or its owner, in the queue, which may be "", and returns the part of the message to add.
func (h *Hold) Text(it, queue string, now time.Time) (text, message string) {
	named, inQueue := "its queue", ""
	if queue != "" {
		named, inQueue = "queue "+queue, " (queue "+queue+")"
	}
	row, since, checks := h.row(), "", checksText(h.Checks)
	template := cmp.Or(row.text, suspended+": "+row.other)
	if h.Kind == Deactivated && h.Reason == byHand {
		template = deactivated
	}
	if h.MaxSeconds != nil {
		checks = "it ran longer than its maximum execution time, " + wording.Seconds(*h.MaxSeconds)
	}
	why := wording.InBrackets(cmp.Or(checks, wording.Join(": ", h.Reason, evictions[h.Reason])))
	if h.Kind == LeftEvicted && checks != "" {
		why = " for " + checks
	}
	if h.Since != nil {
		since = wording.Age(now.Sub(h.Since.Time)) + " ago"
	}
	holds, released := "Kueue keeps "+it+" suspended", "resumed it"
	if h.Gated > 0 {
		holds, released = "Kueue keeps "+wording.Plural(h.Gated, "pod", "pods")+" waiting", "removed the scheduling gate of its pods"
	}
	if h.GatedOf > 0 {
		released = "removed the scheduling gate of " + fmt.Sprint(h.Gated) + " of its " + wording.Plural(h.GatedOf, "pod", "pods")
	}
	if row.quotes && evictions[h.Reason] == "" && checks == "" && h.Message != "The workload is deactivated" {
		message = h.Message
	}
	if h.PodSet != "" {
		template += ", for its pod set " + h.PodSet
	}
	return wording.Insert(h.fill(template), "{holds}", holds, "{released}", released, "{it}", it, "{since}", since, "{(reason)}", why, "{queue}", named, "{(queue)}", inQueue,
		"{kind and name}", wording.Join(" ", h.QueueKind, h.QueueName), "{kind}", h.QueueKind, "{checks}", checks, "{: checks}", inColon(checks)), message
}

// Advice returns advice on the reason.
func (h *Hold) Advice() string {
	if advice := requeues[h.Reason]; h.Kind == Evicted && advice != "" {
		return advice
	}
	for reason, advice := range deactivations {
		if h.Kind == Deactivated && strings.HasSuffix(cmp.Or(h.Reason, byHand), reason) {
			return advice
		}
	}
	isMismatch := func(o *FlavorReason) bool { return o.Kind == FlavorMismatch }
	if other := lists.First(h.Others, isMismatch); other != nil && (h.Kind == QuotaTooSmall || h.Kind == NoResource) {
		wrote := ""
		if h.Gated > 0 { // A Job that Kueue suspends has its own again.
			wrote = " (Kueue writes that of a flavor into a Job that it admits)"
		}
		return wording.Insert(h.fill(unselect), "{(wrote)}", wrote, "{other}", other.Flavor)
	}
	return h.fill(h.row().advice)
}

// unselect is the advice on pods that may not run on the nodes of another flavor.
const unselect = "waiting does not help: {recreate} without the {selector}{(wrote)}, which keeps its pods from flavor {other}, or with smaller requests; or have the quota raised"

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

// podSet matches a pod set in Kueue's message, which may name several.
var podSet = regexp.MustCompile(`pod set ([^\s:]+): `)

// leftAfter is the time after which Kueue has usually tried to admit a Workload again that it has evicted.
const leftAfter = 30 * time.Minute

// isLeft reports whether Kueue should have queued the Workload again that it has evicted: that is long ago, and no check that wants a retry, and
// no stopped queue, keeps it from that.
func (w *Workload) isLeft(evicted *metav1.Condition, now time.Time) bool {
	wantsRetry := func(c AdmissionCheck) bool { return c.State == "Retry" }
	return isTrue(evicted) && !strings.HasSuffix(evicted.Reason, "Stopped") && now.Sub(evicted.LastTransitionTime.Time) >= leftAfter &&
		(w.RequeueAt == nil || now.Sub(w.RequeueAt.Time) >= leftAfter) && !isTrue(w.Condition("Requeued")) && !slices.ContainsFunc(w.Checks, wantsRetry)
}

func isTrue(c *metav1.Condition) bool { return c != nil && c.Status == "True" }

// HoldOf returns the reason why Kueue does not admit the Workload, nil if its conditions give none, or if it is nil.
func HoldOf(w *Workload, now time.Time) *Hold {
	if w == nil {
		return nil
	}
	reserved, evicted := w.Condition("QuotaReserved"), w.Condition("Evicted")
	hold := &Hold{Workload: w.Name}
	if reserved != nil && reserved.Status != "True" {
		hold.Message = flat(reserved.Message)
	}
	switch {
	case w.Inactive:
		hold.deactivate(w, evicted)
	case isTrue(reserved):
		return hold.withQuota(w, evicted)
	case hold.Message == "":
		return nil
	}
	if hold.Kind != "" {
		return hold
	}
	if !reserved.LastTransitionTime.IsZero() {
		hold.Since = &reserved.LastTransitionTime
	}
	hold.readMessage()
	if sets := podSet.FindAllStringSubmatch(hold.Message, -1); w.PodSets > 1 && len(sets) == 1 {
		hold.PodSet = sets[0][1]
	}
	hold.readEviction(w, evicted, now)
	return hold
}

// readEviction sets what the eviction says, if it is the reason.
func (h *Hold) readEviction(w *Workload, evicted *metav1.Condition, now time.Time) {
	isReason := h.Kind == Other && isTrue(evicted) && h.Message == flat(evicted.Message)
	switch {
	case (isReason || h.Kind == FailedChecks) && w.isLeft(evicted, now):
		h.evict(LeftEvicted, w, evicted)
	case h.Kind == FailedChecks && len(w.Checks) == 0:
		h.Kind = Other
	case h.Kind == FailedChecks:
		h.Checks, h.RequeueAt = w.Checks, w.RequeueAt
	case isReason:
		h.evict(Evicted, w, evicted)
	}
}

// deactivate sets that Kueue does not try to admit the Workload.
func (h *Hold) deactivate(w *Workload, evicted *metav1.Condition) {
	h.Kind, h.Checks = Deactivated, w.Checks
	if evicted != nil {
		h.Reason, h.Message = evicted.Reason, cmp.Or(h.Message, flat(evicted.Message))
	}
	if strings.HasSuffix(h.Reason, maxTimeExceeded) {
		h.MaxSeconds = w.MaxSeconds
	}
}

// evict sets that Kueue has evicted the Workload, and queues it again, or should have.
func (h *Hold) evict(kind HoldKind, w *Workload, evicted *metav1.Condition) {
	h.Kind, h.Reason, h.Since, h.RequeueAt = kind, evicted.Reason, &evicted.LastTransitionTime, w.RequeueAt
	if h.Reason == admissionCheck {
		h.Checks = w.Checks
	}
}

// withQuota returns the hold of a Workload that has its quota, nil if there is no reason.
func (h *Hold) withQuota(w *Workload, evicted *metav1.Condition) *Hold {
	admitted := w.Condition("Admitted")
	switch {
	case isTrue(evicted):
		h.Kind, h.Reason, h.Message, h.Since = NotRequeued, evicted.Reason, flat(evicted.Message), &evicted.LastTransitionTime
	case len(w.Checks) > 0:
		h.Kind, h.Checks = AdmissionChecks, w.Checks
	case !isTrue(admitted) || admitted.LastTransitionTime.IsZero():
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
