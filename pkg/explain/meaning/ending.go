package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Ending is the reason for the end of a pod from outside its containers, according to the pod's own status or an event about
// it. It is comparable: details that differ between pods are in the message beside it.
type Ending struct {
	Kind EndKind `json:"kind"`
	// By is the component that ended the pod, such as "karpenter"; "" if it is unknown.
	By string `json:"by,omitempty"`
	// Reason is the reason of the pod's status, of its condition DisruptionTarget, or else of the event.
	Reason string `json:"reason,omitempty"`
	// Container is the container whose Probe or postStart hook failed.
	Container string `json:"container,omitempty"`
	// Probe is liveness or startup.
	Probe string `json:"probe,omitempty"`
}

// EndKind is the kind of reason for the end of a pod from outside its containers.
type EndKind string

// The kinds.
const (
	EndProbe        EndKind = "ProbeFailed"   // the kubelet killed a container that failed its liveness or startup probe
	EndPostStart    EndKind = "PostStartHook" // the kubelet killed a container whose postStart hook failed
	EndRejected     EndKind = "Rejected"      // the kubelet did not admit the pod to its node
	EndEvicted      EndKind = "Evicted"       // by the kubelet, an autoscaler, or the Eviction API
	EndPreempted    EndKind = "Preempted"     // by the scheduler or the kubelet, for a pod with a higher priority
	EndTaint        EndKind = "Taint"         // a NoExecute taint of the node
	EndNodeGone     EndKind = "NodeGone"      // the node no longer exists
	EndNodeShutdown EndKind = "NodeShutdown"  // the node shut down
	EndPodDeadline  EndKind = "PodDeadline"   // activeDeadlineSeconds of the pod itself
	EndDisrupted    EndKind = "Disrupted"     // another reason of the condition DisruptionTarget
	EndMarked       EndKind = "Marked"        // a condition of another controller, such as Kueue
)

// Components that end pods.
const (
	ByKubelet           = "kubelet"
	ByScheduler         = "scheduler"
	ByKarpenter         = "karpenter"
	ByClusterAutoscaler = "cluster-autoscaler"
	ByDescheduler       = "descheduler"
	ByKueue             = "kueue"
)

// unplaceable is the reason with which Kueue ends a pod that the node of its topology assignment cannot take.
const unplaceable = "UnschedulableOnAssignedNode"

// RepairPlace is advice on pods whose nodes Kueue has chosen.
const RepairPlace = "make the node that Kueue has chosen for the pod take it (repair it, or have the pods tolerate its taint), or have Kueue place the pods again: delete its Workload, which ends all pods of the Job"

// endRow is one kind of end, or the part of it that one component causes.
type endRow struct {
	kind EndKind
	by   string // "" for all components
	// events are the events that report the end.
	events []endEvent
	// complete reports whether the text needs no quotation of the message.
	complete bool
	// isDisruption reports whether the pod gets the condition DisruptionTarget, on which a podFailurePolicy can decide.
	isDisruption bool
	// brief is for a column. text begins a sentence.
	brief, text string
	// keep is the annotation that keeps the component from ending pods, "" if there is none, and kept its former name.
	keep, kept string
	// advice is nil if nothing in the Job's manifest prevents such an end.
	advice func(e *Ending, message string) string
}

// endEvent matches an event about a pod.
type endEvent struct {
	// source is the beginning of its source, "" for any. reason is "" for any.
	source, reason string
	// message may have the groups container, probe and detail, the message to keep; nil for any message, which is kept.
	message *lazyregexp.Regexp
}

