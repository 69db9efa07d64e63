package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// checkOutcome returns an error if the report does not show what the flags requested: a --pods flag matched no pod,
// or the run was cut off by the limit.
func (o *Options) checkOutcome(world *sim.World, job *batchv1.Job) error {
	var problems []error
	for _, flag := range o.podsFlags {
		if why := flag.whyUnmatched(&job.Spec); why != "" {
			what := fmt.Sprintf("--pods=%s matched no pod: %s", flag.text, why)
			problems = append(problems, cmdutil.NewUserError(cmdutil.KindUsage, nil, what, "the result ignores it"))
		}
	}
	if !world.Finished(job.Name) {
		what := fmt.Sprintf("the Job had not finished when the limit of %s was reached", wording.Duration(o.limit))
		fix := "let more virtual time pass with --limit"
		switch {
		case world.GaveUp():
			what = fmt.Sprintf("the Job had not finished after %s, because it has too many pods to simulate", wording.Duration(world.Elapsed()))
			fix = "simulate it with fewer completions"
		case ptr.Deref(job.Spec.Suspend, false):
			what, fix = "the Job is suspended, so nothing runs", "resume it with --resume-after 0s"
		}
		problems = append(problems, cmdutil.NewUserError(cmdutil.KindTimeout, nil, what, fix))
	}
	return errors.Join(problems...)
}

// whyUnmatched returns why the flag had no effect, or "" if it had one.
func (f *podsFlag) whyUnmatched(spec *batchv1.JobSpec) string {
	names, completions := apirules.ContainerNames(&spec.Template.Spec), ptr.Deref(spec.Completions, 1)
	switch {
	case f.container != "" && !slices.Contains(names, f.container):
		return fmt.Sprintf("there is no container %q, only %s", f.container, strings.Join(names, ", "))
	case f.matched:
		return ""
	case !f.indexes.IsEmpty() && !jobspec.IsIndexed(spec):
		return "the Job is not Indexed, so its pods have no index"
	case !f.indexes.IsEmpty() && f.indexes.Intersection(indexset.Below(completions)).IsEmpty():
		return fmt.Sprintf("the indexes of the Job are 0-%d", completions-1)
	case f.attempt > 0:
		return fmt.Sprintf("there was no attempt %d", f.attempt)
	}
	return "the Job created no such pod"
}
