//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

// The load of KEP-2307: Jobs that run 10 pods at a time. Each Job has enough pods that its beginning and end matter
// little.
const (
	rateParallelism = 10
	rateCompletions = 30
	// suspendedJobs is the number of Jobs suspended while they run, so that syncs delete pods.
	suspendedJobs = 20
)

// rate is the performance of a controller with many Jobs and a limit on its requests.
type rate struct {
	Side     side      `json:"side"`
	QPS      int       `json:"qps"`
	Pods     int       `json:"pods"`
	Seconds  float64   `json:"seconds"`
	Requests []request `json:"requests"`
	counts   requestCounts
	// Sync is about all syncs; Deleting only about syncs that deleted pods.
	Sync     syncTimes `json:"syncs"`
	Deleting syncTimes `json:"deletingSyncs"`
}

// syncTimes is a summary of the sync metrics of a controller.
type syncTimes struct {
	P99          *float64 `json:"p99Seconds"`
	ErrorPercent *float64 `json:"errorPercent"`
}

func (s syncsByAction) times(action string) syncTimes {
	of := s[action]
	return syncTimes{of.percentile(99), of.errorPercent()}
}

// perMinute counts each creation of a pod and each accounting of a finished pod.
func (r rate) perMinute() float64 { return 2 * float64(r.Pods) / r.Seconds * 60 }

// perPod counts all requests about pods and Jobs.
func (r rate) perPod() float64 {
	a := account(r.counts)
	return float64(a.podRequests()+a.Status) / float64(r.Pods)
}

func (b *bench) rates(ctx context.Context, limit qps) ([]rate, error) {
	if err := b.limit(ctx, limit); err != nil {
		return nil, err
	}
	var list []rate
	for _, s := range []side{ours, builtIn} {
		r, err := b.rate(ctx, s, limit)
		if err != nil {
			return nil, err
		}
		progress("Rate, %d requests per second, %s: %d pods in %.1f s", limit, s, r.Pods, r.Seconds)
		list = append(list, r)
	}
	return list, nil
}

// rate loads one controller for about as many minutes as the options say, if it uses up its limit.
func (b *bench) rate(ctx context.Context, s side, limit qps) (rate, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	syncs, err := readSyncs(ctx, b.launched.metrics[s])
	if err != nil {
		return rate{}, err
	}
	r := rate{Side: s, QPS: int(limit)}
	if err := b.measureRate(ctx, &r, max(1, int(b.minutes*float64(limit)))); err != nil {
		return r, err
	}
	if err := b.suspend(ctx, s); err != nil {
		return r, err
	}
	after, err := readSyncs(ctx, b.launched.metrics[s])
	if err != nil {
		return r, err
	}
	done := after.since(syncs)
	r.Sync, r.Deleting = done.times(""), done.times(actionDeleted)
	return r, nil
}

func (b *bench) measureRate(ctx context.Context, r *rate, jobs int) error {
	before, err := b.api.requests(ctx)
	if err != nil {
		return err
	}
	group := fmt.Sprintf("rate-%d-%s", r.QPS, r.Side)
	load := b.jobs.group(r.Side, group, jobs, func(i int) (shape, []variant) {
		return shape{rateCompletions, i%2 == 0}, []variant{atOnce(rateParallelism)}
	})
	begun := time.Now()
	if err := b.api.runGroup(ctx, group, load, isComplete); err != nil {
		return err
	}
	r.Seconds, r.Pods = time.Since(begun).Seconds(), jobs*rateCompletions
	after, err := b.api.requests(ctx)
	if err != nil {
		return err
	}
	r.counts = after.since(before)
	r.Requests = r.counts.list()
	return b.api.removeGroup(ctx, group)
}

// suspend makes Jobs delete their pods.
func (b *bench) suspend(ctx context.Context, s side) error {
	group := fmt.Sprintf("suspended-%d", b.jobs.made)
	jobs := b.jobs.group(s, group, suspendedJobs, func(int) (shape, []variant) {
		return shape{rateParallelism, false}, []variant{running(forever)}
	})
	if err := b.api.runGroup(ctx, group, jobs, isActive(rateParallelism)); err != nil {
		return err
	}
	if err := b.api.suspendGroup(ctx, group); err != nil {
		return err
	}
	return b.api.removeGroup(ctx, group)
}
