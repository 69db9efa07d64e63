package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// adoptionPeriods is after how many batch periods a Job with a selector of its own looks again
// for pods to adopt: they lack the label of the watch.
const adoptionPeriods = 10

// NoteUnwatched notes pods that lack the label of the watch and matter to a Job of ours, and
// returns these Jobs. Their next sync labels the pods before it decides anything. Pods of a Job
// that is gone are only released: for that, their metadata is enough, unless their labels are gone,
// too.
func (e *Engine) NoteUnwatched(pods []metav1.PartialObjectMetadata) (jobs []types.UID) {
	noted := map[types.UID]map[types.UID]unwatchedPod{}
	for i := range pods {
		if !e.config.Shard.Contains(pods[i].Namespace) {
			continue // Its Job is not gone, but in another shard.
		}
		for _, uid := range e.claimants(&pods[i]) {
			jobs = append(jobs, uid)
			if e.cache.Job(uid) == nil {
				e.cache.WrotePod(&corev1.Pod{ObjectMeta: pods[i].ObjectMeta})
				continue
			}
			if noted[uid] == nil {
				noted[uid] = map[types.UID]unwatchedPod{}
			}
			noted[uid][pods[i].UID] = unwatched(&pods[i])
		}
	}
	for uid, pods := range noted {
		e.noteUnwatched(uid, pods)
	}
	return jobs
}

// forgetUnwatched forgets the noted pods that no longer matter, given all pods of the Job's namespace.
func (s *jobSync) forgetUnwatched(all []corev1.Pod) {
	matters := map[types.UID]bool{}
	for i := range all {
		pod := &metav1.PartialObjectMetadata{ObjectMeta: all[i].ObjectMeta}
		matters[pod.UID] = slices.Contains(s.claimants(pod), s.uid)
	}
	s.memory.update(s.uid, func(m *jobMemory) {
		m.unwatched = maps.Clone(m.unwatched)
		maps.DeleteFunc(m.unwatched, func(uid types.UID, _ unwatchedPod) bool { return !matters[uid] })
	})
}

// unwatchedPod is a pod to label before the next decision.
type unwatchedPod struct {
	types.NamespacedName
	// foreign reports whether it matters only to a Job that may adopt it.
	foreign bool
}

func unwatched(pod metav1.Object) unwatchedPod {
	return unwatchedPod{
		types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetName()},
		metav1.GetControllerOfNoCopy(pod) == nil && !slices.Contains(pod.GetFinalizers(), batchv1.JobTrackingFinalizer),
	}
}

func (e *Engine) noteUnwatched(job types.UID, pods map[types.UID]unwatchedPod) {
	e.memory.update(job, func(m *jobMemory) {
		m.unwatched = maps.Clone(m.unwatched)
		if m.unwatched == nil {
			m.unwatched = map[types.UID]unwatchedPod{}
		}
		maps.Copy(m.unwatched, pods)
	})
}

// noteLeftOut notes the pods that a list of the Job did not have: labeling them shows whether they exist.
func (s *jobSync) noteLeftOut() {
	pods := map[types.UID]unwatchedPod{}
	for uid, name := range s.cache.TakeLeftOut(s.uid) {
		pods[uid] = unwatchedPod{NamespacedName: name}
	}
	if len(pods) > 0 {
		s.noteUnwatched(s.uid, pods)
	}
}

// claimants returns the Jobs of ours to which a pod matters: the one that controls it, or did,
// and those that may adopt it; or else the UnknownJob.
func (e *Engine) claimants(pod *metav1.PartialObjectMetadata) (jobs []types.UID) {
	if metav1.GetControllerOfNoCopy(pod) != nil {
		if uid := observe.JobUID(pod); e.matters(uid, pod, true) {
			return []types.UID{uid}
		}
		return nil
	}
	for _, job := range e.cache.Adopters(pod) {
		if e.config.owns(job) && mayAdopt(job) {
			jobs = append(jobs, job.UID)
		}
	}
	former := types.UID(pod.Labels[batchv1.ControllerUidLabel])
	if former == "" && len(jobs) == 0 {
		former = observe.UnknownJob(pod.Namespace)
	}
	if !slices.Contains(jobs, former) && e.matters(former, pod, false) {
		jobs = append(jobs, former)
	}
	return jobs
}

