package controller

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// syncReport holds the values that metrics report about one sync.
type syncReport struct {
	// job is the Job as the sync found it; nil if it is finished or gone.
	job                        *batchv1.Job
	stages                     int
	finishing, deleted, create bool
	// planned reports whether a plan was made; delayed holds the pods of the last plan whose failure is not counted
	// before their index has a new pod.
	planned bool
	delayed []types.UID
	// created reports whether a pod was created; refusal is the error of the last creation that failed, or nil.
	created bool
	refusal error
}

// begin records the Job that the sync found first.
func (r *syncReport) begin(job *batchv1.Job) {
	if r.job == nil && !reconcile.IsFinished(job) {
		r.job = job
	}
}

// note adds a plan to the report. A creation that waits for a back-off counts as a creation.
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

func (r *syncReport) action() metrics.Action {
	switch {
	case r.finishing:
		return metrics.Reconciling
	case r.deleted:
		return metrics.PodsDeleted
	case r.create:
		return metrics.PodsCreated
	}
	return metrics.Tracking
}

// report updates the metrics after a sync, including the waits of the Job.
func (s *jobSync) report(result Result, err error) {
	m, r := s.config.Metrics, s.syncReport
	if m == nil {
		return
	}
	job := s.cache.Job(s.uid)
	if job == nil || !s.config.owns(job) || reconcile.IsFinished(job) || job.DeletionTimestamp != nil {
		m.JobIgnored(s.uid)
	} else {
		if r.planned {
			m.PodsDelayed(s.uid, r.delayed)
		}
		m.JobUnfinished(job)
		// A sync that ended before it had a plan does not know whether pods are needed. If no pods are needed (JOB-46),
		// calls that keep failing do not prolong a wait.
		wantsNoPods := r.planned && (!r.create || s.held && r.refusal == nil)
		switch {
		case r.refusal != nil:
			m.PodRefused(s.uid, r.refusal, r.created)
		case r.created, err == nil && !result.Soon, wantsNoPods: // It no longer waits.
			m.PodsNotRefused(s.uid)
		}
	}
	if r.job != nil {
		m.Synced(r.job, metrics.Sync{Took: s.config.Clock.Since(s.begun), Stages: r.stages, Action: r.action(), Err: err})
	}
}

// PodEnded records the time at which this process saw that a pod of the Job had ended, or failed because its deletion was
// requested.
func (e *Engine) PodEnded(job *batchv1.Job, c observe.PodChange) {
	now := e.config.Clock.Now()
	if hasEnded(c.New) && !hasEnded(c.Old) {
		e.memory.update(job.UID, func(m *jobMemory) { m.lastEnd = now })
	}
	if p := c.New; p != nil && p.Finalizer && reconcile.HasFailed(&job.Spec, e.config.Limits.Features, p) {
		e.memory.seeFailure(job.UID, p.UID, now)
	}
}
