// Package simevents records the events that the controller of a simulated cluster writes, for explanations of its Jobs.
package simevents

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// maxEvents is the maximum number of events of one reason that are kept of a Job: the first ones, as the API server's
// limits leave fewer of the later ones.
const maxEvents = 200

// Recorder holds events by the name of their Job. It implements record.EventRecorder; the controller of a sim.World
// calls it from one goroutine at a time.
type Recorder struct {
	now    func() time.Time
	events map[string][]corev1.Event
	kept   map[key]int
}

// key is a Job and the reason of an event.
type key struct{ job, reason string }

// New returns a Recorder that takes the time of its events from now, the virtual clock.
func New(now func() time.Time) *Recorder {
	return &Recorder{now: now, events: map[string][]corev1.Event{}, kept: map[key]int{}}
}

// Of returns the events of a Job, oldest first. The caller must not change them.
func (r *Recorder) Of(job string) []corev1.Event { return r.events[job] }

// Event implements record.EventRecorder.
func (r *Recorder) Event(object runtime.Object, kind, reason, message string) {
	r.AnnotatedEventf(object, nil, kind, reason, "%s", message)
}

// Eventf implements record.EventRecorder.
func (r *Recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.AnnotatedEventf(object, nil, kind, reason, format, args...)
}

// AnnotatedEventf implements record.EventRecorder. A repeated event increases the count of the first one, as in
// client-go.
func (r *Recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return
	}
	now, message := metav1.NewTime(r.now()), fmt.Sprintf(format, args...)
	all := r.events[job.Name]
	for i := range all {
		if e := &all[i]; e.Type == kind && e.Reason == reason && e.Message == message {
			e.Count, e.LastTimestamp = e.Count+1, now
			return
		}
	}
	at := key{job.Name, reason}
	if r.kept[at] == maxEvents {
		return
	}
	r.kept[at]++
	r.events[job.Name] = append(all, corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Annotations: annotations},
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: job.Name, UID: job.UID},
		Type:           kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: controller.DefaultManagedBy},
	})
}
