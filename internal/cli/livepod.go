package cli

import (
	"context"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

const (
	podSoonest = time.Second      // between two readings of a pod that changes
	podRetry   = 5 * time.Second  // after one that failed
	podAnyway  = 30 * time.Second // without news
)

// livePod is the pod that is open. It is read again when a watch tells of it.
type livePod struct {
	source          *liveSource
	namespace, name string
	news            chan struct{}

	// under source.mu
	detail *explain.PodDetail // nil until there was an answer
	last   *explain.PodDetail // what the last good answer told, nil for none
	seen   bool               // it was there
	book   *logs.Pod          // what is known of its logs; nil if it is not there
	node   string
	read   bool   // it is known whether it is there
	gap    string // why it is not, or not any more, kept up with; "" if it is
}

func newLivePod(s *liveSource, namespace, name string) *livePod {
	return &livePod{source: s, namespace: namespace, name: name, news: make(chan struct{}, 1)}
}

func (p *livePod) run(ctx context.Context) error {
	for {
		again := podAnyway
		if err := p.readOnce(ctx); err != nil {
			again = podRetry
		}
		if err := p.source.pause(ctx, podSoonest, nil); err != nil {
			return err
		}
		if err := p.source.pause(ctx, again-podSoonest, p.news); err != nil {
			return err
		}
	}
}

// readOnce returns what another attempt may mend.
func (p *livePod) readOnce(ctx context.Context) error {
	pod, err := p.source.client.CoreV1().Pods(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsNotFound(err):
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
	p.last, p.seen, p.book, p.node, p.read, p.gap = &detail, true, logs.NewPod(pod), pod.Spec.NodeName, true, ""
	p.tell(detail)
	return nil
}

// events are those about the pod; about any of its name for uid "".
func (p *livePod) events(ctx context.Context, uid string) ([]explain.Event, []explain.Gap) {
	var events []explain.Event
	_, _, err := gather.EachEvent(ctx, p.source.client, p.namespace, gather.EventsOfPod(p.name), func() { events = nil }, func(event *corev1.Event) {
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

// lose keeps what was read before, or else what events tell.
func (p *livePod) lose(ctx context.Context) {
	p.source.mu.Lock()
	last, seen := p.last, p.seen
	p.source.mu.Unlock()
	var detail explain.PodDetail
	if seen {
		detail = *last
	} else {
		events, gaps := p.events(ctx, "")
		told := explain.PodDetailOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name}}, events)
		detail = explain.PodDetail{Name: p.name, Events: told.Events, Gaps: gaps}
	}
	detail.Gone = true
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	p.last, p.book, p.read, p.gap = &detail, nil, true, ""
	p.tell(detail)
}

// miss says why there is nothing, or nothing newer. What was read before stays.
func (p *livePod) miss(gap explain.Gap) {
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	detail := explain.PodDetail{Name: p.name}
	if p.last != nil {
		detail = *p.last
	}
	detail.Gaps = append(slices.Clone(detail.Gaps), gap)
	p.gap = gap.Text
	p.tell(detail)
}

// tell shows what is known now, and tells the log. It is the detail of before if nothing in it has changed. source.mu is
// held.
func (p *livePod) tell(detail explain.PodDetail) {
	if p.detail == nil || !reflect.DeepEqual(*p.detail, detail) {
		p.detail = &detail
		p.source.touch()
	}
	if log := p.source.log; log != nil && log.pod == p {
		notify(log.news)
	}
}
