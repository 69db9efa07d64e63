package cli

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

const (
	// surroundingsEvery is how often nodes are looked at, and a Lease at most.
	surroundingsEvery = 30 * time.Second
	leaseSoonest      = 5 * time.Second
)

// liveSurroundings reads what is not watched, as few may: the Lease of the Job's controller, and the nodes of pods that
// should have ended.
type liveSurroundings struct {
	source *liveSource
	facts  *liveFacts
	job    *batchv1.Job

	nodesAt time.Time // when they were read last
}

func (w *liveSurroundings) run(ctx context.Context) error {
	for {
		again := w.readLease(ctx)
		w.readNodes(ctx)
		if err := w.source.pause(ctx, again, w.facts.overdue); err != nil {
			return err
		}
	}
}

// readLease returns when to read it again: before what was read is so old that it looks like one that nobody renews.
func (w *liveSurroundings) readLease(ctx context.Context) time.Duration {
	managedBy := ptr.Deref(w.job.Spec.ManagedBy, "")
	if managedBy == "" {
		return surroundingsEvery
	}
	at := w.source.env.now()
	lease := gather.ReadLease(ctx, w.source.client, controller.LeaseName(managedBy))
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.facts.lease = lease
	if lease == nil {
		return surroundingsEvery
	}
	again := min(max(lease.Duration/2, leaseSoonest), surroundingsEvery)
	w.facts.leaseUntil = at.Add(2 * again)
	w.facts.touch(w.source)
	return again
}

func (w *liveSurroundings) readNodes(ctx context.Context) {
	now := w.source.env.now()
	w.source.mu.Lock()
	late := w.late(now)
	known := len(w.facts.goneNodes) > 0 || w.facts.nodesGap != nil
	w.source.mu.Unlock()
	if len(late) == 0 && !known || now.Sub(w.nodesAt) < surroundingsEvery {
		return
	}
	w.nodesAt = now
	gone, err := gather.GoneNodes(ctx, w.source.client, late, now)
	if ctx.Err() != nil {
		return
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.facts.goneNodes, w.facts.nodesGap = gone, nil
	if err != nil {
		w.facts.nodesGap = ptr.To(gather.GapOf(w.job.Namespace, "get", "nodes", err))
	}
	w.facts.touch(w.source)
}

// late are the pods that should have ended.
func (w *liveSurroundings) late(now time.Time) []explain.Pod {
	var late []explain.Pod
	for i := range w.facts.pods.rows {
		if p := &w.facts.pods.rows[i]; p.IsTerminating() && now.After(p.DeletedAt.Add(p.Grace)) {
			late = append(late, *p)
		}
	}
	return late
}