// matters reports whether a pod matters to its present or former Job: the Job is ours, and its
// finalizer has to be removed, or the Job has not finished.
func (e *Engine) matters(uid types.UID, pod *metav1.PartialObjectMetadata, controlled bool) bool {
	held := slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
	job := e.cache.Job(uid)
	switch {
	case uid == "":
		return false
	case job == nil:
		_, made := pod.Annotations[AttemptAnnotation]
		return held && (made || e.memory.get(uid).ours)
	}
	return e.config.owns(job) && (held || controlled && !reconcile.IsFinished(job))
}

// claimUnwatched labels the pods that matter to the Job and that the watch does not deliver,
// until there are no more: meanwhile, a new list of the watch may lack others.
func (s *jobSync) claimUnwatched(ctx context.Context) error {
	for {
		s.noteLeftOut()
		cached := s.cache.Unwatched(s.uid)
		pods := s.unclaimed(cached)
		if len(pods) == 0 {
			return nil
		}
		if err := s.claimPods(ctx, pods, cached); err != nil {
			return err
		}
	}
}

// claimPods labels pods. The answers show their state, or that they are gone. After an error, nothing can be
// decided unless a list has just shown their state.
func (s *jobSync) claimPods(ctx context.Context, pods, cached map[types.UID]types.NamespacedName) error {
	klog.FromContext(ctx).V(2).Info("Labeling pods that are not watched", "jobUID", s.uid, "pods", len(pods))
	uids := slices.Sorted(maps.Keys(pods))
	errs := make([]error, len(uids))
	s.cluster.Parallel(len(uids), func(i int) { errs[i] = s.claimPod(kube.UntilSent(ctx), uids[i], pods[uids[i]]) })
	unknown, settled := false, map[types.UID]bool{}
	for i, uid := range uids {
		settled[uid] = errs[i] == nil || errors.Is(errs[i], errNotLabeled)
		_, isCached := cached[uid]
		stateKnown := settled[uid] || isCached && s.listed
		unknown = unknown || !stateKnown
		s.skip[uid] = s.skip[uid] || !stateKnown
		s.claimed[uid] = true
	}
	s.memory.update(s.uid, func(m *jobMemory) {
		m.unwatched = maps.Clone(m.unwatched)
		maps.DeleteFunc(m.unwatched, func(uid types.UID, _ unwatchedPod) bool { return settled[uid] })
	})
	s.listed = false
	err := errors.Join(errs...)
	if unknown {
		// The pods that could not be labeled may lack the labels of the selector, too.
		s.memory.update(s.uid, func(m *jobMemory) { m.listPods, m.listAll = true, true })
		return err
	}
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return nil
}

// unclaimed are the pods that the watch does not deliver and this sync has not labeled: those in the cache,
// and those noted before, unless the Job can no longer adopt them.
func (s *jobSync) unclaimed(cached map[types.UID]types.NamespacedName) map[types.UID]types.NamespacedName {
	pods := maps.Clone(cached)
	for uid, pod := range s.memory.get(s.uid).unwatched {
		if _, known := pods[uid]; known || pod.foreign && (s.job.Name == "" || !mayAdopt(s.job)) {
			continue
		}
		if pods == nil {
			pods = map[types.UID]types.NamespacedName{}
		}
		pods[uid] = pod.NamespacedName
	}
	maps.DeleteFunc(pods, func(uid types.UID, _ types.NamespacedName) bool { return s.claimed[uid] })
	return pods
}

// errNotLabeled is about a pod whose label a webhook removes: each sync reads it by labeling it.
var errNotLabeled = errors.New("an admission webhook must have removed the label " + observe.ManagedByLabel)

