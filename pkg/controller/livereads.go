package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// confirmExists reads the Job again if a read or a write did not find it: the watch may not have delivered its deletion
// or its creation yet, or a restore of etcd may have brought it back.
func (s *jobSync) confirmExists(ctx context.Context) error {
	if !s.memory.get(s.uid).absent {
		return nil
	}
	if _, err := s.readLive(kube.UntilSent(ctx)); err != nil {
		return err
	}
	s.memory.update(s.uid, func(m *jobMemory) { m.absent, m.retired = false, time.Time{} })
	return nil
}

// Released records that a pod of the Job was released although the Job's status, as this process knows it, does not
// record the pod.
func (e *Engine) Released(job types.UID) {
	e.memory.update(job, func(m *jobMemory) { m.released = true })
}

// noteReleased records whether a list of pods shows that another client has released a pod. The watch will deliver
// nothing new about that pod.
func (s *jobSync) noteReleased(before []*reconcile.Pod) {
	now := map[types.UID]*reconcile.Pod{}
	for _, pod := range s.cache.Pods(s.uid) {
		now[pod.UID] = pod
	}
	if slices.ContainsFunc(before, func(old *reconcile.Pod) bool {
		return isReleased(observe.PodChange{Old: old, New: now[old.UID]}) && !isRecorded(&s.job.Status, old)
	}) {
		s.Released(s.uid)
	}
}

// confirmStatus reads the Job again before pods are created after a status write without a response, or after another
// client has released a pod: the status may have been stored, and the pods that led to it may be gone.
func (s *jobSync) confirmStatus(ctx context.Context, plan *reconcile.Plan) (current bool, err error) {
	m := s.memory.get(s.uid)
	unanswered := m.unanswered != nil && m.unanswered.before.ResourceVersion == s.job.ResourceVersion
	if len(plan.Create) == 0 || !unanswered && !m.released {
		return true, nil
	}
	live, err := s.readLive(ctx)
	if err != nil {
		return false, fmt.Errorf("before creating pods that may no longer be needed: %w", err)
	}
	s.memory.update(s.uid, func(m *jobMemory) { m.released = false })
	return live.ResourceVersion == s.job.ResourceVersion, nil
}

// confirmRange reads the Job again before pods with an index out of range are released: another leader may have created
// the pod for a newer spec, and the pod may have succeeded since. If the read fails, the sync skips these pods.
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
		if r.OutOfRange && s.skip[r.UID] == 0 {
			s.skip[r.UID] = writeFailed
		}
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
