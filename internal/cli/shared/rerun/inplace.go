package rerun

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxConflicts is how many writes in a row, each of which is repeated, may conflict.
const maxConflicts = 2

// mutableSince is the first minor version of Kubernetes 1 whose API server lets the resources of a suspended Job change.
const mutableSince = 36

// PlanInPlace plans how the Job, which has not finished, gets more memory: by its stored plan if an earlier call was interrupted,
// else by the last failures of its indexes. by may be nil for a stored plan; Raised is nil then.
func (c *Client) PlanInPlace(ctx context.Context, f *Candidate, which ByFailure, by *retry.MemoryRaise) (*retry.InPlace, *Raised, error) {
	name := "job.batch/" + f.Job.Name
	refuse := func(what, hint string) (*retry.InPlace, *Raised, error) {
		return nil, nil, cmdutil.NewUserError(cmdutil.KindOther, nil, what, hint)
	}
	switch {
	case reconcile.IsFinished(f.Job):
		return refuse("--in-place: "+name+" has finished", "leave out --in-place: a new Job runs what is missing")
	case f.Job.DeletionTimestamp != nil:
		return refuse("--in-place: "+name+" is being deleted", "")
	case kueue.Manages(f.Job):
		return refuse("--in-place: Kueue suspends and resumes "+name, "leave out --in-place, and use --replace")
	case retry.IsPending(f.Job):
		return refuse(name+" is a retry whose creation was interrupted, and runs nothing", "retry "+retry.RootOf(f.Job)+", which replaces it")
	}
	stored, err := retry.StoredInPlace(f.Job.Annotations)
	switch {
	case err != nil:
		return refuse(name+": "+err.Error(), "remove it: kubectl annotate job "+f.Job.Name+" "+retry.RaiseAnnotation+"- -n "+f.Job.Namespace)
	case stored != nil:
		return stored, nil, nil
	case by == nil:
		return nil, nil, cmdutil.UsageErrorf("--in-place is for --memory")
	}
	indexes := indexset.Set{}
	if f.Job.Spec.Completions != nil {
		indexes = indexset.Below(*f.Job.Spec.Completions).Difference(retry.Completed(f.Job))
	}
	chosen, err := c.Choose(ctx, f, indexes, which)
	if err != nil {
		return nil, nil, err
	}
	changed := f.Object.DeepCopy()
	raised, err := chosen.Raise(ctx, changed, by)
	if err != nil {
		return nil, nil, err
	}
	for i := range raised.memory {
		if raised.memory[i].Container == "" {
			return refuse("--in-place: the containers of "+name+" share the memory of the pod, which cannot change", "leave out --in-place, and use --replace")
		}
	}
	return retry.NewInPlace(changed, raised.memory), raised, nil
}

