package live

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
)

const (
	// nodesEvery is how often nodes and the Workload are read, and the maximum interval between readings of the Lease.
	nodesEvery = 30 * time.Second
	// familyPause is the pause between two readings of the open Job's retry family.
	familyPause = 5 * time.Second
	// leaseMinimum is the minimum interval between readings of the Lease.
	leaseMinimum = 5 * time.Second
)

// leaseAndNodes reads objects that few users may watch: the Lease of the Job's controller, the nodes of pods that should have
// ended, and the Workload of a Job that Kueue holds.
type leaseAndNodes struct {
	source  *Source
	related *related
	job     *batchv1.Job

	// times of the last readings
	nodesAt, workloadAt time.Time
}

func (w *leaseAndNodes) run(ctx context.Context) error {
	for {
		again := w.readLease(ctx)
		w.readNodes(ctx)
		w.readWorkload(ctx)
		if err := w.source.Pause(ctx, again, w.related.podsListed); err != nil {
			return err
		}
	}
}

// readLease returns when to read the Lease again, so that a renewed Lease never looks expired.
func (w *leaseAndNodes) readLease(ctx context.Context) time.Duration {
	managedBy := explain.LeasedBy(w.job, w.source.OurName)
	if managedBy == "" {
		return nodesEvery
	}
	at := w.source.Now()
	lease, _ := gather.ReadLease(ctx, w.source.Client, w.source.Leases, managedBy, w.job.Namespace)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.related.lease = lease
	if lease == nil {
		return nodesEvery
	}
	again := min(max(lease.Duration/2, leaseMinimum), nodesEvery)
	w.related.leaseUntil = at.Add(2 * again)
	w.related.touch(w.source)
	return again
}

// readWorkload reads the Workload that explains why Kueue holds the Job, if it does.
func (w *leaseAndNodes) readWorkload(ctx context.Context) {
	now := w.source.Now()
	w.source.mu.Lock()
	job, known := w.related.job, w.related.workload != nil || w.related.workloadGap != nil
	w.source.mu.Unlock()
	if !w.workloadAt.IsZero() && now.Sub(w.workloadAt) < nodesEvery {
		return
	}
	if kueue.MayHold(job) {
		w.workloadAt = now
	}
	workload, err := gather.Workload(ctx, w.source.Client, job)
	if ctx.Err() != nil || workload == nil && err == nil && !known {
		return
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.related.workload, w.related.workloadGap = workload, nil
	if err != nil {
		w.related.workloadGap = ptr.To(gather.GapOf(job.Namespace, "list", kueue.Workloads, err))
	}
	w.related.touch(w.source)
}

func (w *leaseAndNodes) readNodes(ctx context.Context) {
	now := w.source.Now()
	w.source.mu.Lock()
	var overdue []*input.Pod // pods that should have ended
	for _, p := range w.related.pods.rows {
		if p.IsTerminating() && now.After(p.DeletedAt.Add(p.Grace)) {
			overdue = append(overdue, p)
		}
	}
	known := len(w.related.goneNodes) > 0 || w.related.nodesGap != nil
	w.source.mu.Unlock()
	if len(overdue) == 0 && !known || now.Sub(w.nodesAt) < nodesEvery {
		return
	}
	w.nodesAt = now
	gone, err := gather.GoneNodes(ctx, w.source.Client, overdue, now)
	if ctx.Err() != nil {
		return
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.related.goneNodes, w.related.nodesGap = gone, nil
	if err != nil {
		w.related.nodesGap = ptr.To(gather.GapOf(w.job.Namespace, "get", "nodes", err))
	}
	w.related.touch(w.source)
}

// followFamily reads the retries of the open Job at intervals. The list of Jobs may not contain them, for example if it has a
// single name.
func (r *related) followFamily(ctx context.Context, s *Source) error {
	for {
		r.readFamily(ctx, s)
		if err := s.Pause(ctx, familyPause, nil); err != nil {
			return err
		}
	}
}

// readFamily updates the relatives. If listing Jobs is forbidden, it removes them; on other errors, it keeps the previous ones.
func (r *related) readFamily(ctx context.Context, s *Source) {
	s.mu.Lock()
	job, before, known := r.job, r.relatives, r.relativesRead
	s.mu.Unlock()
	relatives, err := gather.Relatives(ctx, s.Client, job, before)
	if err != nil && !apierrors.IsForbidden(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.relatives, r.relativesRead = relatives, err == nil
	same := func(x, y input.Input) bool {
		return x.Job.ResourceVersion == y.Job.ResourceVersion && x.PodsRead == y.PodsRead
	}
	if known != r.relativesRead || !slices.EqualFunc(before, relatives, same) {
		r.touch(s)
	}
}
