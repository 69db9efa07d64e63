package demo

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// maxEvents is how many events of a Job are kept: the first ones, as a cluster's aggregation would leave fewer of the rest.
const maxEvents = 200

// recorder keeps the controller's events. It implements record.EventRecorder.
type recorder struct {
	now    func() time.Time
	events map[string][]explain.Event // by the name of the Job
}

// of returns the events of a Job.
func (r *recorder) of(job string) []explain.Event { return r.events[job] }

// Event implements record.EventRecorder.
func (r *recorder) Event(object runtime.Object, kind, reason, message string) {
	r.AnnotatedEventf(object, nil, kind, reason, "%s", message)
}

// Eventf implements record.EventRecorder.
func (r *recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.AnnotatedEventf(object, nil, kind, reason, format, args...)
}

// AnnotatedEventf implements record.EventRecorder. Equal events are one that is counted.
func (r *recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return
	}
	event := explain.Event{
		Type: kind, Reason: reason, Message: fmt.Sprintf(format, args...), Count: 1,
		First: r.now(), Last: r.now(), Source: controller.DefaultManagedBy,
	}
	if record, ok := cause.Parse(annotations[cause.Annotation]); ok {
		event.Failed = &record
	}
	all := r.events[job.Name]
	for i := range all {
		if e := &all[i]; e.Type == kind && e.Reason == reason && e.Message == event.Message {
			e.Count, e.Last = e.Count+1, event.Last
			return
		}
	}
	if len(all) < maxEvents {
		r.events[job.Name] = append(all, event)
	}
}
