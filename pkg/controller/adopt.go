package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// mayAdopt reports whether the Job may still adopt pods (JOB-37).
func mayAdopt(job *batchv1.Job) bool {
	return job.DeletionTimestamp == nil && !reconcile.IsFinished(job)
}

// confirmAdopter reads the Job, once per sync, before it adopts pods: pods adopted by a deleted Job would be
// garbage-collected (JOB-35). If the Job does not exist, or cannot be read, this sync adopts no pods; Compute creates
// no pods while strays wait.
func (s *jobSync) confirmAdopter(ctx context.Context, adopt []reconcile.PodRef) (exists bool) {
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
			s.skip[pod.UID] = writeFailed
		}
	}
	s.exists = err == nil
	return s.exists
}
