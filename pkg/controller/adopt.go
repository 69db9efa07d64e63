package controller

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// mayAdopt reports whether the Job may still adopt pods (JOB-37).
func mayAdopt(job *batchv1.Job) bool {
	return job.DeletionTimestamp == nil && !reconcile.IsFinished(job)
}

// strays returns the pods that the Job may adopt.
func (s *jobSync) strays() []*reconcile.Pod {
	if !mayAdopt(s.job) {
		return nil
	}
	return s.cache.Strays(s.job)
}

// heldPods returns the recorded pods that still have the finalizer. It must be called after the Job's pods are
// read: somebody may take one from the Job meanwhile, or give it back.
func (s *jobSync) heldPods() map[types.UID]bool {
	u := s.job.Status.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	return s.cache.Held(s.uid, slices.Concat(u.Succeeded, u.Failed))
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
