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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

const (
	podSoonest = time.Second      // between two reads of a pod that changes
	podRetry   = 5 * time.Second  // after a failed read
	podAnyway  = 30 * time.Second // without a change
)

// openPod is the pod in focus. It is read again when a watch reports a change of it.
type openPod struct {
	source          *Source
	namespace, name string
	news            chan struct{}

	// guarded by source.mu
	detail *explain.PodDetail // nil until there was a response
	last   *explain.PodDetail // the detail of the last successful read, nil for none
	seen   bool               // whether the pod was ever read
	state  PodState           // for the log
}

func newOpenPod(s *Source, namespace, name string) *openPod {
	return &openPod{source: s, namespace: namespace, name: name, news: make(chan struct{}, 1)}
}

func (p *openPod) run(ctx context.Context) error {
	for {
		again := podAnyway
		if err := p.readOnce(ctx); err != nil {
			again = podRetry
		}
		if err := p.source.Pause(ctx, podSoonest, nil); err != nil {
			return err
		}
		if err := p.source.Pause(ctx, again-podSoonest, p.news); err != nil {
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
		p.lose(ctx)
		return nil
	case err != nil:
		p.miss(gather.GapOf(p.namespace, "get", "pods", err))
		return err
	}
	events, gaps := p.events(ctx, string(pod.UID))
	detail := explain.PodDetailOf(pod, events)
	detail.Gaps = append(detail.Gaps, gaps...)
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	p.last, p.seen = &detail, true
	p.show(detail, PodState{Pod: pod, Node: pod.Spec.NodeName, Read: true})
	return nil
}

// events returns the events about the pod with this UID, or about any pod of its name if uid is "".
func (p *openPod) events(ctx context.Context, uid string) ([]explain.Event, []explain.Gap) {
	var events []explain.Event
	_, _, err := gather.EachEvent(ctx, p.source.Client, p.namespace, gather.EventsOfPod(p.name), func() { events = nil }, func(event *corev1.Event) {
		e := explain.EventOf(event)
		if uid == "" || e.PodUID == "" || string(e.PodUID) == uid {
			events = append(events, e)
		}
	})
	if err != nil {
		return nil, []explain.Gap{gather.GapOf(p.namespace, "list", "events", err)}
	}
	return events, nil
}

// lose records that the pod is gone. It keeps the detail read before, or else builds one from events.
func (p *openPod) lose(ctx context.Context) {
	p.source.mu.Lock()
	last, seen := p.last, p.seen
	p.source.mu.Unlock()
	var detail explain.PodDetail
	if seen {
		detail = *last
	} else {
		events, gaps := p.events(ctx, "")
		named := explain.PodDetailOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name}}, events)
		detail = explain.PodDetail{Name: p.name, Events: named.Events, Gaps: gaps}
	}
	detail.Gone = true
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	p.last = &detail
	p.show(detail, PodState{Node: p.state.Node, Read: true})
}

// miss records why the pod could not be read. A detail that was read before is kept.
func (p *openPod) miss(gap explain.Gap) {
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	detail := explain.PodDetail{Name: p.name}
	if p.last != nil {
		detail = *p.last
	}
	detail.Gaps = append(slices.Clone(detail.Gaps), gap)
	state := p.state
	state.Gap = gap.Text
	p.show(detail, state)
}

// show publishes the detail, and passes the state to the log. It keeps the previous detail if nothing has changed. The caller
// holds source.mu.
func (p *openPod) show(detail explain.PodDetail, state PodState) {
	if p.detail == nil || !reflect.DeepEqual(*p.detail, detail) {
		p.detail = &detail
		p.source.touch()
	}
	p.state = state
	if p.source.pod == p && p.source.log != nil {
		p.source.log.SetPod(state)
	}
}
