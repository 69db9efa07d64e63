package integration

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// The API server is unreachable for a while, and pods end meanwhile.
// Requirements: JOB-57
func TestAPIServerOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := startProxy(t, apiServer.Config)
	p := f.startControllerAt(proxy.config(apiServer.Config))
	f.create(newJob(completions(6), parallelism(3), backoffLimit(1)))
	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 3, ready: 3})

	// The last write before the outage records a success.
	removal := p.wire.hold(podPatch)
	f.kubelet.succeed(pods[0])
	f.until("the success is recorded", func() bool { return removal.count() > 0 })
	proxy.close()
	removal.lift()
	f.kubelet.fail(pods[1])
	f.kubelet.succeed(pods[2])
	failed := func(method string) int {
		return len(p.wire.recorded(func(c call) bool { return c.method == method && c.code == 0 }))
	}
	f.until("watches and writes have failed several times", func() bool {
		return failed(http.MethodGet) >= 4 && failed(http.MethodPut)+failed(http.MethodPatch) >= 4
	})
	if !p.running() {
		t.Fatal("the controller has ended")
	}
	proxy.open()
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 6, 1)
	f.wantPodsEver(7)
}

// The API server is unreachable for so long that the leader loses its Lease. Then the same process leads again, and
// continues.
// Requirements: JOB-56, JOB-57
func TestLeadIsLostInAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := startProxy(t, apiServer.Config)
	r := f.startReplicaAt(proxy.config(apiServer.Config), "first", shortLease)
	f.untilLeading(r)
	f.create(newJob(indexed(6), parallelism(2), perIndexLimit(1)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	for range 2 {
		led, _ := r.leads()
		proxy.close()
		f.until("the lead is lost", func() bool { return !r.isWorking() })
		tries := len(r.lease.recorded(everyCall))
		f.until("it has tried to get it several times", func() bool { return len(r.lease.recorded(everyCall)) >= tries+3 })
		for _, pod := range f.pods(history.IsActive) {
			if pod.UID == pods[0].UID {
				f.kubelet.fail(pod)
			} else {
				f.kubelet.succeed(pod)
			}
		}
		proxy.open()
		f.until("it leads again", func() bool { again, _ := r.leads(); return again > led })
		f.untilActive(2)
		if !r.running() {
			t.Fatal("the process has ended")
		}
	}
	f.kubelet.play(everySucceeds)
	f.wantIndexes(f.untilComplete("a", 6, 1), "0-5", "")
	f.wantPodsEver(7)
	f.untilReleased()
}

// The API server accepts requests without responding: each request times out, and is repeated. Requests that took effect
// all the same are not carried out twice.
// Requirements: JOB-57
func TestAPIServerHangs(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*wire) (*fault, func()){
		"requests are lost": func(w *wire) (*fault, func()) { h := w.hold(anyWrite); return h.fault, h.lift },
		"answers are lost":  func(w *wire) (*fault, func()) { h := w.commitAndHang(anyWrite); return h.fault, h.lift },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController(func(c *controller.Config) { c.CallTimeout = 3 * time.Second }) // A busy server needs a second.
			f.create(newJob(indexed(4), parallelism(2), perIndexLimit(1)))
			pods := f.untilActive(2)
			f.kubelet.run(pods...)
			f.untilCounts("a", counts{active: 2, ready: 2})
			hanging, lift := disturb(p.wire)
			f.kubelet.fail(pods[0])
			f.kubelet.succeed(pods[1])
			f.until("several calls have hung", func() bool { return hanging.count() >= 3 })
			lift()
			f.kubelet.play(everySucceeds)
			f.wantIndexes(f.untilComplete("a", 4, 1), "0-3", "")
			f.wantPodsEver(5)
			f.untilReleased()
		})
	}
}

// commitAndHang forwards requests, and withholds the responses until it is lifted.
func (w *wire) commitAndHang(m match) *held {
	return w.holding(m, func(send func() (*http.Response, error), open chan struct{}) (*http.Response, error) {
		if response, err := send(); err == nil {
			_ = response.Body.Close()
		}
		<-open
		return nil, errCut
	})
}

// Both watches end because their resourceVersion has expired. While there is no watch, a pod ends, another one is
// removed, and the Job is edited.
// Requirements: JOB-55, JOB-57
func TestWatchesExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(3), parallelism(2), perIndexLimit(1)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	everyWatch := match(func(c call) bool { return c.watch })
	away := p.wire.cut(everyWatch)
	p.wire.endWatches(everyWatch)
	f.until("the watches were to begin anew", func() bool { return away.count() >= 2 })
	f.kubelet.fail(pods[0])
	f.vanish(pods[1])
	f.edit("a", map[string]any{"parallelism": 3})
	expired := p.wire.expire(everyWatch)
	f.until("both watches have expired", func() bool { return expired.hitsOf("jobs") > 0 && expired.hitsOf("pods") > 0 })
	expired.lift()
	away.lift()
	f.untilActive(3)
	f.untilIndexes("a", counts{active: 3, failed: 1}, "", "")
	f.kubelet.play(everySucceeds)
	f.wantIndexes(f.untilComplete("a", 3, 1), "0-2", "")
	f.wantPodsEver(5)
	f.untilReleased()
}

// expiry is a fault that ends watches with an error event.
type expiry struct {
	*fault
	mu   sync.Mutex
	hits map[string]int
}

func (e *expiry) hitsOf(resource string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hits[resource]
}

// expire makes watches start, and then report that their resourceVersion has expired.
func (w *wire) expire(m match) *expiry {
	e := &expiry{hits: map[string]int{}}
	e.fault = w.add(&fault{forges: true, match: func(c call) bool {
		if !m(c) {
			return false
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hits[c.resource]++
		return true
	}, disturb: func(func() (*http.Response, error)) (*http.Response, error) {
		answer := forgedAnswer(http.StatusGone)
		status, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, err
		}
		answer.StatusCode = http.StatusOK
		answer.Body = io.NopCloser(strings.NewReader(`{"type":"ERROR","object":` + string(status) + "}\n"))
		return answer, nil
	}})
	return e
}
