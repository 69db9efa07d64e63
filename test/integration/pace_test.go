package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// status.ready is a number from the first status on, and counts the active pods that are
// ready: 2, 52, and 50 when two have failed and when two more are not ready any longer. Many
// pods that become ready one after the other are one write in a batch period.
func TestReadyPodsShareStatusWrites_JOB_32_REG_18(t *testing.T) {
	t.Parallel()
	const period = time.Second
	f := newFixture(t)
	p := f.startController(neverRetry, func(c *controller.Config) { c.BatchPeriod = period })
	writes := func() int { return len(p.wire.recorded(statusPut)) }
	f.create(newJob(completions(54), parallelism(52)))
	pods := f.untilActive(52)
	job := f.untilCounts("a", counts{active: 52})
	if job.Status.Ready == nil {
		t.Error("ready is nil")
	}
	f.kubelet.run(pods[:2]...)
	f.untilCounts("a", counts{active: 52, ready: 2})

	before, begun := writes(), time.Now()
	f.kubelet.run(pods[2:]...)
	f.untilCounts("a", counts{active: 52, ready: 52})
	if n, limit := writes()-before, int(time.Since(begun)/period)+2; n > limit {
		t.Errorf("%d status writes in %v for 50 pods that became ready", n, time.Since(begun))
	}
	f.kubelet.fail(pods[:2]...)
	f.untilCounts("a", counts{active: 50, ready: 50, failed: 2})
	for _, pod := range pods[2:4] {
		f.kubelet.write(pod, corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}})
	}
	f.untilCounts("a", counts{active: 50, ready: 48, failed: 2})
	for _, v := range f.history.sorted() {
		if v.job != nil && v.job.Status.StartTime != nil && v.job.Status.Ready == nil {
			t.Errorf("a status without ready: %+v", v.job.Status)
		}
	}
}

// The defaults are those of production: one second between syncs.
func TestIndexedJobCompletesWithDefaults_JOB_53(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController(func(c *controller.Config) {
		*c = controller.Config{Client: c.Client, EventClient: c.EventClient, Namespaces: c.Namespaces}
	})
	f.create(newJob(indexed(10)))
	f.kubelet.play(everySucceeds)
	job := f.untilComplete("a", 10, 0)
	// About one write a second, and three for the conditions and the start.
	took := job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
	if n, limit := len(p.wire.recorded(statusPut)), int(took.Seconds())+5; n > limit {
		t.Errorf("%d status writes in %v", n, took)
	}
}

// oneByOne makes a controller that puts nothing off, so that how often it writes does not
// depend on how long things take.
func oneByOne(c *controller.Config) { c.BatchPeriod = time.Nanosecond }

// anyCall chooses what is done at one time, other than watches.
func anyCall(c call) bool { return !c.watch }

// status.terminating costs no request of its own: what happens when pods are deleted
// takes as many with it as without.
func TestNoRequestsForTerminating_PRP_11(t *testing.T) {
	t.Parallel()
	requests := map[string]map[string]int{}
	gates := map[string][]func(*controller.Config){"on": nil, "off": {gateOff(controller.JobPodReplacementPolicy)}}
	for name, gate := range gates {
		f := newFixture(t)
		p := f.startController(append(gate, oneByOne)...)
		f.create(newJob(indexed(2), onNode))
		f.kubelet.run(f.untilActive(2)...)
		f.untilCounts("a", counts{active: 2, ready: 2})
		before := len(p.wire.recorded(anyCall))
		f.deletePods(f.indexOfJob("a", 0))
		f.untilJob("a", "has counted the deleted pod", func(job *batchv1.Job) bool {
			return job.Status.Failed == 1 && job.Status.Active == 2
		})
		f.untilPods(2, "tracked", history.IsTracked)
		p.stop()
		requests[name] = map[string]int{}
		for _, c := range p.wire.recorded(anyCall)[before:] {
			requests[name][c.method+" "+c.resource]++
		}
	}
	for name := range gates {
		for kind, n := range requests[name] {
			if requests["on"][kind] != n || requests["off"][kind] != n {
				t.Fatalf("requests: %v", requests)
			}
		}
	}
}
