package integration

import (
	"net/http"
	"testing"

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
