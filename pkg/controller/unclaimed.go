package controller

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// releaseUnclaimed releases, in place of the built-in controller, the pods of a namespace
// that have the tracking finalizer but no controller, and do not name their Job: those of a
// Job with manualSelector that was deleted with --cascade=orphan while no controller ran
// (TRK-20, TRK-22). A pod that a Job of any controller may still adopt is left to that Job,
// and checked again later.
func (s *jobSync) releaseUnclaimed(ctx context.Context, namespace string) (Result, error) {
	free, rest, left := s.freeOrphans()
	release, err := s.unadoptable(ctx, namespace, free)
	if err != nil {
		return Result{}, err
	}
	s.releaseOf(ctx, lostJob{lostName{namespace: namespace}, release})
	s.retry = s.retry || len(release) < len(free) // The watch will deliver their adopter.
	return s.orphansAgain(rest, left)
}

// unadoptable returns the pods that no Job in the API server selects now: the cache may lack
// the newest Jobs. A Job that adopts a pod at this moment, or is created later, changes the
// pod, or finds it without the finalizer and adds it again.
func (s *jobSync) unadoptable(ctx context.Context, namespace string, orphans []observe.Orphan) (release []reconcile.PodRef, err error) {
	if len(orphans) == 0 {
		return nil, nil
	}
	jobs, err := s.cluster.Jobs.List(ctx, namespace)
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
