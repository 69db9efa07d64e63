package cli

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

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// maxLiveEvents is how many events of pods are kept. More are kept for a while, so that forgetting is rare.
const maxLiveEvents = gather.MaxEvents

// liveEvents are events by their name. All of it is under source.mu.
type liveEvents struct {
	rows      *liveRows[explain.Event]
	early     []earlyEvent
	read      bool
	cut       bool // old ones are forgotten
	gap       *explain.Gap
	unwatched *explain.Gap // nil if they are watched
}

func (e *liveEvents) reset() {
	*e = liveEvents{rows: newLiveRows[explain.Event](), gap: e.gap, unwatched: e.unwatched}
}

// whole says that these are all the events that are there.
func (e *liveEvents) whole() bool { return e.read && !e.cut }

func (e *liveEvents) put(name string, event explain.Event) {
	e.rows.put(name, event)
	if len(e.rows.rows) > maxLiveEvents+maxLiveEvents/4 {
		e.forget()
	}
}

// found says that nothing is missing but what is forgotten.
func (e *liveEvents) found() {
	e.unwatched = nil
	if !e.cut {
		e.gap = nil
	}
}

// forget keeps the latest.
func (e *liveEvents) forget() {
	times := make([]time.Time, 0, len(e.rows.rows))
	for i := range e.rows.rows {
		times = append(times, e.rows.rows[i].Last)
	}
	slices.SortFunc(times, time.Time.Compare)
	first := times[len(times)-maxLiveEvents]
	kept := newLiveRows[explain.Event]()
	for i := range e.rows.rows {
		if !e.rows.rows[i].Last.Before(first) && len(kept.rows) < maxLiveEvents {
			kept.put(e.rows.names[i], e.rows.rows[i])
		}
	}
	e.rows, e.cut = kept, true
	e.gap = ptr.To(manyLiveEvents())
}

func manyLiveEvents() explain.Gap {
	return explain.Gap{What: "events", Text: fmt.Sprintf("there are many events: only the latest %d about pods are kept", maxLiveEvents)}
}

// liveEventWatch keeps the events of a Job, or those of its pods: of all that are about pods of the namespace.
type liveEventWatch struct {
	source *liveSource
	facts  *liveFacts
	job    *batchv1.Job
	ofPods bool
	about  fields.Set
	events *liveEvents
}

func newLiveEventWatch(s *liveSource, f *liveFacts, job *batchv1.Job, ofPods bool) *liveEventWatch {
	w := &liveEventWatch{source: s, facts: f, job: job, ofPods: ofPods, about: gather.EventsOfJob(job), events: &f.events[0]}
	if ofPods {
		w.about, w.events = gather.EventsOfPods(), &f.events[1]
	}
	return w
}

func (w *liveEventWatch) call(verb string) apiCall {
	return apiCall{verb: verb, resource: "events", namespace: w.job.Namespace}
}

func (w *liveEventWatch) watchCall() apiCall { return w.call("watch") }

func (w *liveEventWatch) list(ctx context.Context) (string, error) {
	if err := w.podsAnswer(ctx); err != nil {
		return "", err
	}
	var all []earlyEvent
	begin := func() { all = nil }
	// Pods may become known while this is read, so all are kept for a moment.
	version, complete, err := gather.EachEvent(ctx, w.source.client, w.job.Namespace, w.about, begin, func(event *corev1.Event) {
		all = append(all, earlyEvent{name: event.Name, event: explain.EventOf(event)})
	})
	if err != nil {
		return "", w.call("list").wrap(err)
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
	w.events.setEarly(w.source.env.now(), early)
	w.events.read = true
	if !complete {
		w.events.cut, w.events.gap = true, ptr.To(gather.ManyEvents())
	}
	w.facts.touch(w.source)
	return version, nil
}

// podsAnswer waits until the pods are known, by which their events are told from others.
func (w *liveEventWatch) podsAnswer(ctx context.Context) error {
	if !w.ofPods {
		return nil
	}
	select {
	case <-w.facts.podsFirst:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wants says whether the event is about the Job, or about a pod of it. source.mu is held.
func (w *liveEventWatch) wants(e *explain.Event) bool {
	return !w.ofPods || w.facts.hasPod(e.Pod) || gather.MayBeOfJob(w.facts.job, e)
}

func (w *liveEventWatch) watch(ctx context.Context, version string) (watch.Interface, error) {
	opened, err := w.source.client.CoreV1().Events(w.job.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: w.about.String(), ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: ptr.To[int64](watchSeconds),
	})
	return opened, w.call("watch").wrap(err)
}

func (w *liveEventWatch) event(kind watch.EventType, object runtime.Object) error {
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
		w.events.putEarly(w.source.env.now(), event.Name, row)
		return nil
	default:
		w.events.put(event.Name, row)
		w.source.podChanged(row.Pod)
	}
	w.facts.touch(w.source)
	return nil
}

func (w *liveEventWatch) missed(err error) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	switch {
	case err == nil:
		if w.events.unwatched == nil && (w.events.gap == nil || w.events.cut) {
			return
		}
		w.events.found()
	case mayNotWatch(err):
		w.events.found()
		w.events.unwatched = ptr.To(gather.UnwatchedGap(w.job.Namespace, "events", refusedPause))
	default:
		w.events.reset()
		w.events.gap, w.events.unwatched = ptr.To(gather.GapOf(w.job.Namespace, "list", "events", err)), nil
	}
	w.facts.touch(w.source)
}
