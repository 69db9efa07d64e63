package whatif

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// Replay runs the Job with the policies of another Job until it has finished, or until limit, or for twice the time
// that the Job took, if that is longer. A Job that had not finished when it was observed is replayed up to that time. A
// replay with too many pods or writes ends early, with GaveUp in its Result. Replay returns the error of the API
// server, which rejects the policies, or of the context.
func (h *History) Replay(ctx context.Context, policies *batchv1.Job, limit time.Duration) (Result, error) {
	if limit = max(limit, 2*h.decided); !reconcile.IsFinished(h.Job) {
		limit = h.observed
	}
	t := &tracer{model: h.Model, maxPods: h.maxPods, made: map[int32]int{}, pods: map[types.UID]*podRun{}}
	limits := reconcile.DefaultConfig()
	// Only our controller puts names of rules into conditions.
	limits.Features.RuleNames = !slices.Contains([]string{"", explain.BuiltInManagedBy}, ptr.Deref(h.Job.Spec.ManagedBy, ""))
	t.world = sim.NewWorld(sim.Options{
		Seed: 1, MaxWrites: h.maxWrites, OnCommit: t.committed, Controller: controller.Config{Limits: limits},
	})
	if err := t.world.Play(h.template(policies), h.Model); err != nil {
		return Result{}, fmt.Errorf("the API server would reject the Job: %w", err)
	}
	t.run(ctx, h.toggles, limit)
	return t.result(t.world.Store.Job(jobName)), ctx.Err()
}

// run lets virtual time pass, and suspends and resumes the Job as users did.
func (t *tracer) run(ctx context.Context, toggles []edit, limit time.Duration) {
	done := func() bool { return ctx.Err() != nil || t.world.Finished(jobName) || t.hasTooManyPods() }
	for _, e := range toggles {
		if e.at >= limit || t.world.RunUntil(done, e.at-t.world.Elapsed()) {
			break
		}
		_, _ = t.world.Store.EditJob(jobName, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(e.suspend) })
	}
	t.world.RunUntil(done, limit-t.world.Elapsed())
}

// jobName is the name of the Job in the virtual cluster.
const jobName = "job"

// template returns the Job as it was created, with the policies of another Job.
func (h *History) template(policies *batchv1.Job) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName}, Spec: *policies.Spec.DeepCopy()}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, rulename.Annotation, policies.Annotations[rulename.Annotation])
	spec := &job.Spec
	spec.Selector, spec.ManualSelector, spec.ManagedBy, spec.Scheduling, spec.TTLSecondsAfterFinished = nil, nil, nil, nil, nil
	spec.Template.Labels = nil
	if len(h.toggles) > 0 {
		spec.Suspend = ptr.To(!h.toggles[0].suspend)
	}
	return job
}
