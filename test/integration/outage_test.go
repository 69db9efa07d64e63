package integration

import (
	"net/http"
	"testing"
)

// The API server cannot be reached for a while, and pods end meanwhile.
func TestAPIServerOutage_JOB_57(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := startProxy(t, apiServer.config)
	p := f.startControllerAt(proxy.config(apiServer.config))
	f.create(newJob(completions(6), parallelism(3), backoffLimit(1)))
	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 3, ready: 3})

	// The last thing that gets through is the record of a success.
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
