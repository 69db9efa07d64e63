package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// played is a Collection with scripted responses; it records what a Watch does with them.
type played struct {
	t       *testing.T
	answers []any // for a list: nil or an error; for a watch: an error or events
	did     []string
}

func (p *played) next() any {
	if len(p.answers) == 0 {
		p.t.Fatalf("one request too many: %q", p.did)
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer
}

func (p *played) collection() Collection {
	call := apicall.Call{Resource: "pods"}
	return Collection{
		Call: call,
		List: func(context.Context) (string, error) {
			p.did = append(p.did, "list")
			err, _ := p.next().(error)
			call.Verb = "list"
			return "5", call.Wrap(err)
		},
		Open: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			p.did = append(p.did, "watch "+options.ResourceVersion)
			switch answer := p.next().(type) {
			case error:
				return nil, answer
			case []watch.Event:
				return stream(answer), nil
			}
			return watch.NewEmptyWatch(), nil
		},
		OnEvent: func(kind watch.EventType, object runtime.Object) error {
			pod := object.(*corev1.Pod)
			p.did = append(p.did, strings.ToLower(string(kind))+" "+pod.ResourceVersion)
			if pod.Name == "last" {
				return errors.New("enough")
			}
			return nil
		},
	}
}

// stream returns a watch that ends after the events.
func stream(events []watch.Event) watch.Interface {
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, event := range events {
		w.Action(event.Type, event.Object)
	}
	w.Stop()
	return w
}

func seen(kind watch.EventType, name, version string) watch.Event {
	return watch.Event{Type: kind, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}}
}

// The loop sends the right requests, reports losses, refusals and recoveries, and ends when it should.
// Requirements: CLI-07, CLI-08
func TestWatchGoesOnUntilThereIsAnEnd(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	forbidden, unauthorized := apierrors.NewForbidden(pods, "", errors.New("no")), apierrors.NewUnauthorized("no")
	expired, busy := apierrors.NewResourceExpired("old"), apierrors.NewServiceUnavailable("busy")
	last := []watch.Event{seen(watch.Modified, "last", "9")}
	for _, c := range []struct {
		name     string
		retry    time.Duration
		optional bool
		answers  []any
		want     string
		end      string
	}{
		{
			"a watch is continued where it ended", 0, false,
			[]any{nil, []watch.Event{seen(watch.Added, "a", "6"), seen(watch.Bookmark, "", "8")}, last},
			"list, watch 5, open, added 6, watch 8, open, modified 9", "enough",
		},
		{
			"an expired version is no failure", 0, false,
			[]any{nil, expired, nil, []watch.Event{{Type: watch.Error, Object: &expired.ErrStatus}}, nil, last},
			"list, watch 5, list, watch 5, open, list, watch 5, open, modified 9", "enough",
		},
		{
			"a lost connection comes back", 0, false,
			[]any{busy, nil, nil, busy, last},
			"list, lost list, list, watch 5, watch 5, watch 5, back, open, modified 9", "enough",
		},
		{
			"an error in the stream is a loss", 0, false,
			[]any{nil, []watch.Event{{Type: watch.Error, Object: &busy.ErrStatus}}, last},
			"list, watch 5, open, lost watch, watch 5, back, open, modified 9", "enough",
		},
		{
			"a refusal that lasts is the end", 0, false,
			[]any{nil, forbidden, forbidden, forbidden},
			"list, watch 5, lost watch, watch 5, watch 5", "watch pods: pods is forbidden: no",
		},
		{
			"what may only be listed is listed again", time.Minute, false,
			[]any{nil, forbidden, nil, forbidden, nil, last},
			"list, watch 5, unwatched watch, list, watch 5, unwatched watch, list, watch 5, open, modified 9", "enough",
		},
		{
			"what may not be listed anymore is the end", time.Minute, false,
			[]any{nil, forbidden, forbidden, forbidden, forbidden},
			"list, watch 5, unwatched watch, list, lost list, list, list", "list pods: pods is forbidden: no",
		},
		{
			"what is optional is asked for again", time.Minute, true,
			[]any{forbidden, nil, forbidden, unauthorized, unauthorized, unauthorized, nil, last},
			"list, refused list, list, watch 5, unwatched watch, list, lost list, list, list, back, refused list, list, watch 5, open, modified 9", "enough",
		},
	} {
		p := &played{t: t, answers: c.answers}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		timing := Timing{
			Now: func() time.Time { now = now.Add(time.Second); return now },
			Ticks: func(time.Duration) (<-chan time.Time, func()) {
				beat := make(chan time.Time, 1)
				beat <- now
				return beat, func() {}
			},
			Backoff: Backoff{First: time.Nanosecond, Max: time.Nanosecond, RefusalGrace: 2 * time.Second},
		}
		w := &Watch{Collection: p.collection(), RetryAfter: c.retry, Optional: c.optional}
		w.Connection = NewConnection(timing, func(failure error) {
			note := "back"
			if failure != nil {
				note = "lost " + apicall.Of(failure).Verb
			}
			p.did = append(p.did, note)
		})
		w.OnRefusal = func(r *Refusal) {
			note := "open"
			switch {
			case r != nil && r.Unwatched():
				note = "unwatched " + r.Call.Verb
			case r != nil:
				note = "refused " + r.Call.Verb
			}
			p.did = append(p.did, note)
		}
		err := w.Run(context.Background())
		if got := strings.Join(p.did, ", "); got != c.want || fmt.Sprint(err) != c.end || len(p.answers) > 0 {
			t.Errorf("%s:\n%s\nwant\n%s\nit ended with %v, want %s", c.name, got, c.want, err, c.end)
		}
	}
}