// RaiseInPlace suspends the Job, waits until no pod is active, and then raises its memory and resumes it in one write. It reads the
// stored Job before each write, so a lost answer, a conflict or an interrupted call needs nothing special. If someone else changed
// what it relies on, the error has the state of the Job.
func (c *Client) RaiseInPlace(ctx context.Context, f *Candidate, plan *retry.InPlace, timing feed.Timing) error {
	if err := c.checkInPlace(ctx, f.Job); err != nil {
		return err
	}
	state := &raising{client: c, job: f.Job, plan: plan}
	err := state.run(ctx, timing)
	if _, explained := errors.AsType[*cmdutil.UserError](err); err != nil && !explained && state.sent {
		fmt.Fprintln(c.options.Out, sanitize.Line(state.left()))
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// checkInPlace returns an error if the user may not patch Jobs, or if the API server is too old: suspending the Job would end its
// pods for nothing. A dry run cannot ask that of a Job that runs: every API server refuses to change its template.
func (c *Client) checkInPlace(ctx context.Context, job *batchv1.Job) error {
	if call := c.jobs.Call("patch", ""); cmdutil.IsDenied(ctx, c.kube, call) {
		return cmdutil.NewUserError(cmdutil.KindForbidden, nil, fmt.Sprintf("you may not patch %s %s, and --in-place does", call.Resource, call.Where()), askFor(call))
	}
	if isSuspended(job) && isIdle(job) { // The dry run before the change asks.
		return nil
	}
	info, err := kube.ServerVersion(ctx, c.kube)
	if err != nil {
		return err
	}
	minor, err := strconv.Atoi(strings.TrimRight(info.Minor, "+"))
	if info.Major == "1" && err == nil && minor < mutableSince {
		return cmdutil.NewUserError(cmdutil.KindOther, nil,
			fmt.Sprintf("--in-place: the API server is Kubernetes 1.%s, and the resources of a Job can change since 1.%d", info.Minor, mutableSince), "leave out --in-place, and use --replace")
	}
	return nil
}

// raising is the state of RaiseInPlace.
type raising struct {
	client *Client
	job    *batchv1.Job
	plan   *retry.InPlace
	// sent reports whether a write may have suspended the Job; seen, whether the stored Job had the plan.
	sent, seen bool
	waits      int64
	conflicts  int
}

func (r *raising) run(ctx context.Context, timing feed.Timing) error {
	for pause := timing.Backoff.First; ; pause = min(2*pause, timing.Backoff.Max) {
		object, err := r.client.jobs.Get(ctx, r.job.Name)
		var job *batchv1.Job
		if err == nil {
			job, err = cmdutil.ToJob(object)
		}
		if err == nil {
			var done bool
			if done, err = r.step(ctx, object, job); done {
				return nil
			}
		}
		switch {
		case err == nil:
			r.conflicts = 0
		case apierrors.IsConflict(err) && r.conflicts < maxConflicts:
			r.conflicts++
		case apierrors.IsConflict(err):
			return r.stopped("keeps changing, and %s", job)
		case !cmdutil.IsOutage(err):
			return err
		}
		if err := timing.Pause(ctx, pause, nil); err != nil {
			return err
		}
	}
}

// step does the next write that the stored Job is ready for, if any. It reports whether the memory is raised.
func (r *raising) step(ctx context.Context, object *unstructured.Unstructured, job *batchv1.Job) (done bool, err error) {
	stored, _ := retry.StoredInPlace(job.Annotations)
	if stored == nil && r.seen && job.UID == r.job.UID && r.plan.IsIn(object) { // This call, whose answer was lost, or another one has finished it.
		return true, nil
	}
	if err := r.check(job, stored); err != nil {
		return false, err
	}
	if stored == nil || !isSuspended(job) {
		if stored == nil {
			r.plan.Resume = !isSuspended(job)
		}
		_, err := r.client.write.Patch(ctx, r.job.Name, types.MergePatchType, r.plan.SuspendPatch(r.job.UID))
		r.sent = r.sent || err == nil || kube.MayBeDone(err)
		return false, err
	}
	r.sent, r.seen = true, true
	if !isIdle(job) {
		if n := int64(job.Status.Active); n != r.waits && n > 0 {
			r.waits = n
			fmt.Fprintf(r.client.options.Out, "Waiting for %s of %s to end\n", wording.Plural(n, "pod", "pods"), sanitize.Line("job.batch/"+r.job.Name))
		}
		return false, nil
	}
	return r.finish(ctx, object)
}

// refused returns the error that nothing more is done; the text has the place of the Job's name.
func (r *raising) refused(text, hint string) error {
	return cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf(text, "job.batch/"+r.job.Name), hint)
}

// stopped returns the error that a change of the Job by someone else stops this call; why has the place of the Job's state.
func (r *raising) stopped(why string, job *batchv1.Job) error {
	stored, _ := retry.StoredInPlace(job.Annotations)
	state, next := "runs with its old memory", "try again"
	if isSuspended(job) {
		state, next = "is suspended, with its old memory", fmt.Sprintf(`resume it with: kubectl patch job %s -n %s --type merge -p '{"spec":{"suspend":false}}'`, r.job.Name, r.job.Namespace)
	}
	if stored != nil {
		next = "continue with: " + r.again()
	}
	return r.refused("%s "+fmt.Sprintf(why, state), next)
}

func isSuspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// check returns an error if someone else changed what this call relies on.
func (r *raising) check(job *batchv1.Job, stored *retry.InPlace) error {
	see := fmt.Sprintf("see it with: kubectl batchjob status %s -n %s", r.job.Name, r.job.Namespace)
	switch {
	case job.UID != r.job.UID:
		return r.refused("%s was replaced by another Job of that name, which is left as it is", see)
	case reconcile.IsFinished(job):
		return r.refused("%s finished before its memory was raised", "leave out --in-place: a new Job runs what is missing")
	case job.DeletionTimestamp != nil:
		return r.refused("%s is being deleted, with its old memory", "")
	case stored == nil && r.seen:
		return r.stopped("lost the annotation "+retry.RaiseAnnotation+" before its memory was raised, and %s", job)
	case stored != nil && !reflect.DeepEqual(stored, r.plan):
		return r.refused("another retry --in-place is changing the memory of %s", see)
	case r.seen && !isSuspended(job):
		return r.stopped("was resumed before its memory was raised, and %s", job)
	}
	return nil
}

// isIdle reports whether the API server lets the resources of the suspended Job change.
func isIdle(job *batchv1.Job) bool {
	notStarted := job.Status.StartTime == nil
	return job.Status.Active == 0 && (notStarted || reconcile.TrueCondition(job, batchv1.JobSuspended) != nil)
}

// finish raises the memory and resumes the Job, after a dry run. If the API server refuses that, the Job is resumed as it was.
func (r *raising) finish(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	patch, err := r.plan.FinishPatch(object)
	if err == nil {
		_, err = r.client.write.DryRun().Patch(ctx, r.job.Name, types.JSONPatchType, patch)
	}
	if err == nil {
		_, err = r.client.write.Patch(ctx, r.job.Name, types.JSONPatchType, patch)
	}
	_, notOfJob := errors.AsType[*retry.MemoryError](err)
	if !apierrors.IsInvalid(err) && !notOfJob {
		return err == nil, err
	}
	// A test of the patch fails with the same reason if the Job has changed since.
	if _, failed := r.client.write.Patch(ctx, r.job.Name, types.JSONPatchType, r.plan.AbandonPatch(object)); failed != nil {
		if apierrors.IsInvalid(failed) {
			failed = apierrors.NewConflict(batchv1.Resource("jobs"), r.job.Name, failed)
		}
		return false, failed
	}
	return false, cmdutil.NewUserError(cmdutil.KindOther, err,
		fmt.Sprintf("--in-place: the API server refused more memory, and job.batch/%s continues as it was: %v", r.job.Name, err), "leave out --in-place, and use --replace")
}

// left says what an interrupted call may have left.
func (r *raising) left() string {
	return fmt.Sprintf("job.batch/%s may be suspended, with its old memory; continue with: %s", r.job.Name, r.again())
}

func (r *raising) again() string {
	return fmt.Sprintf("kubectl batchjob retry %s --in-place -n %s", r.job.Name, r.job.Namespace)
}
