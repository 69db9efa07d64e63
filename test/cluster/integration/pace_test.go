package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// anyCall matches all calls except watches.
func anyCall(c call) bool { return !c.watch }

// status.terminating costs no request of its own: no status write changes nothing else, and the deletion of a pod takes the same
// requests for pods with it as without. The number of status writes follows from whether the next pod is created before its
// predecessor is counted, which is a matter of time.
// Requirements: PRP-11
func TestNoRequestsForTerminating(t *testing.T) {
	t.Parallel()
	requests := map[string]map[string]int{}
	for name, on := range map[string]bool{"on": true, "off": false} {
		f := newFixture(t)
		p := f.startController(func(c *controller.Config) {
			gate := controller.NewFeatureGate()
			assert.NoError(t, gate.SetFromMap(map[string]bool{string(controller.JobPodReplacementPolicy): on}))
			c.FeatureGate = gate
			c.BatchPeriod = time.Nanosecond // Nothing is postponed, so that the number of writes does not depend on timing.
		})
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
		if n := f.onlyTerminating(); n > 0 {
			t.Errorf("gate %s: %d status writes change nothing but terminating", name, n)
		}
		requests[name] = map[string]int{}
		for _, c := range p.wire.recorded(anyCall)[before:] {
			requests[name][c.method+" "+c.resource]++
		}
	}
	for _, kind := range []string{"PATCH pods", "POST pods"} {
		if on, off := requests["on"][kind], requests["off"][kind]; on != 1 || off != 1 {
			t.Errorf("%s: %d requests with the gate, %d without: %v", kind, on, off, requests)
		}
	}
}

// onlyTerminating returns how many versions of Jobs differ from the ones before in status.terminating, and in nothing else.
func (f *fixture) onlyTerminating() (n int) {
	before := map[types.UID]*batchv1.Job{}
	for _, v := range f.history.stored() {
		if v.Job == nil {
			continue
		}
		if old := before[v.Job.UID]; old != nil && ptr.Deref(old.Status.Terminating, 0) != ptr.Deref(v.Job.Status.Terminating, 0) {
			status := v.Job.Status.DeepCopy()
			status.Terminating = old.Status.Terminating
			if equality.Semantic.DeepEqual(old.Status, *status) {
				n++
			}
		}
		before[v.Job.UID] = v.Job
	}
	return n
}
