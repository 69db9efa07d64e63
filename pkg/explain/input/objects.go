package input

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// EventOf converts an event of either API to the data that explanations use.
func EventOf(e *corev1.Event) Event {
	out := Event{
		Type: e.Type, Reason: e.Reason, Message: CutText(e.Message), Count: max(e.Count, 1),
		First: e.FirstTimestamp.Time, Last: e.LastTimestamp.Time, Source: e.Source.Component,
	}
	switch about := &e.InvolvedObject; about.Kind {
	case "Pod":
		out.Pod, out.PodUID, out.Container = about.Name, about.UID, containerIn(about.FieldPath)
	case "Node":
		out.Node = about.Name
	}
	if r, ok := cause.Parse(e.Annotations[cause.Annotation]); ok {
		out.Failed = &r
	}
	if out.Source == "" {
		out.Source = e.ReportingController
	}
	if out.First.IsZero() {
		out.First = e.EventTime.Time
	}
	if s := e.Series; s != nil {
		out.Count = max(out.Count, s.Count)
		if s.LastObservedTime.After(out.Last) {
			out.Last = s.LastObservedTime.Time
		}
	}
	for _, t := range []time.Time{out.First, e.CreationTimestamp.Time} {
		if out.Last.IsZero() {
			out.Last = t
		}
	}
	if out.First.IsZero() {
		out.First = out.Last
	}
	return out
}

// EventCompleted is the reason of the event about a Job that is complete.
const EventCompleted = "Completed"

// IsEndOfJob reports whether events with this reason are about the end of a Job.
func IsEndOfJob(reason string) bool {
	switch reason {
	case EventCompleted, batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonFailedIndexes,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonPodFailurePolicy:
		return true
	}
	return false
}

// containerIn returns the container of a field path such as spec.initContainers{wait}, "" for other field paths.
func containerIn(fieldPath string) string {
	list, name, _ := strings.Cut(strings.TrimSuffix(fieldPath, "}"), "{")
	if list != "spec.containers" && list != "spec.initContainers" {
		return ""
	}
	return name
}

// NodeRemoved is the reason in Input.GoneNodes for a node that no longer exists.
const NodeRemoved = "it no longer exists"

// LeaseOf converts a Lease to the data that explanations use.
func LeaseOf(l *coordinationv1.Lease) Lease {
	out := Lease{Namespace: l.Namespace, Name: l.Name, Holder: ptr.Deref(l.Spec.HolderIdentity, "")}
	if l.Spec.RenewTime != nil {
		out.Renewed = l.Spec.RenewTime.Time
	}
	out.Duration = time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 15)) * time.Second
	return out
}

// NodeTrouble returns the reason why pods on a node that is not ready may not end, with its conditions about maintenance; "" if the
// node is ready.
func NodeTrouble(n *corev1.Node) string {
	trouble, maintenance := "", ""
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		switch {
		case c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown:
			trouble = "it does not respond"
		case c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue:
			trouble = fmt.Sprintf("it is not ready (%s)", c.Reason)
		case c.Status == corev1.ConditionTrue && maintained.MatchString(string(c.Type)):
			maintenance += ", condition " + string(c.Type)
		}
	}
	if trouble == "" {
		return ""
	}
	return trouble + maintenance
}

// maintained matches a node condition about maintenance, by its name: there is no standard for them.
var maintained = lazyregexp.New(`(?i)maintenance|drain`)
