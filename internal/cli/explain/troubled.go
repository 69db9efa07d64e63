package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxUnnamed is the maximum number of Jobs that are explained if none is named, as each takes several requests.
const maxUnnamed = 50

// troubled lists the Jobs, and returns the Jobs that have failed, will fail, or are stalled as far as lists show; if
// there are too many, only the newest.
func (o *Options) troubled(ctx context.Context) ([]*unstructured.Unstructured, error) {
	objects, _, err := o.set.List(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]*batchv1.Job, len(objects))
	for i, object := range objects {
		if jobs[i], err = cmdutil.ToJob(object); err != nil {
			return nil, err
		}
	}
	stalls, now := o.explainer.Stalls(o.set.Namespace, o.Timing()), o.Now()
	stalls.Read(ctx, jobs)
	noted := false
	cmdutil.NoteStalls(o.ErrOut, stalls.Gaps(), &noted)
	var found []*unstructured.Unstructured
	for i, job := range jobs {
		if row := stalls.Outline(job, nil, now); row.HasProblem() {
			found = append(found, objects[i])
		}
	}
	if len(found) == 0 && !o.output.IsSet() {
		fmt.Fprintf(o.ErrOut, "Nothing to explain: no Job %s has failed or is stalled (of %s).\n",
			o.set.Call("list", "").Where(), wording.Plural(len(jobs), "Job", "Jobs"))
	}
	if more := len(found) - maxUnnamed; more > 0 {
		slices.SortStableFunc(found, func(a, b *unstructured.Unstructured) int {
			return cmp.Compare(b.GetCreationTimestamp().Unix(), a.GetCreationTimestamp().Unix())
		})
		found = found[:maxUnnamed]
		feed.SortJobs(found)
		fmt.Fprintf(o.ErrOut, "Explaining the newest %d of %d Jobs that have failed or are stalled; for the others, see: kubectl batchjob status --problems\n",
			maxUnnamed, maxUnnamed+more)
	}
	return found, ctx.Err()
}

// exitStatus returns the error for --exit-status: about failed Jobs before stalled ones, nil for neither. It is not
// printed, as the explanation has the same content.
func (o *Options) exitStatus(reports ...explain.Report) error {
	if !o.exitCode {
		return nil
	}
	var failed, stalled []string
	for i := range reports {
		switch verdict := &reports[i].Verdict; {
		case verdict.Outcome.Fails():
			failed = append(failed, reports[i].Job.Name)
		case verdict.Stalled:
			stalled = append(stalled, reports[i].Job.Name)
		}
	}
	switch {
	case len(failed) > 0:
		return cmdutil.JobFailed(failed)
	case len(stalled) > 0:
		return cmdutil.JobStalled(stalled)
	}
	return nil
}
