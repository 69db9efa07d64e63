package status

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
)

// needsStalls reports whether the output depends on which Jobs are stalled.
func (o *Options) needsStalls() bool {
	_, names := o.printer.(*jobprinter.NamePrinter)
	return !names || o.problems
}

// readStalls decodes the Jobs, and reads which of them are stalled, and why pods failed.
func (o *Options) readStalls(ctx context.Context, objects []*unstructured.Unstructured) ([]*batchv1.Job, error) {
	jobs := make([]*batchv1.Job, len(objects))
	for i, object := range objects {
		var err error
		if jobs[i], err = cmdutil.ToJob(object); err != nil {
			return nil, err
		}
	}
	o.stalls.Read(ctx, jobs)
	return jobs, nil
}

// markStalls reads which Jobs are stalled, and returns the Jobs marked accordingly. With --problems, it returns only
// Jobs with a problem.
func (o *Options) markStalls(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if !o.needsStalls() {
		return objects, nil
	}
	jobs, err := o.readStalls(ctx, objects)
	if err != nil {
		return nil, err
	}
	cmdutil.NoteStalls(o.ErrOut, o.stalls.Gaps(), &o.noted)
	var marked []*unstructured.Unstructured
	for i, object := range objects {
		m, problem, err := o.mark(object, jobs[i])
		if err != nil {
			return nil, err
		}
		if problem || !o.problems {
			marked = append(marked, m)
		}
	}
	return marked, ctx.Err()
}

// mark marks a Job with its stall and the causes of its failures, and reports whether it has a problem.
func (o *Options) mark(object *unstructured.Unstructured, job *batchv1.Job) (marked *unstructured.Unstructured, problem bool, err error) {
	outline := o.stalls.Outline(job, nil, o.Now())
	marked, err = jobprinter.Marked(object, &outline)
	return marked, outline.HasProblem(), err
}
