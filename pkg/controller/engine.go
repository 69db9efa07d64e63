package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Engine syncs single Jobs. Different Jobs may be synced concurrently; the same Job
// must not be.
type Engine struct {
	config  Config
	cache   *observe.Cache
	cluster cluster.Cluster
	memory  memory
}

// NewEngine returns an Engine that reads from a cache, which the caller fills.
func NewEngine(config Config, cache *observe.Cache, c cluster.Cluster) *Engine {
	config.setDefaults()
	return &Engine{config: config, cache: cache, cluster: cluster.Metered(c, config.Metrics), memory: newMemory()}
}

// Result is when to sync the Job again, unless an event requires it sooner.
type Result struct {
	// After is the wait; 0 if no sync is needed.
	After time.Duration
	// Soon requests another sync as soon as other Jobs have had their turn.
	Soon bool
	// Done reports whether nothing is left to do for this Job, ever.
	Done bool
}

// Trust marks the cached pods of the Job as at least as new as its status: both were
// read when this process started, Jobs first.
func (e *Engine) Trust(job *batchv1.Job) {
	if e.config.owns(job) {
		e.memory.update(job.UID, func(m *jobMemory) { m.status = job.Status.DeepCopy() })
	}
}

// Own notes that the Job is ours, so that its pods can be released once it is
// deleted, even if it was never synced.
func (e *Engine) Own(job *batchv1.Job) {
	e.memory.update(job.UID, func(m *jobMemory) { m.ours, m.namespace = true, job.Namespace })
}

// errJobGone ends the sync of a deleted Job. It is not a failure: the watch will deliver
// the deletion, which leads to another sync.
var errJobGone = errors.New("the Job is gone")

// unlessGone returns an error, or nil if it is only that the Job is gone.
func unlessGone(err error) error {
	if errors.Is(err, errJobGone) {
		return nil
	}
	return err
}

// maxConflicts is how often one sync reads the Job again after a conflict, and how
// many conflicts in a row about a pod are no error.
const maxConflicts = 3

// Sync reconciles the Job as far as possible now. After an error, retry it with a
// back-off.
func (e *Engine) Sync(ctx context.Context, uid types.UID) (Result, error) {
	s := &jobSync{
		Engine: e, uid: uid, skip: map[types.UID]bool{}, conflicted: map[types.UID]bool{},
		begun: e.config.Clock.Now(),
	}
	result, err := s.run(ctx)
	s.settleConflicts()
	s.report(result, err)
	return result, err
}

// jobSync is one sync of one Job.
type jobSync struct {
	*Engine
	uid   types.UID
	begun time.Time

	job *batchv1.Job
	// pods is the number of pods of the last plan.
	pods int
	// template is the Job's pod template in JSON, if our types cannot hold it.
	template []byte
	skip     map[types.UID]bool
	// conflicted are the pods whose writes had a conflict in this sync.
	conflicted map[types.UID]bool
	// exists reports whether a live read in this sync has shown the Job, and that it is not
	// being deleted.
	exists bool
	held   bool
	retry  bool
	// changesLeft reports whether a stage of this sync had no time for some deletions or releases.
	changesLeft bool
	conflicts   int
	errs        []error
	syncReport
}

func (s *jobSync) run(ctx context.Context) (Result, error) {
	for stage := 0; ; stage++ {
		s.job = s.cache.Job(s.uid)
		if s.job == nil {
			return s.releaseOrphans(ctx)
		}
		if !s.config.owns(s.job) {
			// Checked on the object found by its UID: another Job of the same name
			// may have had another controller (MGB-03).
			return Result{}, nil
		}
		s.Own(s.job)
		s.begin(s.job)
		over := s.yields(ctx, stage)
		if over && s.isWell() {
			return Result{Soon: true}, nil // The next sync decides.
		}
		s.settleUnanswered()
		if err := s.completePods(ctx); err != nil {
			return Result{}, unlessGone(err)
		}
		if s.cache.Job(s.uid) != s.job { // It changed during a call.
			continue
		}
		plan := s.compute(ctx)
		s.note(&plan)
		s.releaseOrphansOf(&plan)
		result := Result{After: plan.RequeueAfter}
		s.postponeStatus(&plan, &result)
		if plan.IsEmpty() {
			return s.done(result)
		}
		if over {
			return Result{Soon: true}, errors.Join(s.errs...)
		}
		s.stages++
		s.logWork(ctx, &plan, result)
		switch err := s.carryOut(ctx, &plan); {
		case errors.Is(err, errJobGone):
			s.noteAbsent()
			return Result{}, errors.Join(s.errs...)
		case err != nil:
			return result, errors.Join(append(s.errs, err)...)
		}
	}
}

