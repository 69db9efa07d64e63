package controller

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// syncAction is what a sync did to the pods of its Job; the values are those of a metric
// label (JOB-49).
type syncAction string

const (
	actionReconciling syncAction = "reconciling"
	actionTracking    syncAction = "tracking"
	actionCreated     syncAction = "pods_created"
	actionDeleted     syncAction = "pods_deleted"
)

// syncReport is what metrics report about one sync.
type syncReport struct {
	// job is the Job as the sync found it; nil if it is finished or gone.
	job                        *batchv1.Job
	stages                     int
	finishing, deleted, create bool
	// planned reports whether a plan was made; delayed are the pods of the last one whose
	// failure is not counted before their index has a new pod.
	planned bool
	delayed []types.UID
	// created reports whether a pod was created, refusal is why one was not.
	created bool
	refusal error
}

// begin notes the Job that a sync found.
func (r *syncReport) begin(job *batchv1.Job) {
	if !reconcile.IsFinished(job) {
		r.job = job
	}
}

// note adds a plan. A creation that waits for a back-off counts as one.
func (r *syncReport) note(plan *reconcile.Plan) {
	f := &plan.Findings
	r.finishing = r.finishing || f.Outcome != nil
	r.deleted = r.deleted || len(plan.Delete)+len(f.Excess)+len(f.Misfits)+len(f.Untracked) > 0
	r.create = r.create || len(plan.Create) > 0 || f.Backoff != nil || f.RetryHeld
	r.planned, r.delayed = true, nil
	for _, w := range f.AwaitReplacement {
		r.delayed = append(r.delayed, w.Pod.UID)
	}
}

func (r *syncReport) action() syncAction {
	switch {
	case r.finishing:
		return actionReconciling
	case r.deleted:
		return actionDeleted
	case r.create:
		return actionCreated
	}
	return actionTracking
}

// report updates the metrics after a sync.
func (s *jobSync) report(result Result, err error) {
	m, r := s.config.Metrics, s.syncReport
	if m == nil {
		return
	}
	s.reportWaits(result, err)
	if r.job == nil {
		return
	}
	m.synced(r.job, s.config.Clock.Since(s.begun), r.action(), err)
	m.syncStages.WithLabelValues(completionMode(r.job)).Observe(float64(r.stages))
}

// PodEnded notes when a pod of the Job ended, as far as this process saw it.
func (e *Engine) PodEnded(job types.UID) {
	now := e.config.Clock.Now()
	e.memory.update(job, func(m *jobMemory) { m.lastEnd = now })
}

// reportFinish records how long after the end of the last pod the terminal condition was
// stored. That is unknown if the last pod ended before this process started, or if there
// was none.
func (s *jobSync) reportFinish(stored *batchv1.Job) {
	last := s.memory.get(s.uid).lastEnd
	if s.config.Metrics == nil || last.IsZero() || !reconcile.IsFinished(stored) {
		return
	}
	result := "failed"
	if stored.Status.CompletionTime != nil {
		result = "succeeded"
	}
	s.config.Metrics.finishDelay.WithLabelValues(completionMode(stored), result).Observe(s.config.Clock.Since(last).Seconds())
}