func (s *jobSync) claimPod(ctx context.Context, uid types.UID, name types.NamespacedName) error {
	in := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(name.Namespace, s.job.Namespace)}}
	pod, err := s.cluster.Pods.Patch(ctx, in, reconcile.PodRef{Name: name.Name, UID: uid}, cluster.ClaimPod)
	switch {
	case err == nil:
		s.cache.ClaimedPod(s.uid, pod)
	case cluster.IsMissing(err, "pods", name.Name), cluster.IsReplaced(err):
		s.cache.PodMissing(s.uid, in.Namespace, uid)
	default:
		return fmt.Errorf("labeling pod %s, to watch it: %w", name.Name, err)
	}
	if err == nil && pod.Labels[observe.ManagedByLabel] == "" {
		return fmt.Errorf("labeling pod %s, to watch it: %w", name.Name, errNotLabeled)
	}
	return nil
}

// adoptsUnwatched reports whether the Job may adopt pods that no watch delivers and that no
// label leads to: those that match a selector of its own.
func (s *jobSync) adoptsUnwatched() bool {
	return s.cluster.Unwatched != nil && observe.HasOwnSelector(s.job) && mayAdopt(s.job)
}

// seekStrays lists the pods that a Job with a selector of its own may adopt, from time to time.
func (s *jobSync) seekStrays(ctx context.Context) error {
	if sought := s.memory.get(s.uid).sought; !s.adoptsUnwatched() || !sought.IsZero() && s.config.Clock.Since(sought) < s.adoptionPeriod() {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s.job.Spec.Selector)
	if err != nil {
		return fmt.Errorf("reading the Job's selector: %w", err)
	}
	s.listed = false
	err = s.cluster.Unwatched(ctx, s.job.Namespace, selector, func(pods []metav1.PartialObjectMetadata) {
		noted := map[types.UID]unwatchedPod{}
		for i := range pods {
			if slices.Contains(s.claimants(&pods[i]), s.uid) {
				noted[pods[i].UID] = unwatched(&pods[i])
			}
		}
		if len(noted) > 0 {
			s.noteUnwatched(s.uid, noted)
		}
	})
	if err != nil {
		return fmt.Errorf("listing the pods that the Job may adopt: %w", err)
	}
	s.memory.update(s.uid, func(m *jobMemory) { m.sought = s.config.Clock.Now() })
	return nil
}

// seekAgain requests the sync that looks again for pods to adopt.
func (s *jobSync) seekAgain(result *Result) {
	if wait := s.adoptionPeriod(); s.adoptsUnwatched() && (result.After == 0 || result.After > wait) {
		result.After = wait
	}
}

func (s *jobSync) adoptionPeriod() time.Duration { return adoptionPeriods * s.config.BatchPeriod }

// sweep notes all pods that lack the label of the watch and matter to a Job of ours.
func (r *Runtime) sweep(ctx context.Context) error {
	if r.config.ReplaceBuiltin {
		return nil
	}
	for _, namespace := range r.namespaces() {
		err := r.live.Unwatched(ctx, namespace, labels.Everything(), func(pods []metav1.PartialObjectMetadata) {
			for _, job := range r.engine.NoteUnwatched(pods) {
				r.dispatcher.enqueue(job, batched)
			}
		})
		if err != nil {
			return fmt.Errorf("listing pods that lack the label of the watch: %w", err)
		}
	}
	return nil
}

// swept sweeps until that succeeds. It reports whether that happened before ctx ended.
func (r *Runtime) swept(ctx context.Context) bool {
	for {
		err := r.sweep(ctx)
		if err == nil {
			return true
		}
		klog.FromContext(ctx).Error(err, "Will retry", "after", r.config.RetryMin)
		if !r.sleep(ctx, r.config.RetryMin) {
			return false
		}
	}
}

// keepSweeping sweeps from time to time: an older version of this program, or a user, may
// have created a pod without the label.
func (r *Runtime) keepSweeping(ctx context.Context) {
	for again := true; again; {
		again = r.sleep(ctx, r.config.SweepPeriod) && r.swept(ctx)
	}
}

// sleep waits. It reports whether ctx has not ended.
func (r *Runtime) sleep(ctx context.Context, d time.Duration) bool {
	timer := r.config.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
