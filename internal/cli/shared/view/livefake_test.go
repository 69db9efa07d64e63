package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed/live"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// fakeLive wraps the other fakes, and serves the additional requests of a live.Source: single pods, and watches of
// events. It counts the open watches.
type fakeLive struct {
	t    *testing.T
	api  *clitest.API
	pods *clitest.Pods
	rest *clitest.Objects

	mu      sync.Mutex
	open    map[string]int // open watches, by the last part of the path
	asked   []string
	events  []*corev1.Event
	lease   *coordinationv1.Lease // nil for none
	changed chan struct{}
}

func newFakeLive(t *testing.T, jobs ...*unstructured.Unstructured) *fakeLive {
	t.Helper()
	o := clitest.NewObjects(t, jobs...)
	l := &fakeLive{t: t, api: o.API, pods: o.Pods, rest: o, open: map[string]int{}, changed: make(chan struct{})}
	o.API.Server.Close()
	l.start("127.0.0.1:0")
	return l
}

func (l *fakeLive) start(address string) {
	l.t.Helper()
	listener, err := net.Listen("tcp", address)
	assert.NoError(l.t, err)
	l.api.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: l}}
	l.api.Server.Start()
	l.api.Address = listener.Addr().String()
}

func (l *fakeLive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := path[len(path)-1]
	l.api.Await(r)
	watches := r.URL.Query().Get("watch") == "true"
	l.note(r.Method + " " + r.URL.RequestURI())
	if watches {
		l.count(last, 1)
		defer l.count(last, -1)
	}
	l.api.Mu.Lock()
	refuse := l.api.Refuse
	l.api.Mu.Unlock()
	if refuse != nil {
		if status := refuse(r); status != nil {
			clitest.WriteStatus(w, status, "")
			return
		}
	}
	switch {
	case last == "leases" && l.lease != nil:
		clitest.WriteJSON(w, http.StatusOK, coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{Kind: "LeaseList", APIVersion: "coordination.k8s.io/v1"}, Items: []coordinationv1.Lease{*l.lease}})
	case last == "node-lost":
		clitest.WriteJSON(w, http.StatusOK, corev1.Node{
			TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: last},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}},
		})
	case last == "events" && watches:
		l.watchEvents(w, r)
	default:
		l.rest.ServeHTTP(w, r)
	}
}

func (l *fakeLive) note(request string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, request)
}

func (l *fakeLive) requests(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, request := range l.asked {
		if strings.Contains(request, part) {
			n++
		}
	}
	return n
}

func (l *fakeLive) count(kind string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[kind] += n
}

// watching returns the numbers of open watches: "jobs 1 pods 0 events 0".
func (l *fakeLive) watching() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("jobs %d pods %d events %d", l.open["jobs"], l.open["pods"], l.open["events"])
}

