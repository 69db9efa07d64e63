package live

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
)

const (
	// nodesEvery is how often nodes and the Workload are read, and the maximum interval between readings of the Lease.
	nodesEvery   = 30 * time.Second
	leaseSoonest = 5 * time.Second
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
		if err := w.source.Pause(ctx, again, w.related.overdue); err != nil {
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
	again := min(max(lease.Duration/2, leaseSoonest), nodesEvery)
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
	if kueue.Manages(job) {
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
	late := w.late(now)
	known := len(w.related.goneNodes) > 0 || w.related.nodesGap != nil
	w.source.mu.Unlock()
	if len(late) == 0 && !known || now.Sub(w.nodesAt) < nodesEvery {
		return
	}
	w.nodesAt = now
	gone, err := gather.GoneNodes(ctx, w.source.Client, late, now)
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

// late returns the pods that should have ended.
func (w *leaseAndNodes) late(now time.Time) []*explain.Pod {
	var late []*explain.Pod
	for _, p := range w.related.pods.rows {
		if p.IsTerminating() && now.After(p.DeletedAt.Add(p.Grace)) {
			late = append(late, p)
		}
	}
	return late
}
