package explain

import (
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// EventOf returns what an explanation needs of an event of either API.
func EventOf(e *corev1.Event) Event {
	out := Event{
		Type: e.Type, Reason: e.Reason, Message: cut(e.Message), Count: max(e.Count, 1),
		First: e.FirstTimestamp.Time, Last: e.LastTimestamp.Time, Source: e.Source.Component,
	}
	if e.InvolvedObject.Kind == "Pod" {
		out.Pod, out.PodUID, out.Container = e.InvolvedObject.Name, e.InvolvedObject.UID, containerIn(e.InvolvedObject.FieldPath)
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

// containerIn is the container of a field path such as spec.initContainers{wait}, "" if that is another field.
func containerIn(fieldPath string) string {
	list, name, _ := strings.Cut(strings.TrimSuffix(fieldPath, "}"), "{")
	if list != "spec.containers" && list != "spec.initContainers" {
		return ""
	}
	return name
}

// NodeRemoved is why a node is gone that no longer exists.
const NodeRemoved = "it no longer exists"

// LeaseOf returns what an explanation needs of a Lease.
func LeaseOf(l *coordinationv1.Lease) Lease {
	out := Lease{Namespace: l.Namespace, Name: l.Name, Holder: ptr.Deref(l.Spec.HolderIdentity, "")}
	if l.Spec.RenewTime != nil {
		out.Renewed = l.Spec.RenewTime.Time
	}
	out.Duration = time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 15)) * time.Second
	return out
}

// NodeTrouble says why pods on the node may not end: it is not ready; "" if it is.
func NodeTrouble(n *corev1.Node) string {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		if c.Type != corev1.NodeReady || c.Status == corev1.ConditionTrue {
			continue
		}
		if c.Status == corev1.ConditionUnknown {
			return "it does not respond"
		}
		return fmt.Sprintf("it is not ready (%s)", c.Reason)
	}
	return ""
}
