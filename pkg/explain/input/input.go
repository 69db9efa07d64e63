// Package input has what is read about one Job or CronJob before it is explained: the objects of the API, converted to the
// data that explanations use. It knows nothing about the result, explain.Report.
package input

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Input holds the data read about one Job. Data that could not be read is empty, and listed in Gaps.
type Input struct {
	Now time.Time
	// OurName is the default spec.managedBy value of Jobs of this project's controller.
	OurName string
	Job     *batchv1.Job
	// RuleNames are the names in spec.podFailurePolicy.rules, see
	// reconcile.Observation.RuleNames.
	RuleNames []string
	// PodsRead reports whether Pods holds all pods that the Job controls.
	PodsRead bool
	Pods     []*Pod
	// Listed reports whether the input is for a row of a list, for which less is read: Pods holds the pods in phase Pending
	// and some running pods, and Events the warnings about the Job.
	Listed bool
	// EventsRead reports whether Events holds all events of the Job and its pods that still exist.
	EventsRead bool
	Events     []Event
	// Earlier are events about earlier Jobs of the same name.
	Earlier []Event
	// NodeEvents are warnings about nodes. They are read only to find out which containers ran out of memory.
	NodeEvents []Event
	// Lease is the Lease of the controller that spec.managedBy names, if it is a controller of this project that runs with
	// leader election; nil otherwise.
	Lease *Lease
	// Workload is the Workload of a Job that Kueue holds suspended; nil for other Jobs.
	Workload *kueue.Workload
	// OwnerRuns reports whether the owner of the Job, a JobSet, is not suspended. It is read only if Kueue itself has suspended
	// the Job and has no Workload for it.
	OwnerRuns bool
	// GoneNodes maps nodes that cannot end their terminating pods to the reason. Nodes of deleted pods are in it too if the
	// node no longer exists (NodeRemoved).
	GoneNodes map[string]string
	// SeenRestart is the last failure of a container that was restarted, seen while the Job ran; nil if none was seen.
	SeenRestart *Container
	// Claims are the claims of pods that cannot be scheduled, as far as they were read.
	Claims []meaning.Claim
	Logs   []LogTail
	// Relatives are the other Jobs of the Job's family (package retry), each with its pods if its failures need them;
	// RelativesRead reports whether Relatives is complete.
	Relatives     []Input
	RelativesRead bool
	Gaps          []Gap
}

// Pod holds the data of a pod that explanations use: the fields that decide, and the fields that users look for.
type Pod struct {
	reconcile.Pod
	// Attempt is the 1-based attempt of the pod's index, or of a NonIndexed Job; 0 if it is unknown.
	Attempt int32
	// Scheduling reports whether a scheduler has looked at the pod.
	Scheduling bool
	// PullSecrets reports whether the pod has imagePullSecrets, its own or those of its ServiceAccount.
	PullSecrets bool
	Node        string
	// StartedAt is the start of the first container; zero if none has started, or if restarts have overwritten the time.
	StartedAt  time.Time
	Containers []Container
	// Unusual is never nil. Most pods share one value.
	*Unusual
}

// Unusual holds fields that few pods use, to save memory: a Job may have 100,000 pods.
type Unusual struct {
	// DeletedAt is the time of the deletion request, and Grace the grace period; both are zero if the pod is not being
	// deleted.
	DeletedAt time.Time
	Grace     time.Duration
	// Message is status.message, and StatusReason status.reason.
	Message, StatusReason string
	// Unschedulable is the reason why no node can take the pod (condition PodScheduled), with its time and the nodeSelector of the pod.
	Unschedulable    string
	NodeSelector     map[string]string
	UnscheduledSince time.Time
	// Gates are spec.schedulingGates.
	Gates []string
	// ForeignFinalizers are all finalizers except the tracking finalizer.
	ForeignFinalizers []string
	// Disruption is the reason of the condition DisruptionTarget, if that is True.
	Disruption, DisruptionMessage string
	// EndedBy is the condition with which another controller than Kubernetes' own has ended a pod that failed; nil for others.
	EndedBy *EndCondition
	// Lineup holds the containers of a pod that has not ended, if one of them has ended, or if an init container is left; nil
	// for other pods.
	Lineup Lineup
}

