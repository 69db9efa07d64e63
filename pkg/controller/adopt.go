package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// mayAdopt reports whether the Job may still adopt pods (JOB-37).
func mayAdopt(job *batchv1.Job) bool {
	return job.DeletionTimestamp == nil && !reconcile.IsFinished(job)
}

// strays returns the pods that the Job may adopt. A Job that is being deleted adopts none;
// for it, they are the pods that it no longer controls and that still have its finalizer.
func (s *jobSync) strays() (pods []*reconcile.Pod) {
	if reconcile.IsFinished(s.job) {
		return nil
	}
	if s.job.DeletionTimestamp != nil {
		for _, o := range s.cache.Orphans(s.uid) {
			pods = append(pods, o.Pod)
		}
		return pods
	}
	return s.cache.Strays(s.job)
}

// checkExists checks, once per sync, that the Job still exists: pods adopted by a deleted
// Job would be garbage-collected (JOB-35). If it does not, or if that is unknown, this sync
// adopts no pods; and while strays wait, Compute creates none.
func (s *jobSync) checkExists(ctx context.Context, adopt []reconcile.PodRef) bool {
	if len(adopt) == 0 || s.exists {
		return s.exists
	}
	live, err := s.readLive(ctx)
	if err == nil && live.DeletionTimestamp != nil {
		err = fmt.Errorf("the Job is being deleted since %v", live.DeletionTimestamp)
	}
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("before adopting %d pods: %w", len(adopt), err))
		for _, pod := range adopt {
			s.skip[pod.UID] = true
		}
		return false
	}
	s.exists = true
	return true
}

// carryOut applies a plan. If the plan needs another read of the Job, and that shows a
// newer spec, the next stage plans again instead.
func (s *jobSync) carryOut(ctx context.Context, plan *reconcile.Plan) error {
	if current, err := s.confirmRange(context.WithoutCancel(ctx), plan); err != nil || !current {
		return err
	}
	return s.apply(ctx, plan)
}

// confirmRange reads the Job again before pods out of its range are released: an older spec
// may have no index for a pod that another leader created, and that has succeeded since. If
// the read fails, the sync skips these pods.
func (s *jobSync) confirmRange(ctx context.Context, plan *reconcile.Plan) (current bool, err error) {
	outOfRange := func(r reconcile.PodRef) bool { return r.OutOfRange }
	if !slices.ContainsFunc(plan.Release, outOfRange) {
		return true, nil
	}
	live, err := s.readLive(ctx)
	switch {
	case errors.Is(err, errJobGone):
		return false, errJobGone
	case err == nil:
		return live.Generation == s.job.Generation, nil
	}
	s.errs = append(s.errs, fmt.Errorf("before letting pods go that are out of range: %w", err))
	for _, r := range plan.Release {
		s.skip[r.UID] = s.skip[r.UID] || r.OutOfRange
	}
	plan.Release = slices.DeleteFunc(slices.Clone(plan.Release), outOfRange)
	return true, nil
}

// readLive reads the Job from the API server, and updates the cache.
func (s *jobSync) readLive(ctx context.Context) (*observe.NamedJob, error) {
	live, err := s.cluster.Jobs.Get(ctx, s.job.Namespace, s.job.Name)
	switch {
	case cluster.IsMissing(err, "jobs", s.job.Name):
		return nil, fmt.Errorf("%w: %w", errJobGone, err)
	case err != nil:
		return nil, fmt.Errorf("reading the Job: %w", err)
	case live.UID != s.uid:
		return nil, fmt.Errorf("%w: it was deleted and created anew under the same name", errJobGone)
	}
	s.cache.ReadJob(live)
	return live, nil
}
