package run

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// task is a Job of the manifests, and its retries.
type task struct {
	attempts []*attempt
	// raises is the number of attempts that got more memory, and raised what the next attempt gets, if anything.
	raises int
	raised []retry.RaisedMemory
	limits []retry.OwnLimit
}

func (t *task) last() *attempt { return t.attempts[len(t.attempts)-1] }

// attempt is a Job of a task.
type attempt struct {
	job    *follow.Job
	report *explain.Report // nil until it is read
	tails  tails           // for a report
}

func newAttempt(object *unstructured.Unstructured) (*attempt, error) {
	job, err := follow.NewJob(object)
	return &attempt{job: job}, err
}

// setOf returns a JobSet with only this Job.
func (o *Options) setOf(a *attempt) feed.JobSet {
	return feed.JobSet{Client: o.jobs.Namespace(a.job.Namespace), Namespace: a.job.Namespace, Names: []string{a.job.Name}}
}
