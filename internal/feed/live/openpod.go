package live

import (
	"context"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const (
	podPause     = time.Second      // between two reads of a pod that changes
	podRetry     = 5 * time.Second  // after a failed read
	podUnchanged = 30 * time.Second // without a change
)

// openPod is the pod in focus. It is read again when a watch reports a change of it.
type openPod struct {
	source          *Source
	namespace, name string
	changes         chan struct{}

	// guarded by source.mu
	detail *explain.PodDetail // nil until there was a response
	last   *explain.PodDetail // the detail of the last successful read, nil for none
	seen   bool               // whether the pod was ever read
	state  PodState           // for the log
}

func (p *openPod) run(ctx context.Context) error {
	for {
		again := podUnchanged
		if err := p.readOnce(ctx); err != nil {
			again = podRetry
		}
		if err := p.source.Pause(ctx, podPause, nil); err != nil {
			return err
		}
		if err := p.source.Pause(ctx, again-podPause, p.changes); err != nil {
			return err
		}
	}
}

// readOnce reads the pod, and returns an error if another attempt may succeed.
func (p *openPod) readOnce(ctx context.Context) error {
	pod, err := p.source.Client.CoreV1().Pods(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case kube.IsNotFound(err):
		p.setGone(ctx)
		return nil
	case err != nil:
		p.setUnread(gather.GapOf(p.namespace, "get", "pods", err))
		return err
	}
	events, gaps := p.readEvents(ctx, string(pod.UID))
	detail := explain.PodDetailOf(pod, events)
	detail.Gaps = append(detail.Gaps, gaps...)
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	p.last, p.seen = &detail, true
	p.setDetail(detail, PodState{Pod: pod, Node: pod.Spec.NodeName, Read: true})
	return nil
}

// readEvents returns the events about the pod with this UID, or about any pod of its name if uid is "".
func (p *openPod) readEvents(ctx context.Context, uid string) ([]input.Event, []input.Gap) {
	var events []input.Event
	_, _, err := gather.EachEvent(ctx, p.source.Client, p.namespace, gather.EventsOfPod(p.name), func() { events = nil }, func(event *corev1.Event) {
		e := input.EventOf(event)
		if uid == "" || e.PodUID == "" || string(e.PodUID) == uid {
			events = append(events, e)
		}
	})
	if err != nil {
		return nil, []input.Gap{gather.GapOf(p.namespace, "list", "events", err)}
	}
	return events, nil
}

// setGone records that the pod is gone. It keeps the detail read before, or else builds one from events.
func (p *openPod) setGone(ctx context.Context) {
	p.source.mu.Lock()
	last, seen := p.last, p.seen
	p.source.mu.Unlock()
	var detail explain.PodDetail
	if seen {
		detail = *last
	} else {
		events, gaps := p.readEvents(ctx, "")
		named := explain.PodDetailOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name}}, events)
		detail = explain.PodDetail{Name: p.name, Events: named.Events, Gaps: gaps}
	}
	detail.Gone = true
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	p.last = &detail
	p.setDetail(detail, PodState{Node: p.state.Node, Read: true})
}

// setUnread records why the pod could not be read. A detail that was read before is kept.
func (p *openPod) setUnread(gap input.Gap) {
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	detail := explain.PodDetail{Name: p.name}
	if p.last != nil {
		detail = *p.last
	}
	detail.Gaps = append(slices.Clone(detail.Gaps), gap)
	state := p.state
	state.Gap = gap.Text
	p.setDetail(detail, state)
}

// setDetail publishes the detail, and passes the state to the log. It keeps the previous detail if nothing has changed. The
// caller holds source.mu.
func (p *openPod) setDetail(detail explain.PodDetail, state PodState) {
	if p.detail == nil || !reflect.DeepEqual(*p.detail, detail) {
		p.detail = &detail
		p.source.touch()
	}
	p.state = state
	if p.source.pod == p && p.source.log != nil {
		p.source.log.SetPod(state)
	}
}

// Log reads the log in focus. The only call it makes to the Source is to report a change.
type Log interface {
	// Run reads until ctx is done.
	Run(context.Context) error
	// SetPod updates the state of the log's pod. Of the logs of failed pods, it only says that the pods have changed.
	SetPod(PodState)
	// Snapshot returns the current log, nil until there is something to show, and the previous value if nothing has changed.
	Snapshot() *snapshot.Log
}

// PodState is the state of the open pod. In the zero value, the pod was not read yet.
type PodState struct {
	Pod  *corev1.Pod // nil if it does not exist
	Node string      // the node of the last pod that was read
	Read bool        // whether it is known if the pod exists
	Gap  string      // why the state is missing or out of date; "" if it is current
}
