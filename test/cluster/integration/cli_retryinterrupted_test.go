package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// interrupting is a proxy that breaks one write, before or after it reaches the API server.
type interrupting struct {
	*httptest.Server
	left  atomic.Int64 // writes until the broken one
	after bool
}

// newForwarder returns a handler that forwards requests to the API server.
func newForwarder(t *testing.T) http.Handler {
	t.Helper()
	target, err := url.Parse(apiServer.Config.Host)
	assert.NoError(t, err)
	transport, err := rest.TransportFor(apiServer.Config)
	assert.NoError(t, err)
	return &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
}

func startInterrupting(t *testing.T, write int64, after bool) *interrupting {
	t.Helper()
	i := &interrupting{after: after}
	i.left.Store(write)
	forward := newForwarder(t)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writes := r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "selfsubject")
		if !writes || i.left.Add(-1) != 0 {
			forward.ServeHTTP(w, r)
			return
		}
		if i.after {
			forward.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler) // No response.
	}))
	t.Cleanup(i.Close)
	return i
}

// Issue 18: a retry that is interrupted at any call leaves nothing, or a suspended Job without pods, which the next
// retry replaces. If only the response was lost, the retry runs as it should.
// Requirements: RTY-05
func TestInterruptedRetry(t *testing.T) {
	t.Parallel()
	for write := range int64(3) {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write=%d,after=%v", write+1, after), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.startController()
				f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
				f.kubelet.play(f.twoFail)
				f.untilEndsAs("a", batchv1.JobFailed)

				proxy := startInterrupting(t, write+1, after)
				f.startPlugin("retry", "a", "--server", proxy.URL).end()
				if job := f.readJob("a-retry-1"); job != nil && retry.IsPending(job) {
					if !*job.Spec.Suspend || *job.Spec.Parallelism != 0 || f.ranIndexes(job.Name) != "" {
						t.Errorf("it runs half made: %+v", job.Spec)
					}
				}
				if f.readJob("a-retry-1") == nil || retry.IsPending(f.readJob("a-retry-1")) {
					f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "")
				}
				made := f.untilEndsAs("a-retry-1", batchv1.JobComplete)
				if made.Status.Succeeded != 6 || f.ranIndexes("a-retry-1") != "2 4" {
					t.Errorf("%+v, ran %s", made.Status, f.ranIndexes("a-retry-1"))
				}
			})
		}
	}
}

// Of two concurrent retries, the second removes the unfinished Job of the first. When the first continues, it does not
// write its status into the second's Job.
// Requirements: RTY-06
func TestTwoRetriesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
	stop := f.kubelet.play(f.twoFail)
	f.untilEndsAs("a", batchv1.JobFailed)
	stop() // The retry runs until the end of the test.

	held, gate := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(gate) })
	forward := newForwarder(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") {
			close(held)
			<-gate
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(goOn) // Before that, as the proxy waits for its requests.
	first := f.startPlugin("retry", "a", "--indexes", "2", "--server", proxy.URL)
	<-held
	f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs 2 indexes (2,4)")
	f.untilCounts("a-retry-1", counts{active: 2, succeeded: 4})
	goOn()
	first.wantEnd(cmdutil.ExitError, "", "job.batch/a-retry-1 was deleted before it ran, perhaps by another retry")
	if job := f.readJob("a-retry-1"); job.Status.CompletedIndexes != "0,1,3,5" {
		t.Errorf("the first has changed what the second runs: %+v", job.Status)
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a-retry-1", 6, 0)
	assert.Equal(t, f.ranIndexes("a-retry-1"), "2 4", "ran")
}

// Of many concurrent retries, exactly one has its Job run, whatever the others remove and create meanwhile.
// Requirements: RTY-06
func TestManyRetriesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
	f.kubelet.play(f.twoFail)
	f.untilEndsAs("a", batchv1.JobFailed)
	var commands []*command
	for range 8 {
		commands = append(commands, f.startPlugin("retry", "a"))
	}
	won := 0
	for _, c := range commands {
		switch code := c.end(); {
		case code == cmdutil.ExitDone:
			won++
		case code != cmdutil.ExitError, strings.Count(c.errOut.String(), "error: ") != 1, strings.Contains(c.errOut.String(), "choose another name"):
			t.Errorf("exit %d: %s", code, c.errOut.String())
		}
		t.Logf("%s%s", c.out.String(), c.errOut.String())
	}
	if won != 1 {
		t.Errorf("%d of them created a Job", won)
	}
	f.untilComplete("a-retry-1", 6, 0)
	if ran := f.ranIndexes("a-retry-1"); ran != "2 4" || f.readJob("a-retry-2") != nil {
		t.Errorf("ran %s; and %v", ran, f.readJob("a-retry-2"))
	}
}
