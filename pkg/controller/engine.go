package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// JobAPI reads and writes Jobs past the cache.
type JobAPI interface {
	// Get returns a Job with what batchv1.Job has no fields for.
	Get(ctx context.Context, namespace, name string) (*observe.NamedJob, error)
	// UpdateStatus stores job.Status if job.ResourceVersion is still current.
	UpdateStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	// List returns all Jobs of a namespace.
	List(ctx context.Context, namespace string) ([]batchv1.Job, error)
}

// PodAPI writes pods. Each write but Create names the pod by its UID too.
type PodAPI interface {
	Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	Delete(ctx context.Context, namespace string, pod reconcile.PodRef) (*corev1.Pod, error)
	// Patch changes what ties the pod to the Job, in one write.
	Patch(ctx context.Context, job *batchv1.Job, pod reconcile.PodRef, patch PodPatch) (*corev1.Pod, error)
}

// PodPatch is a change of what ties a pod to a Job.
type PodPatch uint8

const (
	// ReleasePod takes the tracking finalizer away.
	ReleasePod PodPatch = iota + 1
	// AdoptPod makes the Job the controller of the pod, and adds the tracking finalizer.
	AdoptPod
	// DisownPod takes away the Job as an owner, and the tracking finalizer.
	DisownPod
)

// PodLister reads pods past the cache, those that the Job's selector selects or all
// of its namespace, and the resourceVersion at which the list is complete.
type PodLister interface {
	List(ctx context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error)
}

// Cluster is all that an Engine needs of one.
type Cluster struct {
	Jobs JobAPI
	Pods PodAPI
	List PodLister
	// CreateJSON creates a pod from JSON, which may have fields that corev1.Pod does not
	// have. Without it, Jobs whose template has such fields get no pods.
	CreateJSON func(ctx context.Context, namespace string, pod []byte) (*corev1.Pod, error)
	// Parallel calls do(0..n-1), in any order and perhaps at once, and returns
	// when all calls have.
	Parallel func(n int, do func(i int))
}

// Engine syncs single Jobs. Different Jobs may be synced at once; the same Job
// must not be.
type Engine struct {
	config  Config
	cache   *observe.Cache
	cluster Cluster
	memory  memory
}

// NewEngine returns an Engine over a cache that somebody else fills.
func NewEngine(config Config, cache *observe.Cache, cluster Cluster) *Engine {
	config.setDefaults()
	return &Engine{config: config, cache: cache, cluster: metered(cluster, config.Metrics), memory: newMemory()}
}

// Result says when to sync the Job again, if no event asks for it sooner.
type Result struct {
	// After is the wait; 0 for none needed.
	After time.Duration
	// Soon asks for another sync as soon as other Jobs had their turn.
	Soon bool
	// Done says that nothing will ever be left to do for this Job.
	Done bool
}

// Trust says that the cached pods of the Job are at least as new as its status:
// both were read when this process began, Jobs first.
func (e *Engine) Trust(job *batchv1.Job) {
	if e.config.owns(job) {
		e.memory.update(job.UID, func(m *jobMemory) { m.status = job.Status.DeepCopy() })
	}
}

// Own notes that the Job is ours, so that its pods can be let go when it is gone,
// whether or not a sync ever saw it.
func (e *Engine) Own(job *batchv1.Job) {
	e.memory.update(job.UID, func(m *jobMemory) { m.ours, m.namespace = true, job.Namespace })
}

// errJobGone ends a sync whose Job is gone. That is no failure: the watch will tell of the
// deletion, and ask for a sync of its own.
var errJobGone = errors.New("the Job is gone")

// maxConflicts is how often one sync reads the Job anew because somebody else
// wrote it meanwhile, and how often in a row a conflict about a pod is no error.
const maxConflicts = 3

// Sync brings the Job as far as it can be brought now. An error asks for another
// try after a back-off.
func (e *Engine) Sync(ctx context.Context, uid types.UID) (Result, error) {
	s := &jobSync{Engine: e, uid: uid, skip: map[types.UID]bool{}, conflicted: map[types.UID]bool{}, begun: e.config.Clock.Now()}
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
	// pods is how many the last plan was made for.
	pods int
	// template is the Job's, if our types cannot hold it.
	template []byte
	skip     map[types.UID]bool
	// conflicted are the pods whose writes met a conflict in this sync.
	conflicted map[types.UID]bool
	// exists says that a live read has shown the Job in this sync, not being deleted.
	exists    bool
	held      bool
	retry     bool
	conflicts int
	errs      []error
	syncReport
}