// endings are the ends of pods. A row without by is for the components that no other row of the kind names.
var endings = []endRow{
	{
		kind: EndProbe, by: ByKubelet,
		events: []endEvent{{"", "Killing", lazyregexp.New(`^Container (?P<container>\S+) failed (?P<probe>liveness|startup) probe$`)}},
		brief:  "{probe} probe failed", text: "Container {container} was killed because its {probe} probe failed",
		advice: probeAdvice,
	},
	{
		kind: EndPostStart, by: ByKubelet,
		events: []endEvent{
			{"", "Killing", lazyregexp.New(`^FailedPostStartHook$`)},
			// Kubelets before 1.27 name the container in the message.
			{"", failedPostStart, lazyregexp.New(`(?s)^(?:PostStartHook failed)?(?P<detail>(?:.*?for Container "(?P<container>[^"]+)" in Pod)?.*)$`)},
		},
		brief: "postStart hook failed", text: "Container {container} was killed because its postStart hook failed",
		advice: func(e *Ending, _ string) string { return FixPostStartHook(e.Container) },
	},
	{
		kind: EndRejected, by: ByKubelet, // see isRejection
		brief: "rejected: {reason}", text: "Pod was rejected by the kubelet ({reason}{why}) and never ran",
		advice: rejectionAdvice,
	},
	{
		kind: EndEvicted, by: ByKarpenter,
		events: []endEvent{
			{ByKarpenter, "Evicted", lazyregexp.New(`(?s)^(?:Evicted pod)?:?(?P<detail>.*)$`)},
			{ByKarpenter, "Disrupted", lazyregexp.New(`(?s)^(?:Evicted pod)?:?(?P<detail>.*)$`)},
		}, isDisruption: true,
		brief: "evicted", text: "Pod was evicted by Karpenter",
		keep: "karpenter.sh/do-not-disrupt", kept: "karpenter.sh/do-not-evict", // Until v0.32.
		advice: always(`to keep Karpenter from evicting its pods, add the annotation karpenter.sh/do-not-disrupt: "true" to the pod template`),
	},
	{
		kind: EndEvicted, by: ByClusterAutoscaler,
		events: []endEvent{{"", "ScaleDown", nil}}, isDisruption: true,
		brief: "evicted", text: "Pod was evicted by the cluster autoscaler",
		keep:   "cluster-autoscaler.kubernetes.io/safe-to-evict",
		advice: always(`to keep the cluster autoscaler from evicting its pods, add the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false" to the pod template`),
	},
	{
		kind: EndEvicted, by: ByKubelet,
		events: []endEvent{{ByKubelet, "Evicted", nil}},
		brief:  "evicted", text: "Pod was evicted by the kubelet",
		advice: func(_ *Ending, message string) string {
			return cmp.Or(diskLimitAdvice(message), evictionAdvice(message))
		},
	},
	{
		kind: EndEvicted, by: ByDescheduler,
		events: []endEvent{{"", "", lazyregexp.New(`(?s)^(?P<detail>.*by sigs\.k8s\.io/descheduler)$`)}}, isDisruption: true,
		brief: "evicted", text: "Pod was evicted by the descheduler",
	},
	{
		kind: EndEvicted, isDisruption: true,
		brief: "evicted", text: "Pod was evicted through the Eviction API",
	},
	{
		kind: EndPreempted, by: ByScheduler,
		events: []endEvent{{"", "Preempted", nil}}, complete: true, isDisruption: true,
		brief: "preempted", text: "Pod was preempted by the scheduler for a pod with a higher priority",
	},
	{
		kind: EndPreempted, by: ByKubelet,
		events: []endEvent{{"", "Preempting", nil}}, isDisruption: true,
		brief: "preempted", text: "Pod was preempted by the kubelet",
	},
	{
		kind:   EndTaint,
		events: []endEvent{{"", "TaintManagerEviction", lazyregexp.New(`^Marking for deletion`)}}, complete: true, isDisruption: true,
		brief: "evicted by a taint", text: "Pod was deleted because of a NoExecute taint on its node",
	},
	{
		kind: EndNodeGone, complete: true, isDisruption: true,
		brief: "node gone", text: "Pod was deleted because its node no longer exists",
	},
	{
		kind: EndNodeShutdown, complete: true, isDisruption: true,
		brief: "node shut down", text: "Pod was terminated because its node shut down",
	},
	{
		kind: EndPodDeadline, by: ByKubelet,
		events: []endEvent{{"", "DeadlineExceeded", nil}}, complete: true,
		brief: "pod deadline exceeded", text: "Pod ran longer than its own activeDeadlineSeconds",
	},
	{
		kind: EndDisrupted, by: ByKubelet, isDisruption: true,
		brief: "terminated by the kubelet", text: "Pod was terminated by the kubelet",
	},
	{
		kind: EndDisrupted, isDisruption: true,
		brief: "disrupted: {reason}", text: "Pod was disrupted ({reason})",
	},
	{
		kind: EndMarked, by: ByKueue,
		brief: "ended: {reason}", text: "Pod was ended by Kueue ({reason})",
		advice: func(e *Ending, _ string) string {
			if e.Reason == unplaceable {
				return RepairPlace
			}
			return ""
		},
	},
	{
		kind:  EndMarked,
		brief: "ended: {reason}", text: "Pod was ended ({reason})",
	},
}

