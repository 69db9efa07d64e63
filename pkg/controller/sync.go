package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// jobSync is one sync of one Job. It consists of stages, each of which decides anew and writes. State that must outlive
// it is in jobMemory.
type jobSync struct {
	*Engine
	uid   types.UID
	begun time.Time

	// job is the Job as the current stage found it, pods is the number of its pods, including those to create, and template
	// is its pod template in JSON if our types cannot hold all of its fields.
	job      *batchv1.Job
	pods     int
	template []byte

	// skip holds the pods that later stages leave alone, since a write of this sync failed, with the reason.
	skip map[types.UID]why
	// exists reports whether a live read has shown that the Job exists and is not being deleted.
	exists bool
	// held reports whether a creation failed: later stages create nothing.
	held bool
	// retry requests another sync after RetryMin: something is about to change that no watch event announces.
	retry bool
	// conflicts counts the status writes that were refused because another client wrote first.
	conflicts int
	// errs are the errors of operations on pods, which do not end the sync.
	errs []error

	syncReport
}

// why is the reason for which a sync leaves a pod alone.
type why uint8

const (
	// writeFailed: a write failed, or could not be made.
	writeFailed why = iota + 1
	// changed: the pod has changed since we saw it.
	changed
)

// maxConflicts is how often one sync reads the Job again after a conflict, and the number of consecutive conflicts on a
// pod that are not an error.
const maxConflicts = 3

// run reconciles the Job, stage by stage, until nothing is left to write now.
func (s *jobSync) run(ctx context.Context) (Result, error) {
	for stage := 0; ; stage++ {
		// 1. Take the Job from the cache, which shows our own writes. A deleted Job may leave pods to release; a Job of
		//    another controller leaves nothing. (It is found by its UID: another Job of its name may be ours, MGB-03.)
		s.job = s.cache.Job(s.uid)
		switch {
		case s.job == nil:
			return s.releaseOrphans(ctx)
		case !s.config.owns(s.job):
			return Result{}, nil
		}
		s.Own(s.job)
		s.begin(s.job)

		// 2. Let other Jobs, or the end of the process, come first once the time of this sync is over.
		over := stage > 0 && (ctx.Err() != nil || s.yields())
		if over && s.isWell() {
			return Result{Soon: true}, nil
		}

		// 3. Make sure that the Job exists, and that the cache has all its pods, as new as its status. This may change
		//    the Job in the cache.
		if err := s.observe(ctx); err != nil {
			return Result{}, unlessGone(err)
		}
		if s.cache.Job(s.uid) != s.job {
			continue
		}

		// 4. Decide what to write. The plan covers the Job; the pods that it has lost are added.
		plan, unnamed := s.compute(ctx)
		s.note(&plan)
		s.releaseOrphansOf(&plan, unnamed)

		// 5. Leave out a status that can wait. Without anything else to write, the sync ends.
		result := Result{After: plan.RequeueAfter}
		s.postponeStatus(&plan, &result)
		switch {
		case plan.IsEmpty():
			return s.done(result)
		case over:
			return Result{Soon: true}, errors.Join(s.errs...)
		}

		// 6. Write it. The next stage sees the changes.
		s.stages++
		s.logWork(ctx, &plan, result)
		switch err := s.carryOut(ctx, &plan); {
		case errors.Is(err, errJobGone):
			s.memory.noteAbsent(s.uid)
			return Result{}, errors.Join(s.errs...)
		case err != nil:
			return result, errors.Join(append(s.errs, err)...)
		}
	}
}

// isWell reports whether nothing has failed in this sync. A failed write is retried only after a wait, which a decision
// determines.
func (s *jobSync) isWell() bool { return len(s.errs) == 0 && !s.held && !s.retry }

// isOver reports whether the sync has used up its time. A decision takes longer with more pods, 15 ms with 100,000:
// beyond 150,000 pods, syncs are longer, to keep the share of time spent on decisions small.
func (s *jobSync) isOver() bool {
	const perPod = 5 * time.Microsecond
	return s.config.Clock.Since(s.begun) >= max(s.config.SyncBudget, time.Duration(s.pods)*perPod)
}

// yields reports whether the sync makes way for other Jobs. That of a small Job has more time, as it has few calls left:
// if it waited behind all other Jobs for each of them, many Jobs that are created at once would all end late, at the same
// time (SCL-18).
func (s *jobSync) yields() bool {
	const patience = 10
	return s.isOver() && (s.isLarge() || s.config.Clock.Since(s.begun) >= patience*s.config.SyncBudget)
}

// isLarge reports whether the Job has more pods than a stage changes in any case.
func (s *jobSync) isLarge() bool { return s.pods > minChanges }

