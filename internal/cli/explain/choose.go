package explain

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/owners"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/jobset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// chosen holds the chosen Jobs, CronJobs and JobSets, and an error for each name that does not exist. Any other error comes
// last.
type chosen struct {
	jobs     []*unstructured.Unstructured
	cronJobs []input.CronJob
	jobSets  []input.JobSet
	failed   []error
}

func (c *chosen) isEmpty() bool { return len(c.jobs)+len(c.cronJobs)+len(c.jobSets) == 0 }

func (o *Options) choose(ctx context.Context) (c chosen) {
	if o.unnamed() {
		jobs, err := o.troubled(ctx)
		return chosen{jobs: jobs, failed: cmdutil.Flatten(err)}
	}
	for _, pod := range o.pods {
		job, err := cmdutil.JobOfPod(ctx, o.explainer.Client, o.set.Namespace, pod)
		if err != nil {
			return chosen{failed: []error{err}}
		}
		o.set.Names = []string{job}
	}
	c.jobs, c.failed = o.set.GetAll(ctx)
	c.failed = o.explainer.ExplainMissing(ctx, c.failed)
	if len(o.owners) == 0 && len(o.set.Names) > 0 {
		return c
	}
	choice := o.set
	choice.Names = nil
	all, _, err := choice.List(ctx)
	switch {
	case err != nil:
		c.failed = append(c.failed, err)
	case len(o.owners) == 0:
		c.jobs = all
	}
	for i := 0; err == nil && i < len(o.owners); i++ {
		o.addOwner(ctx, &c, o.owners[i], o.owners[i].JobsIn(all))
	}
	return c
}

// addOwner adds the Jobs of an owner, and the owner.
func (o *Options) addOwner(ctx context.Context, c *chosen, owner owners.Owner, owned []*unstructured.Unstructured) {
	for _, job := range owned {
		if !slices.ContainsFunc(c.jobs, func(j *unstructured.Unstructured) bool { return feed.KeyOf(j) == feed.KeyOf(job) }) {
			c.jobs = append(c.jobs, job)
		}
	}
	if owner.Kind == "CronJob" {
		cronJob, err := owners.CronJob(ctx, o.explainer, o.set, owner.Name, owned)
		if err != nil {
			c.failed = append(c.failed, err)
			return
		}
		c.cronJobs = append(c.cronJobs, cronJob)
		return
	}
	jobSet, err := o.explainer.JobSet(ctx, o.set.Namespace, owner.Name, len(owned))
	switch {
	case err != nil:
		c.failed = append(c.failed, err)
	case len(owned) == 0 && jobSet.JobSet == nil:
		c.failed = append(c.failed, owner.WhyNoJobs(o.set))
	default:
		c.jobSets = append(c.jobSets, jobSet)
	}
}

// listOf returns the reports with those on the owners.
func (c *chosen) listOf(reports []explain.Report) explain.ReportList {
	var cronJobs []explain.CronJobReport
	reports = slices.Clone(reports)
	for _, cronJob := range c.cronJobs {
		runs := make([]explain.OwnedRun, len(reports))
		for i := range reports {
			runs[i] = words.RunOf(&reports[i], cronJob.Now)
		}
		r := cronjob.Explain(cronJob, runs)
		for i := range reports {
			if slices.Contains(r.Kept, reports[i].Job.Name) { // The advice on the CronJob is to delete them.
				reports[i].Advice = nil
			}
		}
		cronJobs = append(cronJobs, r)
	}
	list := analysis.List(reports)
	list.CronJobs = cronJobs
	for _, jobSet := range c.jobSets {
		list.JobSets = append(list.JobSets, jobset.Explain(jobSet, reports))
	}
	return list
}
