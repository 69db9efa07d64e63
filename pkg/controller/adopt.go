package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// mayAdopt says that the Job may still take pods (JOB-37).
func mayAdopt(job *batchv1.Job) bool {
	return job.DeletionTimestamp == nil && !reconcile.IsFinished(job)
}

// strays are the pods that the Job may adopt.
func (s *jobSync) strays() []*reconcile.Pod {
	if !mayAdopt(s.job) {
		return nil
	}
	return s.cache.Strays(s.job)
}

// checkExists makes sure, once in a sync, that the Job is still there: pods adopted by
// a Job that is gone would be taken for its garbage (JOB-35). If it is not, or if that
// cannot be told, this sync adopts no pods; and while strays wait, Compute creates none.
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

// readLive reads the Job past the cache, and lets the cache know.
func (s *jobSync) readLive(ctx context.Context) (*observe.NamedJob, error) {
	live, err := s.cluster.Jobs.Get(ctx, s.job.Namespace, s.job.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: %w", errJobGone, err)
	case err != nil:
		return nil, fmt.Errorf("reading the Job: %w", err)
	case live.UID != s.uid:
		return nil, fmt.Errorf("%w: it was deleted and created anew under the same name", errJobGone)
	}
	s.cache.ReadJob(live)
	return live, nil
}
