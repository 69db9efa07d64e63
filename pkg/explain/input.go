package explain

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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Input is what was read about one Job. Whatever could not be read is empty, and a Gap
// says so.
type Input struct {
	Now time.Time
	// OurName is what spec.managedBy of a Job of this project's controller is by default.
	OurName string
	Job     *batchv1.Job
	// RuleNames are the names in spec.podFailurePolicy.rules, see
	// reconcile.Observation.RuleNames.
	RuleNames []string
	// PodsRead reports whether Pods are all the pods that the Job controls.
	PodsRead bool
	Pods     []*Pod
	// Listed reports that this is for a row of a list, which is not read in full: Pods are those in
	// phase Pending, and some that run, and Events the warnings about the Job.
	Listed bool
	// EventsRead reports whether Events are all of the Job and its pods that still exist.
	EventsRead bool
	Events     []Event
	// Lease is that of the controller that spec.managedBy names, if that is one of this
	// project's that runs with leader election; nil for others.
	Lease *Lease
	// Workload is that of the Job if Kueue holds it suspended; nil for others.
	Workload *kueue.Workload
	// GoneNodes are nodes of terminating pods that cannot end them, and why; and those of pods that are gone if they no longer
	// exist (NodeRemoved).
	GoneNodes map[string]string
	// Claims are those of pods that cannot be scheduled, as far as they were read.
	Claims []Claim
	Logs   []LogTail
	// Relatives are the other Jobs of the Job's family (package retry), each with its pods if its failures need them;
	// RelativesRead reports whether these are all.
	Relatives     []Input
	RelativesRead bool
	Gaps          []Gap
}

// Pod is what an explanation needs of a pod: what decides, and what people look for.
type Pod struct {
	reconcile.Pod
	// Attempt is 1-based: of its index, or of a NonIndexed Job; 0 if it cannot be told.
	Attempt int32
	// Scheduling reports whether a scheduler has looked at the pod.
	Scheduling bool
	Node       string
	// StartedAt is when the first of its containers started; zero if none has, or if
	// restarts have made that unknown.
	StartedAt  time.Time
	Containers []Container
	// Unusual is never nil, and most pods share one.
	*Unusual
}

// Unusual is what few pods have: a Job may have 100,000.
type Unusual struct {
	// DeletedAt is when the deletion was asked for, plus Grace; zero if it is not deleted.
	DeletedAt time.Time
	Grace     time.Duration
	// Message is status.message, and StatusReason status.reason.
	Message, StatusReason string
	// Unschedulable is why no node can take the pod (condition PodScheduled), with its time.
	Unschedulable    string
	UnscheduledSince time.Time
	// Gates are spec.schedulingGates.
	Gates []string
	// ForeignFinalizers are all but the tracking finalizer.
	ForeignFinalizers []string
	// Disruption is the reason of the condition DisruptionTarget, if that is True.
	Disruption, DisruptionMessage string
	// Lineup has the containers of a pod that has not ended, if one of them has, or if an init container is left; nil
	// for others.
	Lineup Lineup
}

// Container is a container of a pod that has ended, that waits, or that ended before it
// was started again: one that did both is there twice. Containers that just run are left
// out.
type Container struct {
	Name string
	Init bool
	// Waiting is the reason that it waits for, with WaitingMessage.
	Waiting, WaitingMessage string
	// Ended reports whether it terminated, with what follows; Before that it was started again
	// since.
	Ended, Before bool
	ExitCode      int32
	Signal        int32
	Reason        string
	Message       string
	StartedAt     time.Time
	EndedAt       time.Time
	Restarts      int32
	// Image and Memory are those of the pod: admission may have changed what the Job's template has. Image is "" if the
	// container is known from its status only, or from an event.
	Image  string
	Memory MemoryLimit
}

// Event is an event of the Job, or of one of its pods.
type Event struct {
	// Pod is the name of the pod that it is about; "" for the Job.
	Pod    string
	PodUID types.UID
	// Container is the one of the pod that it is about; "" for the whole pod.
	Container string
	Type      string // Normal or Warning
	Reason    string
	Message   string
	Count     int32
	First     time.Time
	Last      time.Time
	// Source is who reported it.
	Source string
	// Failed is what our controller's event about failed pods says; nil for other events,
	// and for those of releases that wrote the message only.
	Failed *cause.Record
}

