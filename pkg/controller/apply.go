package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// apply carries out one stage. Errors of pod operations are kept in s, and later stages of this sync skip the pods
// concerned, so that the other pods make progress. The returned error is the error of the status write, which ends the
// sync.
func (s *jobSync) apply(ctx context.Context, plan *reconcile.Plan) (left bool, err error) {
	// A shutdown waits for the calls that were sent, each of which has its own timeout, and sends no others: the
	// operations of a stage need not all be carried out.
	stopping := ctx.Done()
	if seen := plan.BackoffSeen; !seen.IsZero() {
		s.memory.update(s.uid, func(m *jobMemory) { m.backoff = seen })
	}
	stage := &stage{jobSync: s, ramp: s.isRamp(plan)}
	var operations []func()
	if ctx.Err() == nil {
		operations = stage.changes(kube.UntilSent(ctx), plan)
	}
	// Slow start (JOB-45): the first creation shows whether more can succeed.
	create, batch := plan.Create, max(1, s.memory.get(s.uid).ramp)
	for len(create) > 0 || len(operations) > 0 {
		n := min(batch, len(create))
		operations = spread(operations, stage.creations(ctx, plan, create[:n], len(create) == len(plan.Create)))
		create = create[n:]
		s.cluster.Parallel(s.priority(plan), len(operations), func(i int) {
			select {
			case <-stopping:
			default:
				operations[i]()
			}
		})
		operations = nil
		if s.held || stage.left {
			break
		}
		if batch *= 2; stage.overdue() || stage.isOutdated() {
			break
		}
	}
	stage.left = stage.left || len(create) > 0 || len(plan.Create) == s.config.Limits.MaxPodChanges
	stage.rememberRamp(batch)
	stage.remember(plan)
	stage.emitPodEvents(plan)
	return stage.changesLeft, stage.statusErr
}

// priority returns the priority of the calls of a plan. Those that complete a Job come before the creations of others, as
// the Job does in the queue (SCL-17).
func (s *jobSync) priority(plan *reconcile.Plan) cluster.Priority {
	switch {
	case s.isLarge():
		return cluster.Large
	case len(plan.Create) == 0 && s.cache.HasEnded(s.uid):
		return cluster.Ending
	}
	return cluster.Small
}

// stage collects the results of the operations of one stage, from several goroutines.
type stage struct {
	*jobSync
	ramp bool
	// left reports whether creations are left to the next stage although no creation failed.
	left bool
	// changed is the number of pods to delete or release so far; changesLeft reports whether there was no time for the
	// rest.
	changed     atomic.Int32
	mu          sync.Mutex
	changesLeft bool
	statusErr   error
	// stored is the status that was written, or nil, and written is the time of that write.
	stored  *batchv1.JobStatus
	written time.Time
	news    podEvents
}

// changes returns the operations of a plan on existing objects.
func (s *stage) changes(ctx context.Context, plan *reconcile.Plan) (operations []func()) {
	if plan.Status != nil {
		operations = append(operations, func() { s.writeStatus(ctx, plan) })
	}
	for _, pod := range plan.Delete {
		operations = append(operations, s.inTime(func() { s.deletePod(ctx, pod) }))
	}
	for _, pod := range plan.Release {
		operations = append(operations, s.inTime(func() { s.releasePod(ctx, pod) }))
	}
	for _, pod := range plan.Disown {
		operations = append(operations, func() { s.patchPod(ctx, pod, cluster.DisownPod, verbDisown) })
	}
	if s.confirmAdopter(ctx, plan.Adopt) {
		for _, pod := range plan.Adopt {
			operations = append(operations, func() { s.patchPod(ctx, pod, cluster.AdoptPod, verbAdopt) })
		}
	}
	return operations
}

// minChanges is the number of pods that a stage deletes and releases however long it takes, so that at a low rate
// limit, few of the calls are status writes (SCL-03).
const minChanges = 100

