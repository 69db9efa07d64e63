package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

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
