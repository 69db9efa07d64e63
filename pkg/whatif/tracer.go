package whatif

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

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
	// judged reports whether its failure was counted or ignored.
	judged bool
}

// tracer records the decisions and the pods of a replay.
type tracer struct {
	world     *sim.World
	model     *Model
	maxPods   int
	made      map[int32]int
	pods      map[types.UID]*podRun
	decisions []Decision
}

func (t *tracer) hasTooManyPods() bool { return len(t.pods) > t.maxPods }

func (t *tracer) committed(c sim.Commit) {
	switch {
	case c.NewJob != nil && c.OldJob != nil:
		t.jobChanged(c.OldJob, c.NewJob)
	case c.OldPod == nil && c.NewPod != nil:
		t.podCreated(c.NewPod)
	case c.OldPod != nil:
		t.podChanged(c)
	}
}

func (t *tracer) decide(d Decision) {
	d.AfterSeconds = t.world.Elapsed().Seconds()
	t.decisions = append(t.decisions, d)
}

func (t *tracer) decidePod(kind DecisionKind, p *podRun) {
	d := Decision{Kind: kind, Attempt: p.key.Nth}
	if p.key.Index != reconcile.NoIndex {
		d.Index = &p.key.Index
	}
	t.decide(d)
}

func (t *tracer) podCreated(pod *corev1.Pod) {
	index := observe.CompletionIndex(pod)
	t.made[index]++
	p := &podRun{key: sim.PodKey{Index: index, Nth: t.made[index]}, created: t.world.Elapsed()}
	t.pods[pod.UID] = p
	t.decidePod(PodCreated, p)
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
		t.judge(FailureIgnored, p) // A counted failure would have been judged before.
	}
}

func (t *tracer) judge(kind DecisionKind, p *podRun) {
	if !p.judged {
		p.judged = true
		t.decidePod(kind, p)
	}
}

func (t *tracer) jobChanged(old, job *batchv1.Job) {
	for _, c := range job.Status.Conditions {
		if was := reconcile.TrueCondition(old, c.Type); was == nil && c.Status == corev1.ConditionTrue {
			t.decide(Decision{Kind: JobCondition, Condition: string(c.Type), Reason: c.Reason})
		}
	}
	for index := range indexesOf(job.Status.FailedIndexes).Difference(indexesOf(old.Status.FailedIndexes)).All() {
		t.decide(Decision{Kind: IndexFailed, Index: &index})
	}
	for _, uid := range ptr.Deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{}).Failed {
		t.judge(FailureCounted, t.pods[uid])
	}
}
