package run

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// task is a Job of the manifests, and its retries.
type task struct {
	attempts []*attempt
}

func (t *task) last() *attempt { return t.attempts[len(t.attempts)-1] }

// attempt is a Job, as last seen.
type attempt struct {
	object *unstructured.Unstructured
	job    *batchv1.Job
	end    reconcile.Outcome
	report *explain.Report // nil until it is read
	tails  tails           // for a report
}

func newAttempt(object *unstructured.Unstructured) (*attempt, error) {
	job, err := cmdutil.ToJob(object)
	return &attempt{object: object, job: job}, err
}

// setOf returns a JobSet with only this Job.
func (o *Options) setOf(a *attempt) feed.JobSet {
	return feed.JobSet{Client: o.jobs.Namespace(a.job.Namespace), Namespace: a.job.Namespace, Names: []string{a.job.Name}}
}

// isLost reports whether the Job was deleted before it finished.
func (a *attempt) isLost() bool { return a.end == feed.Deleted || a.end == feed.Replaced }

// take applies an update, and reports whether it is about this Job.
func (a *attempt) take(u *feed.Update) (bool, error) {
	if u.UID != a.job.UID {
		return false, nil
	}
	if u.Job != nil {
		job, err := cmdutil.ToJob(u.Job)
		if err != nil {
			return true, err
		}
		a.object, a.job = u.Job, job
	}
	a.end = feed.EndOf(a.job, u.Gone)
	return true, nil
}

// endLine returns a line that says how the Job ended.
func (r *runner) endLine(a *attempt) string {
	switch {
	case a.isLost():
		return r.label(a) + " was deleted before it finished"
	case a.end == reconcile.OutcomeComplete:
		return fmt.Sprintf("%s Complete in %s", r.label(a), jobprinter.Row{Job: a.job, Now: r.o.Now()}.Duration())
	}
	why := ""
	if a.report != nil {
		why = ": " + a.report.Verdict.WithReason()
	}
	return fmt.Sprintf("%s %s%s", r.label(a), a.end, why)
}

// label names a Job as kubectl does, with its namespace if there are several.
func (r *runner) label(a *attempt) string {
	if r.several {
		return fmt.Sprintf("job.batch/%s -n %s", a.job.Name, a.job.Namespace)
	}
	return "job.batch/" + a.job.Name
}
