package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// releaseOrphansOf adds to the plan the release of pods that the Job no longer controls and that no Job will adopt: they no
// longer count, or the status records them, and nothing else would release them.
func (s *jobSync) releaseOrphansOf(plan *reconcile.Plan, unnamed []observe.Orphan) {
	s.retry = s.retry || len(unnamed) > 0 // No event will bring the Job back for these.
	for _, o := range append(s.cache.Orphans(s.uid), unnamed...) {
		if len(plan.Release) >= s.config.Limits.MaxPodChanges {
			return // The rest follows in the next stage.
		}
		if o.Selected && mayAdopt(s.job) || isAdoptable(o) || o.Namespace != s.job.Namespace || s.skip[o.Pod.UID] != 0 {
			continue
		}
		plan.Release = append(plan.Release, orphanRef(o))
	}
}

// goneJob is a Job that is not in the cache, and its pods that still have the tracking
// finalizer.
type goneJob struct {
	goneName
	release []reconcile.PodRef
}

// goneName is the namespace and name of a deleted Job; for a Job of ours the name is
// unknown and not needed.
type goneName struct{ namespace, name string }

// releaseOrphans releases the pods of a deleted Job that was ours: this process saw it, or this program created the
// pods (TRK-20, TRK-22). Pods of other controllers must not be touched (TRK-23).
func (s *jobSync) releaseOrphans(ctx context.Context) (Result, error) {
	if namespace, is := observe.IsUnknownJob(s.uid); is {
		return s.releaseOfUnknownJob(ctx, namespace)
	}
	m := s.memory.get(s.uid)
	if !m.ours && m.conflicts == nil && !m.absent {
		s.memory.forget(s.uid)
	}
	orphans, rest, left := s.freeOrphans()
	freed, cut := 0, false
	for _, gone := range goneJobs(m, orphans) {
		if !m.ours {
			if !s.isGone(ctx, gone) {
				continue
			}
			s.memory.noteAbsent(s.uid)
		}
		cut = s.releaseOf(ctx, gone) || cut
		freed += len(gone.release)
	}
	result, err := s.orphansAgain(rest && freed > 0 || cut, left)
	if result.Done {
		s.memory.retire(s.uid, s.config.Clock.Now())
	}
	return result, err
}

// freeOrphans returns pods that no Job may adopt, at most as many as fit into a stage, since a Job of 10^5 pods must
// not delay other Jobs (TRK-33). It reports whether there are more, and whether pods are left to a Job that may adopt
// them.
func (s *jobSync) freeOrphans() (free []observe.Orphan, more, left bool) {
	all := s.cache.Orphans(s.uid)
	free = slices.DeleteFunc(slices.Clone(all), isAdoptable)
	left = len(free) < len(all)
	free = slices.DeleteFunc(free, func(o observe.Orphan) bool { return s.skip[o.Pod.UID] != 0 })
	if most := s.config.Limits.MaxPodChanges; len(free) > most {
		return free[:most], true, left
	}
	return free, false, left
}

// isAdoptable reports whether the cache holds a Job that may adopt the pod.
func isAdoptable(o observe.Orphan) bool { return slices.ContainsFunc(o.Adopters, mayAdopt) }

// releaseOf releases the pods of a deleted Job. It reports whether there was no time for some of the pods.
func (s *jobSync) releaseOf(ctx context.Context, gone goneJob) (left bool) {
	s.job = &batchv1.Job{}
	s.job.UID, s.job.Namespace, s.job.Name = s.uid, gone.namespace, gone.name
	// Without a status to write, the only errors are in s.errs.
	left, _ = s.apply(ctx, &reconcile.Plan{Release: gone.release})
	return left
}

// orphansAgain returns when to check orphans again: soon if more can be released, later if some are left to a Job that
// may adopt them.
func (s *jobSync) orphansAgain(more, left bool) (Result, error) {
	switch {
	case len(s.errs) > 0:
		return Result{}, errors.Join(s.errs...)
	case s.retry:
		return Result{After: s.config.RetryMin}, nil
	case more:
		return Result{Soon: true}, nil
	case left:
		return Result{After: s.config.RetryMax}, nil
	}
	return Result{Done: true}, nil
}