const (
	// failedPostStart is the reason of the kubelet's warning about a postStart hook, and its message when it kills the container.
	failedPostStart = "FailedPostStartHook"
	// lowOnResource is the beginning of the kubelet's message about an eviction for lack of a resource.
	lowOnResource = "The node was low on resource"
)

// OfEnd returns the reason that an event gives for the end of its pod, and a message, which may be ""; nil if it gives none.
// container is the container that the event is about.
func OfEnd(source, reason, message, container string) (*Ending, string) {
	message = strings.TrimSpace(message)
	if source == ByKubelet && isRejection(reason, message) {
		return &Ending{Kind: EndRejected, By: ByKubelet, Reason: reason}, message
	}
	for i := range endings {
		for _, e := range endings[i].events {
			if e.matches(source, reason, message) {
				return endOf(&endings[i], e.message, reason, message, container)
			}
		}
	}
	return nil, ""
}

func (e *endEvent) matches(source, reason, message string) bool {
	return (e.reason == "" || e.reason == reason) && strings.HasPrefix(source, e.source) && (e.message == nil || e.message.MatchString(message))
}

func endOf(row *endRow, pattern *lazyregexp.Regexp, reason, message, container string) (*Ending, string) {
	end, detail := &Ending{Kind: row.kind, By: row.by, Reason: reason}, message
	if pattern != nil {
		detail = ""
		readGroups(pattern, message, map[string]*string{"container": &end.Container, "probe": &end.Probe, "detail": &detail})
		detail = strings.TrimSpace(detail)
	}
	switch end.Kind {
	case EndProbe:
		end.Reason = ""
	case EndPostStart:
		end.Reason, end.Container = failedPostStart, cmp.Or(end.Container, container)
	}
	return end, detail
}

// statusEnds maps reasons that the kubelet writes into the status of a pod that it ends.
var statusEnds = map[string]EndKind{
	"Evicted": EndEvicted, "Preempting": EndPreempted, "DeadlineExceeded": EndPodDeadline, "NodeShutdown": EndNodeShutdown, "Shutdown": EndNodeShutdown,
}

// OfStatus returns the end that the kubelet wrote into the status of a failed pod, and its message; the zero value if it wrote
// none. ran reports whether a container of the pod has started.
func OfStatus(reason, message string, ran bool) (Ending, string) {
	message = strings.TrimSpace(message)
	end := Ending{Kind: statusEnds[reason], By: ByKubelet, Reason: reason}
	switch {
	case reason != "" && !ran && isRejection(reason, message):
		end.Kind, message = EndRejected, strings.TrimPrefix(message, "Pod was rejected: ")
	case reason == "Terminated" && strings.Contains(message, "node shutdown"):
		end.Kind = EndNodeShutdown
	case end.Kind == "":
		return Ending{}, ""
	}
	return end, message
}

// OfCondition returns the end that a condition of another controller describes.
func OfCondition(kind, reason, message string) (Ending, string) {
	end := Ending{Kind: EndMarked, Reason: cmp.Or(reason, kind)}
	if strings.Contains(strings.ToLower(kind+message), ByKueue) {
		end.By = ByKueue
	}
	return end, strings.TrimSpace(message)
}

// OfDisruption returns the end that the reason and the message of the condition DisruptionTarget describe.
func OfDisruption(reason, message string) (Ending, string) {
	end, message := Ending{Reason: reason, Kind: EndDisrupted}, strings.TrimSpace(message)
	switch reason {
	case "EvictionByEvictionAPI":
		end.Kind, message = EndEvicted, strings.TrimPrefix(message, "Eviction API: evicting")
	case "TerminationByKubelet":
		end.By = ByKubelet
		if strings.HasPrefix(message, lowOnResource) {
			end.Kind = EndEvicted
		}
	case "PreemptionByScheduler":
		end.Kind, end.By = EndPreempted, ByScheduler
	case "DeletionByTaintManager":
		end.Kind = EndTaint
	case "DeletionByPodGC":
		if message == "" || strings.Contains(message, "node no longer exists") { // An event has only the reason.
			end.Kind = EndNodeGone
		}
	}
	return end, message
}

