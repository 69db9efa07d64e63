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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

const (
	// maxEvents is how many events about pods are kept. Up to a quarter more may accumulate, so that dropping old ones is rare.
	maxEvents = gather.MaxEvents
	// maxEarlyEvents is how many events about unknown pods are kept, and earlyFor how long: events and pods arrive on
	// separate connections, so an event may arrive before its pod.
	maxEarlyEvents = 500
	earlyFor       = 30 * time.Second
)

// events holds events by name. All fields are guarded by source.mu.
type events struct {
	rows       *rows[input.Event]
	early      []earlyEvent
	read       bool
	incomplete *input.Gap    // set if events were dropped, or not all were read
	refusal    *feed.Refusal // nil if they are watched
}

func (e *events) reset() { *e = events{rows: newRows[input.Event](), refusal: e.refusal} }

// isComplete reports whether all events were read and kept.
func (e *events) isComplete() bool { return e.read && e.incomplete == nil }

func (e *events) put(name string, event input.Event) {
	e.rows.put(name, event)
	if len(e.rows.rows) > maxEvents+maxEvents/4 {
		e.dropOldest()
	}
}

// dropOldest drops all but the latest maxEvents.
func (e *events) dropOldest() {
	times := make([]time.Time, 0, len(e.rows.rows))
	for i := range e.rows.rows {
		times = append(times, e.rows.rows[i].Last)
	}
	slices.SortFunc(times, time.Time.Compare)
	first := times[len(times)-maxEvents]
	kept := newRows[input.Event]()
	for i := range e.rows.rows {
		if !e.rows.rows[i].Last.Before(first) && len(kept.rows) < maxEvents {
			kept.put(e.rows.names[i], e.rows.rows[i])
		}
	}
	e.rows, e.incomplete = kept, ptr.To(droppedEvents())
}

func droppedEvents() input.Gap {
	return input.Gap{What: "events", Text: fmt.Sprintf("there are many events: only the latest %d about pods are kept", maxEvents)}
}

// earlyEvent is an event about a pod that is unknown, perhaps only for now.
type earlyEvent struct {
	name    string
	event   input.Event
	arrived time.Time
}

// replaceEarly replaces the early events by the latest ones in all.
func (e *events) replaceEarly(now time.Time, all []earlyEvent) {
	slices.SortStableFunc(all, func(a, b earlyEvent) int { return a.event.Last.Compare(b.event.Last) })
	e.early = slices.Clone(all[max(0, len(all)-maxEarlyEvents):])
	for i := range e.early {
		e.early[i].arrived = now
	}
}

// addEarly adds an early event, and drops old ones.
func (e *events) addEarly(now time.Time, name string, event input.Event) {
	e.early = slices.DeleteFunc(e.early, func(old earlyEvent) bool { return old.name == name || now.Sub(old.arrived) > earlyFor })
	if len(e.early) == maxEarlyEvents {
		e.early = slices.Delete(e.early, 0, 1)
	}
	e.early = append(e.early, earlyEvent{name: name, event: event, arrived: now})
}

func (e *events) removeEarly(name string) {
	e.early = slices.DeleteFunc(e.early, func(old earlyEvent) bool { return old.name == name })
}

// matchEarly moves the early events about pods that are known by now to the other events.
func (e *events) matchEarly(now time.Time, isMine func(pod string) bool) {
	e.early = slices.DeleteFunc(e.early, func(early earlyEvent) bool {
		if now.Sub(early.arrived) > earlyFor {
			return true
		}
		if !isMine(early.event.Pod) {
			return false
		}
		e.put(early.name, early.event)
		return true
	})
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
	return w.source.watchOptional(ctx, feed.Collection{Call: call, List: w.list, Open: w.open, OnEvent: w.onEvent}, w.onRefusal)
}

func (w *eventWatch) list(ctx context.Context) (string, error) {
	if w.ofPods { // The response to the list of pods decides which events are of interest.
		select {
		case <-w.related.podsAnswered:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	var all []earlyEvent
	begin := func() { all = nil }
	// Pods may become known during the list, so all events are collected first.
	version, complete, err := gather.EachEvent(ctx, w.source.Client, w.job.Namespace, w.about, begin, func(event *corev1.Event) {
		all = append(all, earlyEvent{name: event.Name, event: input.EventOf(event)})
	})
	if err != nil {
		return "", apicall.Call{Verb: "list", Resource: "events", Namespace: w.job.Namespace}.Wrap(err)
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.events.reset()
	var early []earlyEvent
	for i := range all {
		if w.isRelevant(&all[i].event) {
			w.events.put(all[i].name, all[i].event)
		} else {
			early = append(early, all[i])
		}
	}
	w.events.replaceEarly(w.source.Now(), early)
	w.events.read = true
	if !complete {
		w.events.incomplete = ptr.To(gather.ManyEvents())
	}
	w.related.touch(w.source)
	return version, nil
}

// isRelevant reports whether the event is about the Job or one of its pods. The caller holds source.mu.
func (w *eventWatch) isRelevant(e *input.Event) bool {
	return !w.ofPods || w.related.hasPod(e.Pod) || gather.MayBeOfJob(w.related.job, e)
}

func (w *eventWatch) open(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.FieldSelector = w.about.String()
	return w.source.Client.CoreV1().Events(w.job.Namespace).Watch(ctx, options)
}

func (w *eventWatch) onEvent(kind watch.EventType, object runtime.Object) error {
	event, ok := object.(*corev1.Event)
	if !ok {
		return fmt.Errorf("unexpected %T in the watch of events", object)
	}
	row := input.EventOf(event)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	switch {
	case kind == watch.Deleted: // It has expired.
		w.events.rows.remove(event.Name)
		w.events.removeEarly(event.Name)
	case !w.isRelevant(&row):
		w.events.addEarly(w.source.Now(), event.Name, row)
		return nil
	default:
		w.events.put(event.Name, row)
		w.source.podChanged(row.Pod)
	}
	w.related.touch(w.source)
	return nil
}

// onRefusal records a refusal, and drops the events if they cannot be listed either.
func (w *eventWatch) onRefusal(r *feed.Refusal) {
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