// Warning reports whether the event is of type Warning.
func (e *Event) Warning() bool { return e.Type == corev1.EventTypeWarning }

// Began is when the first of these events happened, as far as that is known.
func (e *Event) Began() time.Time {
	if e.First.IsZero() {
		return e.Last
	}
	return e.First
}

// IsAboutNodeSetup reports whether the kubelet warns of how a node is set up, which it does with every pod
// there: it ends none, and keeps none from starting.
func (e *Event) IsAboutNodeSetup() bool {
	switch e.Reason {
	case "MissingClusterDNS", "DNSConfigForming", "CheckLimitsForResolvConf":
		return true
	}
	return false
}

// Lease is the leader election of a controller.
type Lease struct {
	Namespace, Name string
	Holder          string
	Renewed         time.Time
	Duration        time.Duration
	// Elsewhere is the Lease that was renewed last in another namespace, if any: whoever may edit Leases there can make it
	// up, but the controller may also have moved there.
	Elsewhere *Lease `json:"Elsewhere,omitempty"`
}

// SystemNamespace is where config/default installs the controller, with its Lease.
const SystemNamespace = "batchjob-system"

// maxClockSkew is how far the clock of a controller may be ahead of the API server's.
const maxClockSkew = time.Minute

// IsHeld reports whether a controller is running: it renews its Lease many times within Duration. A controller does not
// write a time that is far in the future; someone else may.
func (l *Lease) IsHeld(now time.Time) bool {
	age := now.Sub(l.Renewed)
	return l.Holder != "" && !l.Renewed.IsZero() && -maxClockSkew <= age && age <= l.Duration
}

// IsHeldElsewhere reports whether only a Lease of another namespace shows a controller that is running. That proves nothing.
func (l *Lease) IsHeldElsewhere(now time.Time) bool {
	return !l.IsHeld(now) && l.Elsewhere != nil && l.Elsewhere.IsHeld(now)
}

// LogTail is the end of what a container wrote.
type LogTail struct {
	Pod, Container string
	Lines          []string
}

// LogTarget asks for a LogTail.
type LogTarget struct {
	Pod, Container string
	// Previous says: of the run before the last restart.
	Previous bool
}

// SaysWhyItWaits reports whether the container waits for more than what every container waits for.
func (c *Container) SaysWhyItWaits() bool {
	return c.Waiting != "" && c.Waiting != "ContainerCreating" && c.Waiting != "PodInitializing"
}

// NeverStarted reports whether the container had no process, and so there is no log of it.
func (c *Container) NeverStarted() bool {
	return c.Ended && c.StartedAt.IsZero() && IsStartFailure(c.Reason)
}

// IsStartFailure reports whether a container runtime gives this reason to a container that it could not start.
func IsStartFailure(reason string) bool {
	return reason == "StartError" || reason == "ContainerCannotRun"
}

// Gap is something that could not be read.
type Gap struct {
	// What is pods, events, pods/log, logs, nodes, persistentvolumeclaims, cronjobs or workloads.kueue.x-k8s.io; or, in the interactive view, "watch"
	// and what may be read but not watched.
	What string `json:"what"`
	// Text is one line: what is missing, and why.
	Text string `json:"text"`
	// Command checks the permission, "" if a missing one is not the reason.
	Command string `json:"command,omitempty"`
	// Verb and Resource are what is not permitted, "" if that is not the reason, and Namespace is where, "" for all.
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// MakeCommand makes the Command from the verb, the resource and the namespace, if we ever ask for such a permission. A
// Gap that was read from a file needs that: its Command may be anything.
func (g *Gap) MakeCommand() {
	g.Command = ""
	known := slices.Contains([]string{"get", "list", "watch"}, g.Verb) &&
		slices.Contains([]string{"cronjobs", "events", "jobs", "nodes", "persistentvolumeclaims", "pods", "pods/log", kueue.Workloads}, g.Resource)
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

// MakeCommands makes the Commands of Gaps that were read from a file.
func MakeCommands(gaps []Gap) {
	for i := range gaps {
		gaps[i].MakeCommand()
	}
}
