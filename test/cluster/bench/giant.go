//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// giant is a Job of 10^5 indexes, compared with the floor.
type giant struct {
	Pods        int
	Floor, Ours bulk
	// SyncP50 and SyncP99 are durations of our controller's syncs of this Job, in seconds.
	SyncP50, SyncP99 *float64
	// JobBytes is the maximum size of the stored Job.
	JobBytes int
}

// sampleEvery is long enough to cost almost nothing: each sample reads the Job once.
const sampleEvery = 5 * time.Second

// giants runs the floor, then our controller. Nothing is removed at the end, as the cluster is. After an error, it returns the
// previous measurements.
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
	before, err := readSyncs(ctx, b.launched.metrics)
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
	after, err := readSyncs(ctx, b.launched.metrics)
	if err != nil {
		return g, err
	}
	all := after.since(before)
	g.SyncP50, g.SyncP99 = all.percentile(50), all.percentile(99)
	return g, nil
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

// The targets for a Job of 10^5 indexes.
const (
	mostOverFloor = 1.03
	mostGiantMB   = 250
	mostSyncMS    = 1000
)

func (r *report) addGiant(g giant) {
	where := fmt.Sprintf("%d indexes: ", g.Pods)
	all := bulks{g.Ours, g.Floor}
	r.addFloor(all, where, &target{Limit: mostOverFloor})
	if len(all.of(ours)) > 0 { // Otherwise, an error came first.
		r.addGiantJob(where, g, all)
	}
}

func (r *report) addGiantJob(where string, g giant, all bulks) {
	r.add("", where+"create to Complete, s", 0, all.mean(ours, bulk.seconds), nil, nil)
	n := float64(g.Pods)
	count := account(g.Ours.Requests)
	value := func(v float64) *float64 { return &v }
	r.add("SCL-03", where+"requests about pods, per pod", 3, value(float64(count.podRequests())/n), nil, &target{Limit: 2.01})
	r.add("SCL-03", where+"status writes", 0, value(float64(count.Status)), nil, nil)
	r.add("", where+"size of the Job, KB", 0, value(float64(g.JobBytes)/1e3), nil, nil)
	r.addSyncTimes(where, g)
	r.addProcesses(all, where, nil, &target{Limit: mostGiantMB})
}

func (r *report) addSyncTimes(where string, g giant) {
	for _, p := range []struct {
		name    string
		seconds *float64
		goal    *target
	}{{"p50", g.SyncP50, nil}, {"p99", g.SyncP99, &target{Limit: mostSyncMS}}} {
		if p.seconds != nil {
			ms := 1000 * *p.seconds
			r.add("", where+"sync, "+p.name+", ms", 0, &ms, nil, p.goal)
		}
	}
}
