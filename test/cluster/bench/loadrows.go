//go:build unix

package main

import (
	"fmt"
	"math"
)

// addHuge adds the project's targets for a Job of 10,000 pods.
func (r *report) addHuge(all bulks, pods int) {
	if len(all) == 0 {
		return
	}
	where := fmt.Sprintf("%d indexes: ", pods)
	perPod := func(b bulk) float64 { return float64(account(b.counts).all()) / float64(pods) }
	r.add("SCL-04", where+"create to Complete, s", 1, all.mean(ours, bulk.seconds), all.mean(builtIn, bulk.seconds), nil)
	r.addFloor(all, where, &target{Limit: 1.03})
	r.add("SCL-03", where+"requests per pod, status and events too", 4, all.mean(ours, perPod), all.mean(builtIn, perPod), &target{Limit: 2.01})
	r.addProcesses(all, where, &target{Limit: 10, Below: true}, &target{Limit: 120, Below: true})
	r.note(fmt.Sprintf("%smeans; Jobs per controller, in turns: %d.", where, len(all.of(ours))))
}

// addSizes adds the sizes in the column "ours": the API is the same for both sides.
func (r *report) addSizes(all []size) {
	for _, s := range all {
		bytes := float64(s.Bytes)
		r.add("SCL-10", s.What+", bytes", 0, &bytes, nil, &target{Limit: float64(s.Limit), Below: true})
	}
}

// leastPerMinute has the minimum rate of pod operations in KEP-2307, by the limit on requests per second.
var leastPerMinute = map[int]struct {
	id   string
	rate float64
}{50: {"SCL-01", 2500}, 100: {"SCL-02", 5000}}

// The KEPs' limits: requests per pod at parallelism 10, and the SLOs of syncs.
const (
	mostPerPod       = 2.2
	mostSyncSeconds  = 15
	mostErrorPercent = 1
)

func (r *report) addRates(all []rate) {
	byLimit := map[int]map[side]*rate{}
	var limits []int
	for i := range all {
		limit := all[i].QPS
		if byLimit[limit] == nil {
			limits, byLimit[limit] = append(limits, limit), map[side]*rate{}
		}
		byLimit[limit][all[i].Side] = &all[i]
	}
	for _, limit := range limits {
		r.addRate(limit, byLimit[limit])
	}
}

func (r *report) addRate(limit int, by map[side]*rate) {
	add := func(id, what string, digits int, t *target, of func(*rate) *float64) {
		value := func(s side) *float64 {
			if by[s] == nil {
				return nil
			}
			return of(by[s])
		}
		r.add(id, fmt.Sprintf("%d requests/s: %s", limit, what), digits, value(ours), value(builtIn), t)
	}
	number := func(of func(rate) float64) func(*rate) *float64 {
		return func(m *rate) *float64 { v := of(*m); return &v }
	}
	least := leastPerMinute[limit]
	add(least.id, "pods created and accounted, per minute", 0, &target{Limit: least.rate, Least: true}, number(rate.perMinute))
	add("SCL-03", "requests per pod, status too", 3, &target{Limit: mostPerPod}, number(rate.perPod))
	add("SCL-05", "p99 of syncs, s", 2, &target{Limit: mostSyncSeconds}, func(m *rate) *float64 { return m.Sync.P99 })
	add("SCL-05", "p99 of syncs that delete pods, s", 2, &target{Limit: mostSyncSeconds}, func(m *rate) *float64 { return m.Deleting.P99 })
	add("SCL-06", "syncs with an error, %", 2, &target{Limit: mostErrorPercent}, func(m *rate) *float64 { return m.Sync.ErrorPercent })
	add("SCL-06", "syncs that delete pods with an error, %", 2, &target{Limit: mostErrorPercent}, func(m *rate) *float64 { return m.Deleting.ErrorPercent })
	if m := by[ours]; m != nil {
		r.note(fmt.Sprintf("%d requests/s: %d pods per controller, of Jobs of %d, %d at a time; times of syncs are from the buckets of a histogram.", limit, m.Pods, rateCompletions, rateParallelism))
	}
}

// about is the tolerance for the KEP's times, which were rounded.
const about = 1.03

func (r *report) addReference(all []timing) {
	taken := map[string]map[side]float64{}
	var order []timing
	for _, t := range all {
		if taken[t.What] == nil {
			taken[t.What], order = map[side]float64{}, append(order, t)
		}
		taken[t.What][t.Side] = t.Seconds
	}
	for _, t := range order {
		var limit *target
		if t.Reference > 0 {
			limit = &target{Limit: math.Round(1000*t.Reference*about) / 1000}
		}
		r.add(t.ID, t.What+", s", 1, known(taken[t.What], ours), known(taken[t.What], builtIn), limit)
		if t.Without != "" {
			r.add(t.ID, t.What+" / without", 3, ratioOf(taken, t, ours), ratioOf(taken, t, builtIn), nil)
		}
	}
	if len(all) > 0 {
		r.note(fmt.Sprintf("Times of whole loads are at %d requests/s; targets are the KEPs' times, and %.0f %% for their being rounded.", referenceQPS, 100*(about-1)))
	}
}

func known(by map[side]float64, s side) *float64 {
	if v, ok := by[s]; ok {
		return &v
	}
	return nil
}

// ratioOf returns the ratio of a load to the same load without the feature.
func ratioOf(taken map[string]map[side]float64, t timing, s side) *float64 {
	with, without := known(taken[t.What], s), known(taken[t.Without], s)
	if with == nil || without == nil {
		return nil
	}
	ratio := *with / *without
	return &ratio
}
