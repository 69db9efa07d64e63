package whatif

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// DecisionKind is what the controller decided.
type DecisionKind string

// The kinds of decisions.
const (
	PodCreated     DecisionKind = "PodCreated"
	FailureCounted DecisionKind = "FailureCounted"
	FailureIgnored DecisionKind = "FailureIgnored"
	IndexFailed    DecisionKind = "IndexFailed"
	JobCondition   DecisionKind = "JobCondition"
)

// Decision is something that the controller did in a replay.
type Decision struct {
	Kind DecisionKind `json:"kind"`
	// AfterSeconds is when, after the creation of the Job.
	AfterSeconds float64 `json:"afterSeconds"`
	// Index is the completion index, nil in a NonIndexed Job. Attempt counts the pods of the index, or of the
	// NonIndexed Job, from 1; 0 if the decision is not about a pod.
	Index   *int32 `json:"index,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Condition and Reason are those of a JobCondition.
	Condition string `json:"condition,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// podRun is a pod in a replay.
type podRun struct {
	key              sim.PodKey
	known            bool
	created          time.Duration
	begun, ended     time.Duration
	running, over    bool
	succeeded        bool
	deleted          bool
	recorded, judged bool
}

// tracer watches a replay.
type tracer struct {
	world     *sim.World
	model     *Model
	made      map[int32]int
	pods      map[types.UID]*podRun
	decisions []Decision
	finished  time.Duration
}

func newTracer(m *Model) *tracer {
	return &tracer{model: m, made: map[int32]int{}, pods: map[types.UID]*podRun{}}
}

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
	t.decide(Decision{Kind: kind, Index: indexPointer(p.key.Index), Attempt: p.key.Nth})
}

func indexPointer(index int32) *int32 {
	if index == reconcile.NoIndex {
		return nil
	}
	return &index
}

func (t *tracer) podCreated(pod *corev1.Pod) {
	view := observe.Pod(pod)
	t.made[view.Index]++
	p := &podRun{key: sim.PodKey{Index: view.Index, Attempt: int(observe.Attempt(pod)), Nth: t.made[view.Index]}, created: t.world.Elapsed()}
	_, p.known = t.model.lookup(p.key)
	t.pods[pod.UID] = p
	t.decidePod(PodCreated, p)
}

func (t *tracer) podChanged(c sim.Commit) {
	p := t.pods[c.OldPod.UID]
	if c.NewPod == nil {
		t.end(p, c.OldPod)
		return
	}
	if !p.running && c.NewPod.Status.Phase == corev1.PodRunning {
		p.running, p.begun = true, t.world.Elapsed()
	}
	if c.NewPod.Status.Phase == corev1.PodSucceeded || c.NewPod.Status.Phase == corev1.PodFailed {
		t.end(p, c.NewPod)
	}
	released := slices.Contains(c.OldPod.Finalizers, batchv1.JobTrackingFinalizer) && !slices.Contains(c.NewPod.Finalizers, batchv1.JobTrackingFinalizer)
	if released && c.NewPod.Status.Phase == corev1.PodFailed && !p.recorded && !p.judged {
		p.judged = true
		t.decidePod(FailureIgnored, p)
	}
}

// end notes that a pod has ended.
func (t *tracer) end(p *podRun, pod *corev1.Pod) {
	if p.over {
		return
	}
	p.over, p.ended, p.succeeded = true, t.world.Elapsed(), pod.Status.Phase == corev1.PodSucceeded
	p.deleted = pod.DeletionTimestamp != nil
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
	if u := job.Status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Failed {
			if p := t.pods[uid]; p != nil && !p.recorded {
				p.recorded = true
				t.decidePod(FailureCounted, p)
			}
		}
	}
	if t.finished == 0 && sim.Finished(job) {
		t.finished = t.world.Elapsed()
	}
}
