package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// An admission policy forbids removing the finalizer of one pod. The Job's other pods are
// counted, other Jobs end, the tries become rarer, and an event, the log and metrics show
// what is wrong. Once it is possible, everything is counted. (The text of the event, and that
// there is only one, are tested with the events.)
func TestOnePodCannotBeFreed_REG_31_JOB_57(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	const longest = 400 * time.Millisecond
	p := f.startController(m.counts, func(c *controller.Config) { c.RetryMin, c.RetryMax = 25*time.Millisecond, longest })
	f.create(newJob(completions(4), parallelism(2), backoffLimit(3)))
	pods := f.untilActive(2)
	f.untilCounts("a", counts{active: 2})
	stuck := pods[1]
	forbidden := metav1.StatusReasonForbidden
	lift := f.forbid(admissionv1.Update, fmt.Sprintf("object.metadata.name != %q", stuck.Name), &forbidden, func() error { return f.tryLabel(stuck) })

	f.kubelet.fail(pods[0])
	f.kubelet.succeed(stuck)
	f.kubelet.play(everySucceeds)
	// The two that replace them, and the failure; the success is recorded, and not counted.
	f.untilJob("a", "has counted all but one pod", func(job *batchv1.Job) bool {
		return job.Status.Succeeded == 3 && job.Status.Failed == 1 && slices.Equal(history.UncountedSucceeded(job), []types.UID{stuck.UID})
	})
	for _, other := range []string{"b", "c"} {
		f.create(named(other, newJob(completions(2), parallelism(2), backoffLimit(0))))
		f.untilComplete(other, 2, 0)
	}

	tries := p.wire.clock(podPatch.named(stuck.Name))
	f.until("the waits between two tries have become long", func() bool { return tries.lastWait() >= longest*9/10 })
	seen := tries.count()
	f.until("it was tried again", func() bool { return tries.count() >= seen+3 })
	if wait := tries.lastWait(); wait < longest*9/10 {
		t.Errorf("the last wait was %v", wait)
	}
	if n := m.read("api_calls_total")["api_calls_total{resource=pods,result=forbidden,verb=patch}"]; n < float64(seen) {
		t.Errorf("%v patches are counted as forbidden, of more than %d", n, seen)
	}
	if age := m.gauge("oldest_uncounted_pod_age_seconds"); age <= 0 {
		t.Errorf("the oldest uncounted pod has an age of %v s", age)
	}
	if log := p.log.String(); !strings.Contains(log, `"Sync failed, will retry"`) || !strings.Contains(log, stuck.Name) || !strings.Contains(log, "not today") {
		t.Errorf("the log does not say what is wrong")
	}
	if e := f.untilEvent("a", "FailedPatch"); !strings.Contains(e.Message, stuck.Name) || !strings.Contains(e.Message, "not today") {
		t.Errorf("the event says %q", e.Message)
	}

	lift()
	f.untilComplete("a", 4, 1)
	f.wantPodsEver(9)
	f.untilReleased()
	f.until("no pod waits to be counted", func() bool { return m.gauge("oldest_uncounted_pod_age_seconds") == 0 })
}

// clock notes when calls are made, and lets them through.
func (w *wire) clock(m match) *clocked {
	c := &clocked{}
	w.add(&fault{match: m, disturb: func(send func() (*http.Response, error)) (*http.Response, error) {
		c.mu.Lock()
		c.times = append(c.times, time.Now())
		c.mu.Unlock()
		return send()
	}})
	return c
}

type clocked struct {
	mu    sync.Mutex
	times []time.Time
}

func (c *clocked) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

// lastWait is the time between the last two calls.
func (c *clocked) lastWait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.times)
	if n < 2 {
		return 0
	}
	return c.times[n-1].Sub(c.times[n-2])
}

// gauge is the value of a metric without labels, whose name is given without the prefix.
func (m *meter) gauge(name string) float64 {
	m.f.t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		m.f.t.Fatalf("gathering metrics: %v", err)
	}
	for _, family := range families {
		if family.GetName() == "job_controller_"+name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	m.f.t.Fatalf("there is no metric %s", name)
	return 0
}