// EndCondition is a condition about the end of a pod, which its reason and message explain.
type EndCondition struct{ Type, Reason, Message string }

// Container is a container of a pod that has ended, that waits, or that ended before it was restarted: a container that waits
// after it ended may appear twice. Containers that only run are left out.
type Container struct {
	Name string
	Init bool
	// Waiting is the waiting reason, and WaitingMessage its message.
	Waiting, WaitingMessage string
	// Ended reports whether the container terminated, as the following fields describe; Before, whether it was restarted
	// since.
	Ended, Before bool
	ExitCode      int32
	Signal        int32
	Reason        string
	Message       string
	StartedAt     time.Time
	EndedAt       time.Time
	Restarts      int32
	// Running reports whether the container runs, since RunsSince.
	Running   bool
	RunsSince time.Time
	// Image and Memory come from the pod, as admission may have changed the values of the Job's template. Image is "" if the
	// container is only known from its status or from an event.
	Image  string
	Memory MemoryLimit
}

// Event is an event of the Job, or of one of its pods.
type Event struct {
	// Pod is the name of the pod of an event about a pod; "" for the Job.
	Pod    string
	PodUID types.UID
	// Node is the name of the node of an event about a node.
	Node string
	// Container is the container that the event is about; "" for the whole pod.
	Container string
	Type      string // Normal or Warning
	Reason    string
	Message   string
	Count     int32
	First     time.Time
	Last      time.Time
	// Source is the component that reported the event.
	Source string
	// Failed is the record in an event of this project's controller about failed pods; nil for other events, and for events
	// of older releases, which only have a message.
	Failed *cause.Record
}

// Warning reports whether the event is of type Warning.
func (e *Event) Warning() bool { return e.Type == corev1.EventTypeWarning }

// Began returns the time of the first of these events, as far as it is known.
func (e *Event) Began() time.Time {
	if e.First.IsZero() {
		return e.Last
	}
	return e.First
}

// IsAboutNodeSetup reports whether the kubelet warns about the configuration of its node. It repeats that warning for every
// pod on the node; the warning neither ends a pod nor keeps it from starting.
func (e *Event) IsAboutNodeSetup() bool {
	switch e.Reason {
	case "MissingClusterDNS", "DNSConfigForming", "CheckLimitsForResolvConf":
		return true
	}
	return false
}

// Lease is the leader election Lease of a controller.
type Lease struct {
	Namespace, Name string
	Holder          string
	Renewed         time.Time
	Duration        time.Duration
	// Elsewhere is the Lease that was renewed last in another namespace, if any: a user who may edit Leases there can forge
	// it, but the controller may also have moved there.
	Elsewhere *Lease `json:"Elsewhere,omitempty"`
}

// SystemNamespace is the namespace in which config/default installs the controller and its Lease.
const SystemNamespace = "batchjob-system"

// maxClockSkew is the maximum lead of a controller's clock over the API server's clock.
const maxClockSkew = time.Minute

// IsHeld reports whether a controller is running: it renews its Lease many times within Duration. A time far in the future
// does not come from a controller, so it does not count.
func (l *Lease) IsHeld(now time.Time) bool {
	age := now.Sub(l.Renewed)
	return l.Holder != "" && !l.Renewed.IsZero() && -maxClockSkew <= age && age <= l.Duration
}

// IsContradicted reports whether of two Leases in different namespaces only one is held: a user may have created either of
// them, unless the one that is held is in the namespace of config/default.
func (l *Lease) IsContradicted(now time.Time) bool {
	held := l.IsHeld(now)
	return l.Elsewhere != nil && held != l.Elsewhere.IsHeld(now) && (!held || l.Namespace != SystemNamespace)
}

