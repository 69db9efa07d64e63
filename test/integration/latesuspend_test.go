package integration

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// untilServed waits until a controller with one worker (oneWorker) has done what the last edits
// of the test asked for at once: a Job that comes after them is started.
func (f *fixture) untilServed() {
	f.t.Helper()
	name := fmt.Sprintf("marker-%d", f.now)
	f.create(named(name, newJob(parallelism(0))))
	f.untilJob(name, "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
}

// wantNeverSuspended checks that no version of the Job has the condition, with any status.
func (f *fixture) wantNeverSuspended(name string) {
	f.t.Helper()
	for _, v := range f.history.sorted() {
		if v.job == nil || v.job.Name != name {
			continue
		}
		for _, c := range v.job.Status.Conditions {
			if c.Type == batchv1.JobSuspended {
				f.t.Errorf("at revision %d: %+v", v.revision, c)
			}
		}
	}
}

// A Job whose fate is decided ends as it would when somebody suspends it, and a finished one
// stays as it is.
func TestSuspendedTooLate_JOB_29(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interim, terminal batchv1.JobConditionType
		reason            string
		succeeded, failed int32
	}{
		"fails":    {batchv1.JobFailureTarget, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 2},
		"succeeds": {batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController(oneWorker)
			f.create(newJob(indexed(2), backoffLimit(0), onNode, successPolicy(indexesSucceed("0"))))
			f.kubelet.run(f.untilActive(2)...)
			first, second := f.indexOfJob("a", 0), f.indexOfJob("a", 1)
			if c.failed > 0 {
				f.kubelet.fail(first)
			} else {
				f.kubelet.succeed(first)
			}
			start := f.untilIs("a", c.interim).Status.StartTime
			f.edit("a", suspend(true))
			f.untilServed()
			f.kubelet.terminate(second)
			job := f.untilFinished("a", c.terminal, c.reason, c.succeeded, c.failed)
			if !job.Status.StartTime.Equal(start) {
				t.Errorf("startTime was %v and is %v", start, job.Status.StartTime)
			}
			// Nothing that is done to it now changes its status; the judge looks, too.
			for _, on := range []bool{false, true} {
				f.edit("a", suspend(on))
				f.untilServed()
				if now := f.history.job("a"); !equality.Semantic.DeepEqual(now.Status, job.Status) {
					t.Errorf("the Job is %s, and was %s", jobLine(now), jobLine(job))
				}
			}
			f.wantNeverSuspended("a")
			f.wantPodsEver(2)
		})
	}
}

// A suspension that ends before a controller has seen it leaves no trace.
func TestSuspendedAndResumedUnseen_JOB_31(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	start := f.untilCounts("a", counts{active: 2, ready: 2}).Status.StartTime
	p.stop()
	f.edit("a", suspend(true))
	f.edit("a", suspend(false))
	f.startController(oneWorker)
	f.edit("a", map[string]any{"backoffLimit": 5})
	f.untilServed()
	f.kubelet.succeed(pods...)
	job := f.untilComplete("a", 2, 0)
	if !job.Status.StartTime.Equal(start) {
		t.Errorf("startTime was %v and is %v", start, job.Status.StartTime)
	}
	f.wantNeverSuspended("a")
	f.wantPodsEver(2)
}
