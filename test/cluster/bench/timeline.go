//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// timeline is one large Job, call by call. All times are in seconds since the request to create the Job reached the API
// server.
type timeline struct {
	Side side `json:"side"`
	Pods int  `json:"pods"`
	// Seconds is when the last call was answered.
	Seconds float64 `json:"seconds"`
	// Calls are the calls in the API server's audit log, by any client.
	Calls []call `json:"calls"`
	// Events are the events of a watch of the Job's pods, when they arrive in this program.
	Events []podEvent `json:"events"`
}

type call struct {
	Kind  callKind `json:"kind"`
	Begun float64  `json:"begun"`
	Ended float64  `json:"ended"`
	Code  int      `json:"code"`
}

// podEvent is an event with the change that it shows.
type podEvent struct {
	Seconds float64  `json:"seconds"`
	News    podState `json:"news"`
}

type podState string

const (
	podCreated  podState = "created"
	podChanged  podState = "changed"
	podEnded    podState = "ended"    // it has succeeded or failed
	podReleased podState = "released" // it has ended, and has no finalizer
	podDeleted  podState = "deleted"
)

// timelines runs one Job for each side; it needs the API server's audit log. Without --plot, it returns nil.
func (b *bench) timelines(ctx context.Context) ([]timeline, error) {
	if b.plot == "" {
		return nil, nil
	}
	var list []timeline
	for _, s := range []side{ours, builtIn, floor} {
		t, err := b.timeline(ctx, s)
		if err != nil {
			return nil, err
		}
		progress("Timeline, %d indexes, %s: %.1f s, %d calls, %d events", t.Pods, s, t.Seconds, len(t.Calls), len(t.Events))
		list = append(list, t)
	}
	return list, nil
}

func (b *bench) timeline(ctx context.Context, s side) (timeline, error) {
	// No pods of the previous Job exist.
	pods, err := b.api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return timeline{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var arrivals []arrival
	watched := make(chan error, 1)
	go func() {
		var err error
		arrivals, err = b.api.arrivals(ctx, metav1.ListOptions{ResourceVersion: pods.ResourceVersion})
		watched <- err
	}()
	calls, err := b.launched.callsDuring(func() error {
		_, err := b.bulk(ctx, s, b.pods)
		return err
	})
	cancel()
	if failed := <-watched; err == nil {
		err = failed
	}
	if err != nil {
		return timeline{}, err
	}
	return newTimeline(s, b.pods, calls, arrivals)
}

// arrival is the arrival of a pod event.
type arrival struct {
	at   time.Time
	news podState
}

// arrivals watches pods until ctx ends and returns their events.
func (a api) arrivals(ctx context.Context, options metav1.ListOptions) ([]arrival, error) {
	var list []arrival
	known := map[types.UID]podState{}
	err := follow(ctx, a.CoreV1().Pods(namespace).Watch, options, func(event watch.EventType, pod *corev1.Pod) (bool, error) {
		state := stateOf(event, pod)
		if state == known[pod.UID] {
			state = podChanged
		} else {
			known[pod.UID] = state
		}
		list = append(list, arrival{time.Now(), state})
		return false, nil
	})
	if ctx.Err() != nil {
		err = nil // The end of ctx is the normal end.
	}
	return list, err
}

func stateOf(event watch.EventType, pod *corev1.Pod) podState {
	switch {
	case event == watch.Deleted:
		return podDeleted
	case hasEnded(pod) && !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer):
		return podReleased
	case hasEnded(pod):
		return podEnded
	case event == watch.Added:
		return podCreated
	}
	return podChanged
}

// newTimeline returns the timeline between the creation of a Job and its deletion.
func newTimeline(s side, pods int, calls []loggedCall, arrivals []arrival) (timeline, error) {
	first := slices.IndexFunc(calls, func(c loggedCall) bool { return c.kind == callBegin })
	last := slices.IndexFunc(calls, func(c loggedCall) bool { return c.kind == callEnd })
	if first < 0 || last < first {
		return timeline{}, errors.New("the API server's audit log lacks the creation or the deletion of the Job")
	}
	begun, end := calls[first].begun, calls[last].begun
	since := func(t time.Time) float64 { return t.Sub(begun).Seconds() }
	t := timeline{Side: s, Pods: pods}
	for _, c := range calls[first+1 : last] {
		t.Calls = append(t.Calls, call{c.kind, since(c.begun), since(c.ended), c.code})
		t.Seconds = max(t.Seconds, since(c.ended))
	}
	for _, a := range arrivals {
		if a.at.After(begun) && a.at.Before(end) {
			t.Events = append(t.Events, podEvent{since(a.at), a.news})
		}
	}
	if len(t.Calls) == 0 || len(t.Events) == 0 {
		return t, fmt.Errorf("%s: no calls, or no events of pods, between the creation and the deletion of the Job", s)
	}
	return t, nil
}

// done returns how many calls of a kind had been answered at a time.
func (t timeline) done(kind callKind, at float64) (n int) {
	for _, c := range t.Calls {
		if c.Kind == kind && c.Ended <= at {
			n++
		}
	}
	return n
}

// seen returns how many events with these news had arrived at a time.
func (t timeline) seen(news podState, at float64) (n int) {
	for _, e := range t.Events {
		if e.News == news && e.Seconds <= at {
			n++
		}
	}
	return n
}

// inFlight returns the average number of calls of a kind in flight between two times.
func (t timeline) inFlight(kind callKind, from, to float64) float64 {
	var sum float64
	for _, c := range t.Calls {
		if c.Kind == kind {
			sum += max(0, min(c.Ended, to)-max(c.Begun, from))
		}
	}
	return sum / (to - from)
}
