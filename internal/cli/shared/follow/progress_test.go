package follow

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

func TestProgressCell(t *testing.T) {
	n := func(i int32) *int32 { return &i }
	job := &batchv1.Job{Spec: batchv1.JobSpec{Completions: n(5), ManagedBy: new(string)}}
	*job.Spec.ManagedBy = "nobody"
	job.CreationTimestamp.Time = clitest.Now().Add(-time.Minute)
	if got := cell(jobprinter.Row{Job: job, Now: clitest.Now()}); got != "0/5 done, run by nobody (no controller)" {
		t.Error(got)
	}
	job.Status.Terminating = n(2)
	if got := cell(jobprinter.Row{Job: job, Now: clitest.Now()}); got != "0/5 done, 2 terminating" {
		t.Error(got)
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: "True"}}
	job.Status.Terminating = n(1)
	if got := cell(jobprinter.Row{Job: job, Now: clitest.Now()}); got != "0/5 done, succeeding, stopping 1 pod" {
		t.Error(got)
	}
}
