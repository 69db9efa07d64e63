package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// maxEvents is how many events about pods are kept. Up to a quarter more may accumulate, so that dropping old ones is rare.
const maxEvents = gather.MaxEvents

// events holds events by name. All fields are guarded by source.mu.
type events struct {
	rows    *rows[explain.Event]
	early   []earlyEvent
	read    bool
	many    *explain.Gap  // set if events were dropped, or not all were read
	refusal *feed.Refusal // nil if they are watched
}

func (e *events) reset() { *e = events{rows: newRows[explain.Event](), refusal: e.refusal} }

// whole reports whether all events were read and kept.
func (e *events) whole() bool { return e.read && e.many == nil }

func (e *events) put(name string, event explain.Event) {
	e.rows.put(name, event)
	if len(e.rows.rows) > maxEvents+maxEvents/4 {
		e.forget()
	}
}

// forget drops all but the latest maxEvents.
func (e *events) forget() {
	times := make([]time.Time, 0, len(e.rows.rows))
	for i := range e.rows.rows {
		times = append(times, e.rows.rows[i].Last)
	}
	slices.SortFunc(times, time.Time.Compare)
	first := times[len(times)-maxEvents]
	kept := newRows[explain.Event]()
	for i := range e.rows.rows {
		if !e.rows.rows[i].Last.Before(first) && len(kept.rows) < maxEvents {
			kept.put(e.rows.names[i], e.rows.rows[i])
		}
	}
	e.rows, e.many = kept, ptr.To(manyEvents())
}

func manyEvents() explain.Gap {
	return explain.Gap{What: "events", Text: fmt.Sprintf("there are many events: only the latest %d about pods are kept", maxEvents)}
}

// eventWatch follows the events of a Job, or of its pods; the latter watches the events about all pods of the namespace.
type eventWatch struct {
	source  *Source
	related *related
	job     *batchv1.Job
	ofPods  bool
	about   fields.Set
	events  *events
}

func newEventWatch(s *Source, r *related, job *batchv1.Job, ofPods bool) *eventWatch {
	w := &eventWatch{source: s, related: r, job: job, ofPods: ofPods, about: gather.EventsOfJob(job), events: &r.events[0]}
	if ofPods {
		w.about, w.events = gather.EventsOfPods(), &r.events[1]
	}
	return w
}

func (w *eventWatch) run(ctx context.Context) error {
	call := apicall.Call{Resource: "events", Namespace: w.job.Namespace}
	return w.source.keepUp(ctx, feed.Collection{Call: call, List: w.list, Open: w.open, OnEvent: w.take}, w.refused)
}

func (w *eventWatch) list(ctx context.Context) (string, error) {
	if err := w.podsAnswer(ctx); err != nil {
		return "", err
	}
	var all []earlyEvent
	begin := func() { all = nil }
	// Pods may become known during the list, so all events are collected first.
	version, complete, err := gather.EachEvent(ctx, w.source.Client, w.job.Namespace, w.about, begin, func(event *corev1.Event) {
		all = append(all, earlyEvent{name: event.Name, event: explain.EventOf(event)})
	})
	if err != nil {
		return "", apicall.Call{Verb: "list", Resource: "events", Namespace: w.job.Namespace}.Wrap(err)
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.events.reset()
	var early []earlyEvent
	for i := range all {
		if w.wants(&all[i].event) {
			w.events.put(all[i].name, all[i].event)
		} else {
			early = append(early, all[i])
		}
	}
	w.events.setEarly(w.source.Now(), early)
	w.events.read = true
	if !complete {
		w.events.many = ptr.To(gather.ManyEvents())
	}
	w.related.touch(w.source)
	return version, nil
}

// podsAnswer waits for the first response to the list of pods, which decides what events are of interest.
func (w *eventWatch) podsAnswer(ctx context.Context) error {
	if !w.ofPods {
		return nil
	}
	select {
	case <-w.related.podsFirst:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wants reports whether the event is about the Job or one of its pods. The caller holds source.mu.
func (w *eventWatch) wants(e *explain.Event) bool {
	return !w.ofPods || w.related.hasPod(e.Pod) || gather.MayBeOfJob(w.related.job, e)
}

func (w *eventWatch) open(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.FieldSelector = w.about.String()
	return w.source.Client.CoreV1().Events(w.job.Namespace).Watch(ctx, options)
}

func (w *eventWatch) take(kind watch.EventType, object runtime.Object) error {
	event, ok := object.(*corev1.Event)
	if !ok {
		return fmt.Errorf("unexpected %T in the watch of events", object)
	}
	row := explain.EventOf(event)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	switch {
	case kind == watch.Deleted: // It has expired.
		w.events.rows.remove(event.Name)
		w.events.forgetEarly(event.Name)
	case !w.wants(&row):
		w.events.putEarly(w.source.Now(), event.Name, row)
		return nil
	default:
		w.events.put(event.Name, row)
		w.source.podChanged(row.Pod)
	}
	w.related.touch(w.source)
	return nil
}

// refused records a refusal, and drops the events if they cannot be listed either.
func (w *eventWatch) refused(r *feed.Refusal) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if r == nil && w.events.refusal == nil {
		return
	}
	if r != nil && !r.Unwatched() {
		w.events.reset()
	}
	w.events.refusal = r
	w.related.touch(w.source)
}
