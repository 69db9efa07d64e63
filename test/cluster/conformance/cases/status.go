package cases

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// The conditions that cases wait for in a status.

func counts(active, succeeded, failed int32) (what string, reached func(*batchv1.Job) bool) {
	return fmt.Sprintf("active is %d, succeeded %d, failed %d", active, succeeded, failed), func(job *batchv1.Job) bool {
		s := job.Status
		return s.Active == active && s.Succeeded == succeeded && s.Failed == failed
	}
}

// failures returns a condition: so many pods count as failed. A case that does not end the replacements of failed pods reaches
// it on a slow node, too, which may report a failure after the end of its back-off.
func failures(n int32) (what string, reached func(*batchv1.Job) bool) {
	return fmt.Sprintf("failed is %d", n), func(job *batchv1.Job) bool { return job.Status.Failed == n }
}

func terminating(active, terminating int32) (what string, reached func(*batchv1.Job) bool) {
	return fmt.Sprintf("active is %d, terminating %d", active, terminating), func(job *batchv1.Job) bool {
		return job.Status.Active == active && ptr.Deref(job.Status.Terminating, -1) == terminating
	}
}

func condition(t batchv1.JobConditionType) (what string, reached func(*batchv1.Job) bool) {
	return fmt.Sprintf("the Job has the condition %s", t), func(job *batchv1.Job) bool { return history.Is(job, t) }
}

// wantCounts checks the counters of a Job.
func wantCounts(t *suite.T, job *batchv1.Job, succeeded, failed int32) {
	suite.Equal(t, "succeeded", succeeded, job.Status.Succeeded)
	suite.Equal(t, "failed", failed, job.Status.Failed)
}

// wantIndexes checks the lists of indexes of a Job.
func wantIndexes(t *suite.T, job *batchv1.Job, completed, failed string) {
	suite.Equal(t, "completedIndexes", completed, job.Status.CompletedIndexes)
	suite.Equal(t, "failedIndexes", failed, ptr.Deref(job.Status.FailedIndexes, "absent"))
}

// wantReleased waits until no pod of the Job holds the finalizer.
func wantReleased(t *suite.T, j *suite.Job) {
	for _, pod := range j.AllPods() {
		t.UntilPodReleased(pod)
	}
}

// wantPods checks how many pods the Job has had in total.
func wantPods(t *suite.T, j *suite.Job, n int) {
	suite.Equal(t, "the number of pods ever created", n, len(j.AllPods()))
}

// hasUncounted reports whether pods of the Job are recorded as uncounted.
func hasUncounted(job *batchv1.Job) bool {
	return len(history.UncountedSucceeded(&job.Status))+len(history.UncountedFailed(&job.Status)) > 0
}

// hasFailedIndexes returns a condition: the status lists these indexes as failed.
func hasFailedIndexes(list string) (what string, reached func(*batchv1.Job) bool) {
	return "failedIndexes is \"" + list + "\"", func(job *batchv1.Job) bool {
		return job.Status.FailedIndexes != nil && *job.Status.FailedIndexes == list
	}
}
