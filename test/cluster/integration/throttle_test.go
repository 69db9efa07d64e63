package integration

import (
	"net/http"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// throttle responds with 429 and Retry-After.
func (w *wire) throttle(m match, retryAfter string) *fault {
	return w.add(&fault{match: m, forges: true, disturb: func(func() (*http.Response, error)) (*http.Response, error) {
		answer := forgedAnswer(http.StatusTooManyRequests)
		answer.Header.Set("Retry-After", retryAfter)
		return answer, nil
	}})
}

// perCall is how often client-go sends a throttled call.
const perCall = 11

// ofJob narrows a match to the status of a Job, and to requests that contain its UID.
func (m match) ofJob(job *batchv1.Job) match {
	return func(c call) bool { return m(c) && (c.name == job.Name || m.holding(string(job.UID))(c)) }
}

// The API server requests a pause. The Job waits, and others do not, while there is a worker for them: here there are
// two.
// Requirements: JOB-57
func TestThrottledJobHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]match{"creations": podPost, "status writes": statusPut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController(func(c *controller.Config) { c.Workers = 2 })
			f.untilWorking()
			job := newJob(completions(3), parallelism(2), suspended)
			job = f.create(job)
			f.untilIs("a", batchv1.JobSuspended)
			throttled, began := p.wire.throttle(m.ofJob(job), "1"), time.Now()
			f.edit("a", suspend(false))
			f.until("the Job is throttled", func() bool { return throttled.count() > 0 })
			f.kubelet.play(everySucceeds)
			for _, other := range []string{"b", "c", "d"} {
				f.create(named(other, newJob(completions(2), parallelism(2))))
				f.untilComplete(other, 2, 0)
			}
			if n, lasted := throttled.count(), time.Since(began); n > max(perCall, int(lasted.Seconds())+1) {
				t.Errorf("%d requests in %v although there was to be a pause of 1 s", n, lasted)
			}
			if history.IsFinished(f.history.job("a")) {
				t.Error("the throttled Job has finished")
			}
			throttled.lift()
			f.untilComplete("a", 3, 0)
			f.wantPodsEver(9)
			f.untilReleased()
		})
	}
}

// The API server is overloaded for a long time: several times, all of client-go's attempts for a call fail. Afterward
// the Job continues, with nothing lost or doubled.
// Requirements: JOB-57
func TestLongThrottling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		match  match
		counts string
	}{
		"creations":          {podPost, "api_calls_total{resource=pods,result=throttled,verb=create}"},
		"status writes":      {statusPut, "api_calls_total{resource=jobs/status,result=throttled,verb=update}"},
		"finalizer removals": {podPatch, "api_calls_total{resource=pods,result=throttled,verb=patch}"},
		"everything":         {everyCall, "api_calls_total{resource=jobs/status,result=throttled,verb=update}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			m := f.newMeter()
			p := f.startController(m.counts)
			f.create(newJob(completions(4), parallelism(2), backoffLimit(1)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			throttled := p.wire.throttle(c.match, "0")
			if name == "everything" {
				p.wire.endWatches(everyCall)
			}
			f.kubelet.fail(pods[0])
			f.kubelet.succeed(pods[1])
			if name == "everything" {
				f.edit("a", map[string]any{"parallelism": 3})
				f.until("lists and watches have failed several times", func() bool { return throttled.count() > 2*perCall })
			} else {
				f.until("several calls have failed", func() bool { return m.read("api_calls_total")[c.counts] >= 3 })
			}
			throttled.lift()
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 4, 1)
			f.wantPodsEver(5)
			f.untilReleased()
		})
	}
}