func (s *jobSync) run(ctx context.Context) (Result, error) {
	for stage := 0; ; stage++ {
		s.job = s.cache.Job(s.uid)
		if s.job == nil {
			return s.releaseOrphans(ctx)
		}
		if !s.config.owns(s.job) {
			// Checked on the very object, found by its UID: a Job of the same
			// name may have been somebody else's (MGB-03).
			return Result{}, nil
		}
		s.Own(s.job)
		if stage == 0 {
			s.begin(s.job)
		}
		s.settleUnanswered()
		if err := s.refreshPods(ctx); err != nil {
			return Result{}, err
		}
		plan := s.compute(ctx)
		s.note(&plan)
		s.releaseLost(&plan)
		result := Result{After: plan.RequeueAfter}
		s.postponeStatus(&plan, &result)
		if plan.IsEmpty() {
			return s.done(result)
		}
		if stage > 0 && (ctx.Err() != nil || s.config.Clock.Since(s.begun) >= s.config.SyncBudget) {
			return Result{Soon: true}, errors.Join(s.errs...)
		}
		s.stages++
		switch err := s.carryOut(ctx, &plan); {
		case errors.Is(err, errJobGone):
			return Result{}, errors.Join(s.errs...)
		case err != nil:
			return result, errors.Join(append(s.errs, err)...)
		}
	}
}

func (s *jobSync) done(result Result) (Result, error) {
	if s.memory.get(s.uid).ramp > 0 { // What was left is not wanted any more.
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

// refreshPods makes sure that the cached pods are at least as new as the Job's
// status. Our own writes show in the cache at once, so that holds as long as we
// wrote the status. After a status that somebody else wrote, or a creation that
// may or may not have happened, one list from the API server settles it.
// A status that counts nothing cannot be ahead of the pods.
func (s *jobSync) refreshPods(ctx context.Context) error {
	m := s.memory.get(s.uid)
	foreign := m.status == nil || !equality.Semantic.DeepEqual(*m.status, s.job.Status)
	if !m.listPods && (!foreign || equality.Semantic.DeepEqual(s.job.Status, batchv1.JobStatus{})) {
		return nil
	}
	if reconcile.IsFinished(s.job) {
		return nil
	}
	if m.status != nil && foreign {
		s.noteForeignStatus(ctx)
	}
	s.config.Metrics.staleSync()
	pods, version, err := s.cluster.List.List(ctx, s.job, false)
	if err == nil && s.cache.HasMore(s.job, pods) {
		// A pod that is ours by its owner may have lost the labels that the
		// selector asks for: that it is not listed does not mean that it is gone.
		pods, version, err = s.cluster.List.List(ctx, s.job, true)
	}
	if err != nil {
		return fmt.Errorf("listing the pods of the Job: %w", err)
	}
	klog.FromContext(ctx).V(2).Info("Listed the pods of a Job past the cache", "job", klog.KObj(s.job), "pods", len(pods), "foreignStatus", foreign)
	s.cache.ListedPods(s.job, pods, version)
	s.memory.update(s.uid, func(m *jobMemory) { m.status, m.listPods = &s.job.Status, false })
	return nil
}

func (s *jobSync) compute(ctx context.Context) reconcile.Plan {
	m, known := s.memory.get(s.uid), s.readTemplate()
	pods, now := s.cache.Pods(s.uid), s.config.Clock.Now()
	s.pods = len(pods)
	plan := reconcile.Compute(reconcile.Observation{
		Job:             s.job,
		Pods:            pods,
		Strays:          s.strays(),
		RuleNames:       s.cache.RuleNames(s.uid),
		Now:             now,
		Backoff:         m.backoff,
		UnreportedSince: s.unreportedSince(pods, now),
		Skip:            s.skip,
		HoldCreation:    s.held || !known,
	}, s.config.Limits)
	if !reconcile.IsFinished(s.job) {
		s.sayStanding(&plan.Findings)
	}
	s.logPlan(ctx, &plan, now)
	return plan
}

// logPlan writes what is decided, and why.
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

// unreportedSince remembers when failed pods whose end is not told were first seen.
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

// postponeStatus leaves a status that can wait for a later sync, when one was
// written less than a batch period ago (JOB-53, REG-18).
func (s *jobSync) postponeStatus(plan *reconcile.Plan, result *Result) {
	if plan.Status == nil || plan.Urgent {
		return
	}
	m := s.memory.get(s.uid)
	wait := s.config.BatchPeriod - s.config.Clock.Since(m.written)
	// Creations are the next stage's to tell of, unless they go on since the last one, or
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
