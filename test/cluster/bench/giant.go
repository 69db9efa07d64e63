//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// giant is a Job of 10^5 indexes, compared with the floor, and the costs of the verbs that read it.
type giant struct {
	Pods        int
	Floor, Ours bulk
	// SyncP50 and SyncP99 are durations of our controller's syncs of this Job, in seconds.
	SyncP50, SyncP99 *float64
	// JobBytes is the maximum size of the stored Job.
	JobBytes int
	Looks    []lookCosts
}

// sampleEvery is long enough to cost almost nothing: each sample reads the Job once.
const sampleEvery = 5 * time.Second

// giants runs the floor, then our controller; then another Job, on which the read verbs run when half of it is done.
// Nothing is removed at the end, as the cluster is. After an error, it returns the previous measurements.
func (b *bench) giants(ctx context.Context) (*giant, error) {
	g := &giant{Pods: giantIndexes}
	err := b.warmUp(ctx, g.Pods)
	if err != nil {
		return g, err
	}
	if g.Floor, err = b.bulk(ctx, floor, g.Pods); g.Floor.Seconds > 0 {
		progress("%d indexes, floor: %.0f s", g.Pods, g.Floor.Seconds)
	}
	if err != nil {
		return g, err
	}
	before, err := readSyncs(ctx, b.launched.metrics[ours])
	if err != nil {
		return g, err
	}
	stop := b.sampling(ctx, g)
	g.Ours, err = b.bulk(ctx, ours, g.Pods)
	stop()
	if g.Ours.Seconds > 0 {
		progress("%d indexes, ours: %.0f s", g.Pods, g.Ours.Seconds)
	}
	if err != nil {
		return g, err
	}
	after, err := readSyncs(ctx, b.launched.metrics[ours])
	if err != nil {
		return g, err
	}
	all := after.since(before)
	g.SyncP50, g.SyncP99 = all.percentile(50), all.percentile(99)
	g.Looks, err = b.looks(ctx, g)
	return g, err
}

// sampling samples the size of the next Job of our controller until stop is called.
func (b *bench) sampling(ctx context.Context, g *giant) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	name := fmt.Sprintf("%s-%d", ours, b.jobs.made+1)
	go func() {
		defer close(ended)
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			job, err := b.api.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				continue // it does not exist yet, or is already removed
			}
			g.JobBytes = max(g.JobBytes, job.Size())
		}
	}()
	return func() { cancel(); <-ended }
}

// looks runs a Job until half of it is done, and then the verbs that read it.
func (b *bench) looks(ctx context.Context, g *giant) ([]lookCosts, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	job, err := b.api.BatchV1().Jobs(namespace).Create(ctx, b.jobs.job(ours, shape{g.Pods, true}), metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if err := b.api.untilCounted(ctx, job, int32(g.Pods/2)); err != nil {
		return nil, err
	}
	proxy, err := startProxy(b.launched.Kubeconfig)
	if err != nil {
		return nil, err
	}
	defer proxy.stop()
	var list []lookCosts
	for _, args := range [][]string{{"status", job.Name}, {"why", job.Name}, {"watch", job.Name}} {
		costs, err := b.look(ctx, proxy, args)
		if err != nil {
			return nil, err
		}
		progress("kubectl batchjob %s: %.1f s, %d requests, %.1f MB, peak %.0f MB", args[0], costs.Seconds, costs.Requests, mega(costs.Bytes), mega(costs.Peak))
		list = append(list, costs)
	}
	now, err := b.api.BatchV1().Jobs(namespace).Get(ctx, job.Name, metav1.GetOptions{})
	if err != nil {
		return list, err
	}
	if done, err := outcome(now); err != nil || !done {
		return list, err
	}
	return list, fmt.Errorf("the Job of %s ended while it was looked at", shape{g.Pods, true})
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
