package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// gates are controllers with and without podReplacementPolicy.
var gates = map[string][]func(*controller.Config){"on": {}, "off": {withoutReplacementPolicy}}

func withoutPerIndex(c *controller.Config)          { gateOff(controller.JobBackoffLimitPerIndex)(c) }
func withoutReplacementPolicy(c *controller.Config) { gateOff(controller.JobPodReplacementPolicy)(c) }

// oneByOne makes a controller that puts nothing off, so that how often it writes does not
// depend on how long things take.
func oneByOne(c *controller.Config) { c.BatchPeriod = time.Nanosecond }

// Without the feature its fields count for nothing: indexes that have failed run again,
// and only backoffLimit ends the Job.
func TestPerIndexIsSwitchedOff_BLI_34(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(3), perIndexLimit(0), maxFailedIndexes(1), backoffLimit(3)))
	f.untilIndexes("a", counts{active: 3}, "", "")
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2, failed: 1}, "", "0")

	f.restart(p, withoutPerIndex)
	f.untilIndexes("a", counts{active: 3, failed: 1}, "", none)
	f.wantFailureCount(f.podOfIndex(0), none)
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", none)
	// Two indexes have failed, and one may.
	f.kubelet.fail(f.podOfIndex(1))
	f.untilIndexes("a", counts{active: 3, failed: 3}, "", none)
	f.kubelet.fail(f.podOfIndex(2))
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 6), "", none)
	f.wantPodsEver(6)
	f.untilReleased()
}

// Without the feature, rules that fail an index are passed over.
func TestPerIndexIsOffForRules_BLI_34(t *testing.T) {
	t.Parallel()
	rules := failurePolicy(onExit(batchv1.PodFailurePolicyActionFailIndex, 42, 43), onExit(batchv1.PodFailurePolicyActionFailJob, 42))
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(3), perIndexLimit(5), rules))
	f.untilIndexes("a", counts{active: 3}, "", "")
	f.kubelet.exit(42, f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2, failed: 1}, "", "0")

	f.restart(p, withoutPerIndex)
	f.untilIndexes("a", counts{active: 3, failed: 1}, "", none)
	f.kubelet.exit(43, f.podOfIndex(0)) // No other rule matches: this one counts.
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", none)
	f.kubelet.exit(42, f.podOfIndex(1))
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy+"_1", 0, 5), "", none)
}

// A failed pod that was to wait for the next of its index does so no longer, and one that
// fails without the feature never does.
func TestPerIndexIsOffForDelays_BLI_34_TRK_05(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController(neverRetry)
	f.create(newJob(indexed(3), perIndexLimit(1)))
	f.untilIndexes("a", counts{active: 3}, "", "")
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2}, "", "")

	f.restart(p, withoutPerIndex, neverRetry)
	f.untilIndexes("a", counts{active: 2, failed: 1}, "", none)
	f.untilPods(2, "tracked", history.IsTracked)
	f.kubelet.fail(f.podOfIndex(1))
	f.untilIndexes("a", counts{active: 1, failed: 2}, "", none)
	f.untilPods(1, "tracked", history.IsTracked)
	f.wantPodsEver(3)
}

// Upstream's TestBackoffLimitPerIndex_Reenabling.
func TestPerIndexIsSwitchedOnAgain_BLI_35(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(3), perIndexLimit(0)))
	f.untilIndexes("a", counts{active: 3}, "", "")
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2, failed: 1}, "", "0")

	p = f.restart(p, withoutPerIndex)
	f.untilIndexes("a", counts{active: 3, failed: 1}, "", none)
	f.kubelet.fail(f.podOfIndex(1))
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", none)

	f.restart(p)
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", "")
	f.kubelet.fail(f.podOfIndex(2))
	f.untilIndexes("a", counts{active: 2, failed: 3}, "", "2")
	f.podOfIndex(0)
	f.podOfIndex(1)
	f.kubelet.play(everySucceeds)
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 2, 3), "0,1", "2")
	f.wantPodsEver(5)
}

// Without the feature, Failed means the same as TerminatingOrFailed, and nothing reports
// terminating pods.
func TestReplacementPolicyIsSwitchedOff_PRP_17_PRP_18(t *testing.T) {
	t.Parallel()
	const metric = "job_pods_creation_total"
	f := newFixture(t)
	f.tolerated = []string{"S5", "S6"} // The judge goes by the field.
	p := f.startController()
	f.create(newJob(indexed(2), onNode, replacedWhen(batchv1.Failed)))
	f.kubelet.run(f.untilActive(2)...)
	job := f.untilCounts("a", counts{active: 2, ready: 2})
	if terminating := ptr.Deref(job.Status.Terminating, -1); terminating != 0 {
		t.Errorf("terminating is %d", terminating)
	}

	m := f.newMeter()
	f.restart(p, withoutReplacementPolicy, m.counts)
	// The next sync is enough.
	f.untilJob("a", "tells nothing of terminating pods", func(job *batchv1.Job) bool { return job.Status.Terminating == nil })
	deleted := f.podOfIndex(0)
	f.deletePods(deleted)
	job = f.untilCounts("a", counts{active: 2, ready: 1, failed: 1})
	if job.Status.Terminating != nil || ptr.Deref(job.Spec.PodReplacementPolicy, "") != batchv1.Failed {
		t.Errorf("terminating is %v, podReplacementPolicy %v", *job.Status.Terminating, job.Spec.PodReplacementPolicy)
	}
	f.untilPods(1, "terminating", history.IsTerminating)
	m.until(map[string]float64{metric + "{reason=new,status=succeeded}": 1}, metric)
	// However it ends: it has failed.
	f.kubelet.succeed(deleted)
	f.kubelet.confirm(deleted)
	f.kubelet.play(everySucceeds)
	job = f.untilComplete("a", 2, 1)
	if job.Status.Terminating != nil {
		t.Errorf("terminating is %d", *job.Status.Terminating)
	}
	f.wantPodsEver(3)
}

// Upstream's TestJobPodReplacementPolicyFeatureToggling: what is counted stays counted.
func TestReplacementPolicyIsSwitchedOnAgain_PRP_19(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(2), replacedWhen(batchv1.Failed)))
	f.untilCounts("a", counts{active: 2})
	f.deletePods(f.untilActive(2)...)
	f.untilCounts("a", counts{terminating: 2})
	f.wantPodsEver(2)

	f.tolerated = []string{"S5", "S6"} // The judge goes by the field.
	p = f.restart(p, withoutReplacementPolicy)
	job := f.untilCounts("a", counts{active: 2, failed: 2})
	if job.Status.Terminating != nil {
		t.Errorf("terminating is %d", *job.Status.Terminating)
	}
	f.untilActive(2)

	f.restart(p)
	f.deletePods(f.untilActive(2)...)
	f.untilCounts("a", counts{terminating: 2, failed: 2})
	f.wantPodsEver(4)
	f.kubelet.fail(f.untilPods(2, "terminating", history.IsTerminating)...)
	f.untilCounts("a", counts{active: 2, failed: 4})
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 4)
	f.wantPodsEver(6)
}