// goneJobs groups orphans by the Job that they name. Orphans with the same Job UID name the same Job, unless a user
// edited labels or owners.
func goneJobs(m jobMemory, orphans []observe.Orphan) (gone []goneJob) {
	places := map[goneName]int{}
	for _, o := range orphans {
		name := goneName{o.Namespace, o.JobName}
		if m.ours {
			name = goneName{namespace: m.namespace}
		}
		if m.ours && o.Namespace != "" && o.Namespace != m.namespace || !m.ours && o.JobName == "" {
			continue
		}
		at, known := places[name]
		if !known {
			at = len(gone)
			places[name] = at
			gone = append(gone, goneJob{goneName: name})
		}
		gone[at].release = append(gone[at].release, orphanRef(o))
	}
	return gone
}

// orphanRef returns a reference to an orphan. A stray must be unchanged: another Job may be about to adopt it, and then
// needs the finalizer.
func orphanRef(o observe.Orphan) reconcile.PodRef {
	ref := reconcile.PodRef{Name: o.Pod.Name, UID: o.Pod.UID}
	if o.Stray {
		ref.ResourceVersion = o.Pod.ResourceVersion
	}
	return ref
}

// isGone asks the API server whether a Job that is not in the cache is gone. If the Job exists, the watch will deliver
// it, and there is nothing to do here.
func (s *jobSync) isGone(ctx context.Context, job goneJob) bool {
	live, err := s.cluster.Jobs.Get(ctx, job.namespace, job.name)
	if err != nil && !cluster.IsMissing(err, "jobs", job.name) {
		s.errs = append(s.errs, fmt.Errorf("reading Job %s/%s, whose pods have the finalizer: %w", job.namespace, job.name, err))
		return false
	}
	gone := err != nil || live.UID != s.uid
	klog.FromContext(ctx).V(2).Info("Checked whether the Job of pods with the finalizer exists", "job", klog.KRef(job.namespace, job.name), "gone", gone, "pods", len(job.release))
	return gone
}

// releaseOfUnknownJob releases the pods of a namespace that have the tracking finalizer but no controller, and do not
// name their Job: they belonged to a Job with manualSelector that was deleted with --cascade=orphan while no controller
// ran, or they lost their labels (TRK-20, TRK-22). This program created them, or replaces the built-in controller. A
// pod that a Job of any controller may still adopt is left to that Job, and checked again later.
func (s *jobSync) releaseOfUnknownJob(ctx context.Context, namespace string) (Result, error) {
	free, rest, left := s.freeOrphans()
	release, err := unadoptable(ctx, s.cluster.Jobs, namespace, free)
	if err != nil {
		return Result{}, err
	}
	cut := s.releaseOf(ctx, goneJob{goneName{namespace: namespace}, release})
	s.retry = s.retry || len(release) < len(free) // The watch will deliver their adopter.
	return s.orphansAgain(rest || cut, left)
}

// unadoptable returns the pods that no Job in the API server selects now: the cache may lack the newest Jobs. A Job
// that adopts a pod at this moment, or is created later, changes the pod, or finds it without the finalizer and adds
// the finalizer again.
func unadoptable(ctx context.Context, in cluster.JobAPI, namespace string, orphans []observe.Orphan) (release []reconcile.PodRef, err error) {
	if len(orphans) == 0 {
		return nil, nil
	}
	jobs, err := in.List(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("listing the Jobs of namespace %s that may adopt pods: %w", namespace, err)
	}
	adopters := make([]*batchv1.Job, 0, len(jobs))
	for i := range jobs {
		if mayAdopt(&jobs[i]) {
			adopters = append(adopters, &jobs[i])
		}
	}
	for _, o := range orphans {
		if o.Pod.Deleting || !slices.ContainsFunc(adopters, func(job *batchv1.Job) bool { return observe.Selects(job, o.Labels) }) {
			release = append(release, orphanRef(o))
		}
	}
	klog.FromContext(ctx).V(2).Info("Checked which Jobs may adopt pods with the finalizer", "namespace", namespace, "jobs", len(adopters), "pods", len(orphans), "free", len(release))
	return release, nil
}