// done ends a sync that has nothing left to write.
func (s *jobSync) done(result Result) (Result, error) {
	if s.memory.get(s.uid).ramp > 0 { // The remaining creations are no longer needed.
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

// observe ensures that the Job exists, and that the cached pods are at least as new as its status.
//
// The cache shows our own writes at once, so the pods are as new as the status if we wrote the status. After a status
// write by another client, or a creation that may have happened, observe lists the pods from the API server. An empty
// status cannot be newer than the pods.
func (s *jobSync) observe(ctx context.Context) error {
	s.settleUnanswered()
	if err := s.confirmExists(ctx); err != nil {
		return err
	}
	m := s.memory.get(s.uid)
	foreign := m.status == nil || !reconcile.Same(m.status, &s.job.Status)
	if reconcile.IsFinished(s.job) || !m.listPods && (!foreign || reconcile.Same(&s.job.Status, &batchv1.JobStatus{})) {
		return nil
	}
	if m.status != nil && foreign {
		s.noteForeignStatus(ctx)
	}
	s.config.Metrics.StaleSync()
	pods, version, err := s.cluster.List.List(ctx, s.job, false)
	if err == nil && s.cache.HasMore(s.job, pods) {
		// An owned pod may have lost the labels of the selector: its absence from the list does not prove that it is
		// gone.
		pods, version, err = s.cluster.List.List(ctx, s.job, true)
	}
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

// compute decides what to write. unnamed are the recorded pods that do not name the Job, see Cache.Held.
func (s *jobSync) compute(ctx context.Context) (plan reconcile.Plan, unnamed []observe.Orphan) {
	pods, now := s.cache.Pods(s.uid), s.config.Clock.Now()
	s.memory.settleReleases(s.uid, pods)
	// Lost pods are read after the Job's pods: another client may remove a pod from the Job in between, or return it.
	held, strays := map[types.UID]bool(nil), []*reconcile.Pod(nil)
	if u := s.job.Status.UncountedTerminatedPods; u != nil {
		held, unnamed = s.cache.Held(s.uid, slices.Concat(u.Succeeded, u.Failed))
	}
	if mayAdopt(s.job) {
		strays = s.cache.Strays(s.job)
	}
	// Without the template of this version of the Job, pods might lack fields.
	var knowsTemplate bool
	if s.template, knowsTemplate = s.cache.Template(s.uid, s.job.Generation); !knowsTemplate && !reconcile.IsFinished(s.job) {
		s.retry = true // The watch will deliver it.
	}
	m := s.memory.get(s.uid)
	// A write that got no response may have decided the outcome.
	decided := m.mayBeDecided(s.job, now)
	plan = reconcile.Compute(reconcile.Observation{
		Job:          s.job,
		Pods:         pods,
		Strays:       strays,
		Held:         held,
		RuleNames:    s.cache.RuleNames(s.uid),
		Now:          now,
		Backoff:      m.backoff,
		FailedSince:  s.memory.failures(s.job, pods, now, s.config.Limits),
		Skip:         skipped(s.skip),
		HoldCreation: s.held || !knowsTemplate || decided > 0,
	}, s.config.Limits)
	s.pods = len(pods) + len(plan.Create)
	if decided > 0 && plan.Status == nil && (plan.RequeueAfter == 0 || decided < plan.RequeueAfter) {
		plan.RequeueAfter = decided // Nothing else settles it.
	}
	if !reconcile.IsFinished(s.job) {
		s.events().findings(&plan.Findings)
	}
	logPlan(ctx, s.job, &plan, now)
	return plan, unnamed
}

// skipped returns the set of pods to leave alone, or nil if there are none.
func skipped(pods map[types.UID]why) map[types.UID]bool {
	var skip map[types.UID]bool
	for uid := range pods {
		if skip == nil {
			skip = make(map[types.UID]bool, len(pods))
		}
		skip[uid] = true
	}
	return skip
}

// carryOut applies a plan. If the plan requires another read of the Job and the read shows a newer Job, the next stage
// plans again instead.
func (s *jobSync) carryOut(ctx context.Context, plan *reconcile.Plan) error {
	reading := kube.UntilSent(ctx)
	if current, err := s.confirmRange(reading, plan); err != nil || !current {
		return err
	}
	if current, err := s.confirmStatus(reading, plan); err != nil || !current {
		return err
	}
	_, err := s.apply(ctx, plan)
	return err
}

// logPlan logs a plan and its findings.
func logPlan(ctx context.Context, job *batchv1.Job, plan *reconcile.Plan, now time.Time) {
	logger := klog.FromContext(ctx).V(5)
	if !logger.Enabled() {
		return
	}
	logger.Info("Plan", "job", klog.KObj(job), "create", len(plan.Create), "delete", len(plan.Delete), "release", len(plan.Release),
		"adopt", len(plan.Adopt), "disown", len(plan.Disown), "status", plan.Status != nil, "after", plan.RequeueAfter)
	for _, line := range plan.Findings.Lines(now) {
		logger.Info("Finding", "job", klog.KObj(job), "finding", line)
	}
}

// logWork logs in full the writes that a stage is about to make.
func (s *jobSync) logWork(ctx context.Context, plan *reconcile.Plan, result Result) {
	if logger := klog.FromContext(ctx).V(6); logger.Enabled() {
		logger.Info("Stage", "job", klog.KObj(s.job), "work", work{jobSync: s, plan: plan, result: result})
	}
}

// work is the input of a stage's writes. They depend on nothing else.
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