// inTime leaves an operation to the next stage if the sync has used up its time or the Job has changed: neither the Job
// nor other Jobs must wait for hundreds of pods (SCL-15).
func (s *stage) inTime(operation func()) func() {
	return func() {
		if s.changed.Add(1) <= minChanges || !s.yields() && !s.isOutdated() {
			operation()
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changesLeft = true
	}
}

// spread returns the operations of both slices in their order. If some of a may be left to the next stage, the
// operations of b are spread evenly between them, so that they are not all behind a.
func spread(a, b []func()) []func() {
	if len(a) <= minChanges {
		return append(a, b...)
	}
	all := make([]func(), 0, len(a)+len(b))
	for i, j := 0, 0; i+j < len(a)+len(b); {
		if j == len(b) || i < len(a) && i*len(b) <= j*len(a) {
			all = append(all, a[i])
			i++
		} else {
			all = append(all, b[j])
			j++
		}
	}
	return all
}

// creations returns the operations that create one batch of pods. Every stage makes at least one creation, however late
// it is.
func (s *stage) creations(ctx context.Context, plan *reconcile.Plan, pods []reconcile.NewPod, begins bool) (operations []func()) {
	for i, pod := range pods {
		operations = append(operations, func() {
			if begins && i == 0 || !s.leaveToNext() {
				s.createPod(kube.UntilSent(ctx), pod, plan.CreateReason)
			}
		})
	}
	return operations
}

// isRamp reports whether there are more creations than can ever be in flight at once.
func (s *jobSync) isRamp(plan *reconcile.Plan) bool {
	return len(plan.Create) > s.config.PodConcurrency
}

// overdue reports whether startTime is due: creations take long with a slow webhook, and it must not wait for all of them.
// The next plan contains the rest, if they are still needed.
func (s *stage) overdue() bool { return s.job.Status.StartTime == nil && s.isOver() }

// isOutdated reports whether a client has changed the spec since the plan was made, or has deleted the Job.
func (s *stage) isOutdated() bool {
	now := s.cache.Job(s.uid)
	return now == nil || isRespecified(s.job, now)
}

// leaveToNext reports whether a creation is left to the next stage: at a low rate limit, many creations take long.
func (s *stage) leaveToNext() bool {
	if !s.isOutdated() && (!s.ramp || !s.yields()) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	return true
}

// rememberRamp lets the next stage continue with as many concurrent creations as this one reached, if it left some.
// After a failure, or when all are done, the next stage starts with one.
func (s *stage) rememberRamp(batch int) {
	if s.held || !s.left {
		batch = 0
	}
	if batch != s.memory.get(s.uid).ramp {
		s.memory.update(s.uid, func(m *jobMemory) { m.ramp = min(batch, s.config.Limits.MaxPodChanges) })
	}
}

// remember stores the results of the stage in memory.
func (s *stage) remember(plan *reconcile.Plan) {
	if s.stored == nil {
		return
	}
	s.memory.update(s.uid, func(m *jobMemory) {
		m.status, m.backoff, m.written, m.unanswered = s.stored, plan.Backoff, s.written, nil
	})
}

func (s *stage) createPod(ctx context.Context, n reconcile.NewPod, reason reconcile.CreateReason) {
	pod, err := s.create(ctx, n)
	if errors.Is(err, kube.ErrUnsent) {
		return // Equivalent to an operation that has not begun.
	}
	if err == nil {
		s.cache.WrotePod(pod)
		err = checkCreated(s.job, pod)
	}
	s.config.Metrics.PodCreated(reason, err)
	if err == nil {
		s.news.podCreated(pod.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.created = true
		return
	}
	s.held = true
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return // Nothing can be created anymore, and nothing needs to be (JOB-46).
	}
	s.refusal = err
	s.news.creationFailed(err)
	if cluster.IsAmbiguous(err) {
		s.memory.update(s.uid, func(m *jobMemory) { m.listPods = true })
	}
	s.errs = append(s.errs, fmt.Errorf("creating a pod: %w", err))
}

// checkCreated returns an error if a pod was created without the owner, finalizer or labels that make it ours. Such a
// pod will be deleted, or has no owner; creating another one at once would never end.
func checkCreated(job *batchv1.Job, pod *corev1.Pod) error {
	switch {
	case observe.JobUID(pod) != job.UID:
		return apierrors.NewBadRequest("pod " + pod.Name + " was created without its owner: an admission webhook must have removed it")
	case !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && pod.DeletionTimestamp == nil:
		return apierrors.NewBadRequest("pod " + pod.Name + " was created without the finalizer " + batchv1.JobTrackingFinalizer + ": an admission webhook must have removed it")
	case !observe.Selects(job, pod.Labels):
		return apierrors.NewBadRequest("pod " + pod.Name + " was created without the labels that the Job's selector asks for: an admission webhook must have changed them")
	}
	return nil
}

func (s *stage) deletePod(ctx context.Context, ref reconcile.PodRef) {
	pod, err := s.cluster.Pods.Delete(ctx, s.job.Namespace, ref)
	if err == nil {
		s.cache.WrotePod(pod)
		s.news.podDeleted(ref.Name)
		return
	}
	s.failed(err, ref, verbDelete)
}

func (s *stage) releasePod(ctx context.Context, ref reconcile.PodRef) {
	s.memory.noteReleasing(s.uid, ref)
	if !s.patchPod(ctx, ref, cluster.ReleasePod, verbRelease) || !ref.Ignored {
		return
	}
	s.news.failureIgnored(ref.UID)
	s.config.Metrics.FailureIgnored()
}

func (s *stage) patchPod(ctx context.Context, ref reconcile.PodRef, patch cluster.PodPatch, verb podVerb) (done bool) {
	pod, err := s.cluster.Pods.Patch(ctx, s.job, ref, patch)
	if err == nil {
		s.cache.WrotePod(pod)
		if err = checkPatched(s.job, pod, patch); err == nil {
			return true
		}
	}
	return s.failed(err, ref, verb)
}

// checkPatched returns an error if a patch was accepted without effect; trying again at
// once would never end.
func checkPatched(job *batchv1.Job, pod *corev1.Pod, patch cluster.PodPatch) error {
	owned, tracked := observe.JobUID(pod) == job.UID, slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
	if patch == cluster.AdoptPod && owned && tracked || patch == cluster.DisownPod && !owned && !tracked || patch == cluster.ReleasePod && !tracked {
		return nil
	}
	return apierrors.NewBadRequest("the pod has other owners or finalizers than asked for: an admission webhook must have changed them")
}

// failed handles the error of an operation on a pod. It reports whether nothing is left to do, because the pod is gone.
// No other error means that the pod is gone: a webhook may have caused a conflict, and if another pod has the name, the
// watch will show it.
func (s *stage) failed(err error, ref reconcile.PodRef, verb podVerb) (gone bool) {
	if cluster.IsMissing(err, "pods", ref.Name) {
		// Nothing is left to do for it (TRK-10).
		s.cache.PodMissing(s.uid, s.job.Namespace, ref.UID)
		return true
	}
	if errors.Is(err, kube.ErrUnsent) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skip[ref.UID] = writeFailed
	if apierrors.IsConflict(err) || cluster.IsOtherPod(err) {
		// It changed since we saw it, another pod has its name, or it has another owner: the watch will deliver the
		// change (TRK-36).
		s.skip[ref.UID] = changed
		if s.memory.countConflict(s.uid, ref.UID) <= maxConflicts {
			s.retry = true
			return false
		}
	}
	s.news.operationFailed(ref, verb, err)
	s.errs = append(s.errs, fmt.Errorf("%s pod %s: %w", verb, ref.Name, err))
	return false
}
