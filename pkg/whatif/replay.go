package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
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
	t := &tracer{model: h.Model, maxPods: h.maxPods, created: map[int32]int{}, pods: map[types.UID]*podRun{}}
	limits := reconcile.DefaultConfig()
	// Only our controller puts names of rules into conditions.
	limits.Features.RuleNames = !slices.Contains([]string{"", explain.BuiltInManagedBy}, ptr.Deref(h.Job.Spec.ManagedBy, ""))
	t.world = sim.NewWorld(sim.Options{
		Seed: 1, MaxWrites: h.maxWrites, OnCommit: t.onCommit, Controller: controller.Config{Limits: limits},
	})
	if err := t.world.Play(h.template(policies), h.Model); err != nil {
		return Result{}, fmt.Errorf("the API server would reject the Job: %w", err)
	}
	// Virtual time passes, and the Job is suspended and resumed as users did.
	done := func() bool { return ctx.Err() != nil || t.world.Finished(jobName) || t.hasTooManyPods() }
	for _, e := range h.toggles {
		if e.at >= limit || t.world.RunUntil(done, e.at-t.world.Elapsed()) {
			break
		}
		_, _ = t.world.Store.EditJob(jobName, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(e.suspend) })
	}
	t.world.RunUntil(done, limit-t.world.Elapsed())
	return t.result(t.world.Store.Job(jobName)), ctx.Err()
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

// DecisionKind is the kind of a Decision.
type DecisionKind string

// The kinds of decisions.
const (
	PodCreated     DecisionKind = "PodCreated"
	FailureCounted DecisionKind = "FailureCounted"
	FailureIgnored DecisionKind = "FailureIgnored"
	IndexFailed    DecisionKind = "IndexFailed"
	JobCondition   DecisionKind = "JobCondition"
)

// Decision is a decision of the controller in a replay.
type Decision struct {
	Kind DecisionKind `json:"kind"`
	// AfterSeconds is the time of the decision, relative to the Job's creation.
	AfterSeconds float64 `json:"afterSeconds"`
	// Index is the completion index, nil in a NonIndexed Job. Attempt is the number of the pod among the pods of the
	// index, or of the NonIndexed Job, from 1; 0 if the decision is not about a pod.
	Index   *int32 `json:"index,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Condition and Reason describe a JobCondition.
	Condition string `json:"condition,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// podRun is a pod in a replay.
type podRun struct {
	key sim.PodKey
	// begun and ended are 0 until the pod runs and ends.
	created, begun, ended time.Duration
	succeeded, deleted    bool
	// decided reports whether its failure was counted or ignored.
	decided bool
}

// tracer records the decisions and the pods of a replay.
type tracer struct {
	world     *sim.World
	model     *Model
	maxPods   int
	created   map[int32]int
	pods      map[types.UID]*podRun
	decisions []Decision
}

func (t *tracer) hasTooManyPods() bool { return len(t.pods) > t.maxPods }

func (t *tracer) onCommit(c sim.Commit) {
	switch {
	case c.NewJob != nil && c.OldJob != nil:
		t.jobChanged(c.OldJob, c.NewJob)
	case c.OldPod == nil && c.NewPod != nil:
		t.podCreated(c.NewPod)
	case c.OldPod != nil:
		t.podChanged(c)
	}
}

func (t *tracer) addDecision(d Decision) {
	d.AfterSeconds = t.world.Elapsed().Seconds()
	t.decisions = append(t.decisions, d)
}

func (t *tracer) addPodDecision(kind DecisionKind, p *podRun) {
	d := Decision{Kind: kind, Attempt: p.key.Nth}
	if p.key.Index != reconcile.NoIndex {
		d.Index = &p.key.Index
	}
	t.addDecision(d)
}

func (t *tracer) podCreated(pod *corev1.Pod) {
	index := observe.CompletionIndex(pod)
	t.created[index]++
	p := &podRun{key: sim.PodKey{Index: index, Nth: t.created[index]}, created: t.world.Elapsed()}
	t.pods[pod.UID] = p
	t.addPodDecision(PodCreated, p)
}

func (t *tracer) podChanged(c sim.Commit) {
	p, pod := t.pods[c.OldPod.UID], cmp.Or(c.NewPod, c.OldPod)
	phase := pod.Status.Phase
	switch ended := phase == corev1.PodSucceeded || phase == corev1.PodFailed || c.NewPod == nil; {
	case ended && p.ended == 0:
		p.ended, p.succeeded, p.deleted = t.world.Elapsed(), phase == corev1.PodSucceeded, pod.DeletionTimestamp != nil
	case phase == corev1.PodRunning && p.begun == 0:
		p.begun = t.world.Elapsed()
	}
	if phase == corev1.PodFailed && !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		t.addFailureDecision(FailureIgnored, p) // A counted failure would have been decided before.
	}
}

func (t *tracer) addFailureDecision(kind DecisionKind, p *podRun) {
	if !p.decided {
		p.decided = true
		t.addPodDecision(kind, p)
	}
}

func (t *tracer) jobChanged(old, job *batchv1.Job) {
	for _, c := range job.Status.Conditions {
		if was := reconcile.TrueCondition(old, c.Type); was == nil && c.Status == corev1.ConditionTrue {
			t.addDecision(Decision{Kind: JobCondition, Condition: string(c.Type), Reason: c.Reason})
		}
	}
	for index := range indexesOf(job.Status.FailedIndexes).Difference(indexesOf(old.Status.FailedIndexes)).All() {
		t.addDecision(Decision{Kind: IndexFailed, Index: &index})
	}
	for _, uid := range ptr.Deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{}).Failed {
		t.addFailureDecision(FailureCounted, t.pods[uid])
	}
}