// yields reports whether other Jobs, or the end of the process, come before a stage.
func (s *jobSync) yields(ctx context.Context, stage int) bool {
	return stage > 0 && (ctx.Err() != nil || s.isOver())
}

// isWell reports whether nothing has failed in this sync. What has is retried only after a wait,
// which a decision finds.
func (s *jobSync) isWell() bool { return len(s.errs) == 0 && !s.held && !s.retry }

func (s *jobSync) done(result Result) (Result, error) {
	if s.memory.get(s.uid).ramp > 0 { // What was left is no longer needed.
		s.memory.update(s.uid, func(m *jobMemory) { m.ramp = 0 })
	}
	if reconcile.IsFinished(s.job) && len(s.errs) == 0 && !s.retry {
		s.memory.retire(s.uid, s.config.Clock.Now())
		return Result{Done: true}, nil
	}
	if s.retry && (result.After == 0 || result.After > s.config.RetryMin) {
		result.After = s.config.RetryMin
	}
	return result, errors.Join(s.errs...)
}

// completePods ensures that the Job exists, and that the cache has all pods that matter to it, as new as its status.
func (s *jobSync) completePods(ctx context.Context) error {
	if err := s.confirmExists(ctx); err != nil {
		return err
	}
	return s.refreshPods(ctx)
}

// refreshPods ensures that the cached pods are at least as new as the Job's status.
// The cache shows our own writes at once, so that is true as long as we wrote the
// status. After a status written by someone else, or a creation that may have
// happened, it lists the pods from the API server. A status that counts nothing
// cannot be newer than the pods.
func (s *jobSync) refreshPods(ctx context.Context) error {
	m := s.memory.get(s.uid)
	foreign := m.status == nil || !reconcile.Same(m.status, &s.job.Status)
	if !m.listPods && (!foreign || reconcile.Same(&s.job.Status, &batchv1.JobStatus{})) {
		return nil
	}
	if reconcile.IsFinished(s.job) {
		return nil
	}
	if m.status != nil && foreign {
		s.noteForeignStatus(ctx)
	}
	s.config.Metrics.StaleSync()
	pods, version, err := s.listPods(ctx)
	if err != nil {
		return fmt.Errorf("listing the pods of the Job: %w", err)
	}
	klog.FromContext(ctx).V(2).Info("Listed the pods of a Job past the cache", "job", klog.KObj(s.job), "pods", len(pods), "foreignStatus", foreign)
	before := s.cache.Pods(s.uid)
	s.cache.ListedPods(s.job, pods, version)
	s.noteReleased(before)
	s.memory.update(s.uid, func(m *jobMemory) { m.status, m.listPods = &s.job.Status, false })
	return nil
}

// listPods lists the Job's pods.
func (s *jobSync) listPods(ctx context.Context) (pods []corev1.Pod, version string, err error) {
	pods, version, err = s.cluster.List.List(ctx, s.job, false)
	if err != nil || !s.cache.HasMore(s.job, pods) {
		return pods, version, err
	}
	// A pod that the Job owns may have lost the labels of the selector: that it
	// is not listed does not mean that it is gone.
	return s.cluster.List.List(ctx, s.job, true)
}