// LogTail holds the last lines of a container's log, none if it is empty, or the lines from its error on and the number of lines after
// these.
type LogTail struct {
	Pod, Container string
	Lines          []string
	After          int
	// Repeated is the error that the end of the log repeats, or "". Step is the last step that the program reports, or "".
	Repeated, Step string
	// LastAt is when the last line of a container that runs was printed, zero if that is unknown.
	LastAt time.Time
	// Whole reports whether Lines is the whole log.
	Whole bool
}

// NewLogTail returns the tail of a log, from lines at its end, in at most count lines; whole reports whether these lines are the whole log.
func NewLogTail(pod, container string, lines []string, count int, whole bool) LogTail {
	t := LogTail{Pod: pod, Container: container, Repeated: meaning.Repeated(lines), Step: meaning.StepIn(lines)}
	t.Lines, t.After = meaning.Tail(lines, count)
	t.Whole = whole && len(t.Lines) == len(lines)
	return t
}

// IsEmpty reports whether the log was read, and has no text at its end.
func (t *LogTail) IsEmpty() bool { return t != nil && len(meaning.WithoutMarks(t.Lines)) == 0 }

// LogTarget asks for a LogTail.
type LogTarget struct {
	Pod, Container string
	// Previous selects the run before the last restart. Restarts is the number of restarts, so that a target of another run differs.
	Previous bool
	Restarts int32
	// Output is set for a container that has not failed: its log may say more, and no answer depends on it.
	Output bool
}

// ExplainsWait reports whether the container has a waiting reason other than the two that every starting container has.
func (c *Container) ExplainsWait() bool {
	return c.Waiting != "" && c.Waiting != "ContainerCreating" && c.Waiting != "PodInitializing"
}

// NeverStarted reports whether the container never had a process, and so has no log.
func (c *Container) NeverStarted() bool {
	return c.Ended && c.StartedAt.IsZero() && cause.NeverRan(c.Reason)
}

// Gap describes data that could not be read.
type Gap struct {
	// What is pods, events, pods/log, logs, nodes, persistentvolumeclaims, cronjobs or workloads.kueue.x-k8s.io; or, in the
	// interactive view, "watch" and a resource that may be read but not watched.
	What string `json:"what"`
	// Text is one line: the missing data, and the reason.
	Text string `json:"text"`
	// Command checks the permission; "" if the reason is not a missing permission.
	Command string `json:"command,omitempty"`
	// Verb and Resource identify the missing permission, "" if that is not the reason; Namespace is its namespace, "" for
	// all.
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// OfLogs reports whether a log could not be read.
func (g *Gap) OfLogs() bool { return g.What == "logs" || g.What == "pods/log" }

// MakeCommand sets the Command from the verb, the resource and the namespace, if the plugin ever uses such a permission. Call
// it for a Gap that was read from a file: its Command may be anything.
func (g *Gap) MakeCommand() {
	g.Command = ""
	known := slices.Contains([]string{"get", "list", "watch"}, g.Verb) &&
		slices.Contains([]string{"cronjobs", "events", "jobs", "nodes", "persistentvolumeclaims", "pods", "pods/log", kueue.Workloads, JobSets}, g.Resource)
	switch {
	case !known || g.Namespace != "" && len(validation.IsDNS1123Label(g.Namespace)) > 0:
	case g.Resource == "nodes":
		g.Command = "kubectl auth can-i " + g.Verb + " nodes"
	default:
		where := "-A"
		if g.Namespace != "" {
			where = "-n " + g.Namespace
		}
		g.Command = fmt.Sprintf("kubectl auth can-i %s %s %s", g.Verb, strings.Replace(g.Resource, "/", " --subresource=", 1), where)
	}
}

// MakeCommands sets the Commands of Gaps that were read from a file.
func MakeCommands(gaps []Gap) {
	for i := range gaps {
		gaps[i].MakeCommand()
	}
}

// LastEvent returns the latest of the events for which is reports true, the first of several at once; nil if there is none.
func LastEvent(events []Event, is func(*Event) bool) (last *Event) {
	for i := range events {
		if e := &events[i]; is(e) && (last == nil || e.Last.After(last.Last)) {
			last = e
		}
	}
	return last
}
