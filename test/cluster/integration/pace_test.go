package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// oneByOne makes a controller that postpones nothing, so that the number of its writes does not depend on timing.
func oneByOne(c *controller.Config) { c.BatchPeriod = time.Nanosecond }

// anyCall matches all calls except watches.
func anyCall(c call) bool { return !c.watch }

// status.terminating costs no request of its own: the deletion of pods takes as many requests with it as without.
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