func (s *jobSync) compute(ctx context.Context) reconcile.Plan {
	pods, now := s.cache.Pods(s.uid), s.config.Clock.Now()
	s.pods = len(pods)
	s.settleReleases(pods)
	m, known, decided := s.memory.get(s.uid), s.readTemplate(), s.mayBeDecided()
	plan := reconcile.Compute(reconcile.Observation{
		Job:             s.job,
		Pods:            pods,
		Strays:          s.strays(),
		Held:            s.heldPods(),
		RuleNames:       s.cache.RuleNames(s.uid),
		Now:             now,
		Backoff:         m.backoff,
		UnreportedSince: s.unreportedSince(pods, now),
		Skip:            s.skip,
		HoldCreation:    s.held || !known || decided > 0,
	}, s.config.Limits)
	if decided > 0 && plan.Status == nil && (plan.RequeueAfter == 0 || decided < plan.RequeueAfter) {
		plan.RequeueAfter = decided // Nothing else settles it.
	}
	if !reconcile.IsFinished(s.job) {
		s.emitFindings(&plan.Findings)
	}
	s.logPlan(ctx, &plan, now)
	return plan
}

// logPlan logs what is decided, and why.
func (s *jobSync) logPlan(ctx context.Context, plan *reconcile.Plan, now time.Time) {
	logger := klog.FromContext(ctx).V(5)
	if !logger.Enabled() {
		return
	}
	logger.Info("Plan", "job", klog.KObj(s.job), "create", len(plan.Create), "delete", len(plan.Delete), "release", len(plan.Release),
		"adopt", len(plan.Adopt), "disown", len(plan.Disown), "status", plan.Status != nil, "after", plan.RequeueAfter)
	for _, line := range plan.Findings.Lines(now) {
		logger.Info("Finding", "job", klog.KObj(s.job), "finding", line)
	}
}

// logWork logs in full what a stage is about to do.
func (s *jobSync) logWork(ctx context.Context, plan *reconcile.Plan, result Result) {
	if logger := klog.FromContext(ctx).V(6); logger.Enabled() {
		logger.Info("Stage", "job", klog.KObj(s.job), "work", work{jobSync: s, plan: plan, result: result})
	}
}

// work is what a stage of a sync is about to do. That depends on nothing else.
type work struct {
	*jobSync
	plan   *reconcile.Plan
	result Result
}

// MarshalLog implements logr.Marshaler.
func (w work) MarshalLog() any {
	return struct {
		Create                         []reconcile.NewPod `json:",omitempty"`
		Delete, Release, Adopt, Disown []reconcile.PodRef `json:",omitempty"`
		Status                         *batchv1.JobStatus `json:",omitempty"`
	}{w.plan.Create, w.plan.Delete, w.plan.Release, w.plan.Adopt, w.plan.Disown, w.plan.Status}
}

// unreportedSince remembers when failed pods whose end is not reported were first seen.
func (s *jobSync) unreportedSince(pods []*reconcile.Pod, now time.Time) map[types.UID]time.Time {
	if s.job.Spec.PodFailurePolicy == nil {
		return nil
	}
	known := s.memory.get(s.uid).unreportedSince
	var since map[types.UID]time.Time
	for _, p := range pods {
		if !p.Unreported || !p.Finalizer {
			continue
		}
		if since == nil {
			since = map[types.UID]time.Time{}
		}
		if since[p.UID] = now; !known[p.UID].IsZero() {
			since[p.UID] = known[p.UID]
		}
	}
	if len(known)+len(since) > 0 {
		s.memory.update(s.uid, func(m *jobMemory) { m.unreportedSince = since })
	}
	return since
}

// postponeStatus leaves a status that can wait to a later sync, if one was written
// less than a batch period ago (JOB-53, REG-18).
func (s *jobSync) postponeStatus(plan *reconcile.Plan, result *Result) {
	if plan.Status == nil || plan.Urgent {
		return
	}
	m := s.memory.get(s.uid)
	wait := s.config.BatchPeriod - s.config.Clock.Since(m.written)
	// The next stage reports creations, unless they have continued since the last one, or
	// are so many that startTime must not wait for them.
	begins := s.job.Status.StartTime == nil && s.isRamp(plan)
	if merge := plan.Merge && m.ramp == 0 && !begins; !merge && (m.written.IsZero() || wait <= 0) {
		return
	}
	plan.Status = nil
	if wait > 0 && (result.After == 0 || wait < result.After) {
		result.After = wait
	}
}