// report adds an event.
func (l *fakeLive) report(pod, reason string) {
	event := &corev1.Event{
		TypeMeta:   metav1.TypeMeta{Kind: "Event", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: pod + "." + reason}, Type: "Warning", Reason: reason, Message: "of " + pod,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod}, LastTimestamp: metav1.NewTime(clitest.Now()),
	}
	l.rest.Mu.Lock()
	l.rest.Events = append(l.rest.Events, event)
	l.rest.Mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	event = event.DeepCopy()
	event.ResourceVersion = strconv.Itoa(len(l.events) + 2)
	l.events = append(l.events, event)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *fakeLive) watchEvents(w http.ResponseWriter, r *http.Request) {
	selector, _ := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for sent := 0; ; {
		w.(http.Flusher).Flush()
		l.mu.Lock()
		events, changed := l.events, l.changed
		l.mu.Unlock()
		for ; sent < len(events); sent++ {
			about := events[sent].InvolvedObject
			if selector.Matches(fields.Set{"involvedObject.kind": about.Kind, "involvedObject.name": about.Name, "involvedObject.uid": ""}) {
				_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": events[sent]})
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// liveSession is a source that runs until the end of the test.
type liveSession struct {
	t      *testing.T
	api    *fakeLive
	clock  *clitest.Clock
	source *live.Source
	cancel context.CancelFunc
	done   chan error
}

// startLive starts a source for all Jobs of ns1, or for the named ones.
func startLive(t *testing.T, api *fakeLive, names ...string) *liveSession {
	t.Helper()
	return startLiveWith(t, api, DefaultLogLines, names...)
}

// startLiveWith is startLive with logLines lines of logs in the evidence.
func startLiveWith(t *testing.T, api *fakeLive, logLines int64, names ...string) *liveSession {
	t.Helper()
	return startLiveAs(t, api, logLines, func(*cmdutil.Env) {}, names...)
}

// startLiveAs is startLiveWith with a changed environment.
func startLiveAs(t *testing.T, api *fakeLive, logLines int64, change func(*cmdutil.Env), names ...string) *liveSession {
	t.Helper()
	clock := clitest.NewClock()
	env := clock.Env()
	change(&env)
	config := &rest.Config{Host: api.api.URL()}
	jobs, err := cmdutil.NewJobsClient(config)
	assert.NoError(t, err)
	source, err := connectLive(config, feed.JobSet{Client: jobs.Namespace("ns1"), Namespace: "ns1", Names: names}, logLines, env)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s := &liveSession{t: t, api: api, clock: clock, source: source, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- source.Run(ctx) }()
	t.Cleanup(cancel)
	return s
}

func (s *liveSession) latest() *snapshot.Snapshot {
	now, stop := context.WithCancel(context.Background())
	stop()
	if latest, err := s.source.Next(now, 0); err == nil {
		return latest
	}
	return &snapshot.Snapshot{}
}

// until advances the clock until a Snapshot satisfies ok.
func (s *liveSession) until(what string, ok func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
	s.t.Helper()
	return s.untilStepping(what, ok, func() { s.clock.Advance(100 * time.Millisecond) })
}

// untilWithin is until in small steps of the clock, which hardly advances after the limit: a source that gets no CPU
// time then does not miss a temporary state. From then on, waits end immediately, so that waits which began late end,
// too.
func (s *liveSession) untilWithin(limit time.Duration, what string, ok func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
	s.t.Helper()
	end := s.clock.Now().Add(limit)
	return s.untilStepping(what, ok, func() {
		if s.clock.Now().Before(end) {
			s.clock.Advance(10 * time.Millisecond)
			return
		}
		s.clock.Advance(100 * time.Microsecond)
		s.clock.Fire()
	})
}

func (s *liveSession) untilStepping(what string, ok func(*snapshot.Snapshot) bool, step func()) *snapshot.Snapshot {
	s.t.Helper()
	var latest *snapshot.Snapshot
	clitest.WaitFor(s.t, func() bool {
		step()
		latest = s.latest()
		return ok(latest)
	}, func() string {
		text, _ := json.MarshalIndent(latest, "", " ")
		return fmt.Sprintf("waiting until %s; watches: %s\n%s", what, s.api.watching(), text)
	})
	return latest
}

// pass lets d pass.
func (s *liveSession) pass(d time.Duration) {
	s.t.Helper()
	end := s.clock.Now().Add(d)
	s.until("time passes", func(*snapshot.Snapshot) bool { return !s.clock.Now().Before(end) })
}

// steady advances the clock until a part of the Snapshots has been the same for d, and returns it: a goroutine that runs late may
// still change what was there at first.
func steady[T comparable](s *liveSession, d time.Duration, part func(*snapshot.Snapshot) T) (last T) {
	s.t.Helper()
	var since time.Time
	s.until("it stays the same", func(got *snapshot.Snapshot) bool {
		if now := part(got); since.IsZero() || now != last {
			last, since = now, got.Time
		}
		return got.Time.Sub(since) >= d
	})
	return last
}

func (s *liveSession) untilWatching(want string) {
	s.t.Helper()
	clitest.WaitFor(s.t, func() bool { s.clock.Advance(100 * time.Millisecond); return s.api.watching() == want }, func() string {
		return fmt.Sprintf("watches: %s, want %s", s.api.watching(), want)
	})
}

// open opens a Job of ns1, and waits for its report.
func (s *liveSession) open(name string) *snapshot.Snapshot {
	s.t.Helper()
	s.source.Look(snapshot.Focus{Job: types.NamespacedName{Namespace: "ns1", Name: name}})
	return s.until("Job "+name+" is there", func(got *snapshot.Snapshot) bool {
		return got.Job != nil && got.Job.Report.Job.Name == name && got.Focus.Job.Name == name
	})
}

// end interrupts the source, and checks that nothing keeps running and nothing was written.
func (s *liveSession) end() {
	s.t.Helper()
	s.cancel()
	if err := s.ended(); !errors.Is(err, context.Canceled) {
		s.t.Errorf("it ended with %v", err)
	}
}

// ended waits for the end of the source, and returns its error.
func (s *liveSession) ended() (err error) {
	s.t.Helper()
	clitest.WaitFor(s.t, func() bool {
		s.clock.Advance(time.Second)
		select {
		case err = <-s.done:
			return true
		default:
			return false
		}
	}, func() string { return "it does not end" })
	var stacks strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	for _, left := range []string{"live.(*", "feed.(*", "cli.(*liveLog)"} {
		assert.NotContains(s.t, stacks.String(), left)
	}
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	for _, request := range s.api.asked {
		if !strings.HasPrefix(request, "GET ") {
			s.t.Errorf("it wrote: %s", request)
		}
	}
	return err
}