// threshold matches the numbers of the node in the kubelet's message about an eviction, before those of the container.
var threshold = lazyregexp.New(` Threshold quantity: [^ ]+, available: [^ ]+\. (Container )`)

func (e *Ending) row() *endRow {
	found := &endRow{}
	for i := range endings {
		switch r := &endings[i]; {
		case r.kind != e.Kind:
		case r.by == e.By:
			return r
		case r.by == "" || found.kind == "":
			found = r
		}
	}
	return found
}

// IsDisruption reports whether the pod gets the condition DisruptionTarget, on which a podFailurePolicy can decide.
func (e *Ending) IsDisruption() bool { return e.row().isDisruption }

// TookPod reports whether the component that ended the pod, with this message, took it from a Job that did nothing wrong: a
// disruption, or an eviction because its node ran low on a resource.
func (e *Ending) TookPod(message string) bool {
	return e.IsDisruption() || e.Kind == EndEvicted && e.By == ByKubelet && strings.HasPrefix(message, lowOnResource)
}

// preemptor matches the scheduler's message about a preempted pod: it has the UID of the other pod, or, before Kubernetes 1.29,
// its namespace and name.
var preemptor = lazyregexp.New(`^Preempted by (?:a )?(?:pod )?(\S+)(?: on node \S+)?$`)

// Preemptor returns the pod for which a pod was preempted, "" if the message does not name it.
func Preemptor(message string) string { return preemptor.Group(message) }

// Brief returns the end in two or three words.
func (e *Ending) Brief() string { return e.fill(e.row().brief) }

// Text returns the end as the beginning of a sentence.
func (e *Ending) Text() string {
	if e.Kind == EndNodeGone && e.Reason == "" { // Only the removal of the node shows that this is the cause.
		return "Pod is gone, and its node no longer exists"
	}
	return e.fill(e.row().text)
}

// KeepAnnotation returns the annotation of a pod template that keeps the component from ending pods, "" if there is none, and the
// name that it had in earlier versions.
func (e *Ending) KeepAnnotation() (name, former string) { return e.row().keep, e.row().kept }

// IsComplete reports whether the Text needs no quotation of the message.
func (e *Ending) IsComplete() bool { return e.row().complete }

// bare matches a message that only names the check of the kubelet.
var bare = lazyregexp.New(`^(?:Pod )?Predicate \w+ failed(?:: node\(s\) .*)?$`)

// Explains reports whether the Text says more than the message.
func (e *Ending) Explains(message string) bool {
	return predicates[e.Reason] != "" && bare.MatchString(message)
}

// Advice returns advice on an end with this message, or "".
func (e *Ending) Advice(message string) string {
	if advice := e.row().advice; advice != nil {
		return advice(e, message)
	}
	return ""
}

func (e *Ending) fill(template string) string {
	why := ""
	if text := predicates[e.Reason]; text != "" {
		why = ": " + text
	}
	return wording.Insert(template, "{container}", e.Container, "{probe}", e.Probe, "{reason}", e.Reason, "{why}", why)
}

// predicates are the meanings of checks of the kubelet, whose messages only name them.
var predicates = map[string]string{
	"NodePorts": "another pod on the node has its hostPort", "NodeAffinity": "the node's labels do not match its nodeSelector or affinity",
	"TaintToleration": "the node has a taint that it does not tolerate",
}

func always(advice string) func(*Ending, string) string {
	return func(*Ending, string) string { return advice }
}

// FixPostStartHook returns advice on a postStart hook that fails.
func FixPostStartHook(container string) string {
	return "fix the postStart hook of container " + container
}

// component returns the name of a component within a sentence.
func component(by string) string {
	switch by {
	case ByKarpenter:
		return "Karpenter"
	case ByClusterAutoscaler:
		return "the cluster autoscaler"
	}
	return "the " + by
}

// IsMemoryKill reports whether an event with this reason, of a kubelet, of the node problem detector or of an exporter of kernel
// messages, says that the kernel killed a process for lack of memory.
func IsMemoryKill(reason string) bool {
	return slices.Contains([]string{"OOMKilling", "SystemOOM", "OOMKilled", "PreviousContainerWasOOMKilled"}, reason)
}
