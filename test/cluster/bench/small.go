//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
)

// smallSizes are the numbers of indexes of small Jobs, in which the wait for a batch would dominate the time.
var smallSizes = []int{10, 100}

// small times Jobs of few indexes without a limit on requests, each from its creation until it is Complete or its
// failures are counted. The only remaining wait is a back-off.
func small(ctx context.Context, b *bench) ([]latency, error) {
	var loads []load
	for _, n := range smallSizes {
		loads = append(loads, loadsOf(b, n)...)
	}
	var list []latency
	for _, l := range loads {
		progress("Small Jobs, %s: %d each", l.what, indexedSamples)
		for _, s := range turns(indexedSamples, ours, builtIn, floor) {
			took, err := func() (took latency, err error) {
				ctx, cancel := context.WithTimeout(ctx, b.timeout)
				defer cancel()
				d, err := l.run(ctx, s)
				return latency{s, l.what, 1000 * d.Seconds()}, err
			}()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", l.what, s, err)
			}
			list = append(list, took)
		}
	}
	return list, nil
}

// mostOverBareClient is the target for the time of a small Job, as a multiple of the bare client's.
const mostOverBareClient = 1.2

func (r *report) addSmall(all []latency) {
	var order []string
	times := map[string]map[side][]float64{}
	for _, l := range all {
		if times[l.Shape] == nil {
			times[l.Shape], order = map[side][]float64{}, append(order, l.Shape)
		}
		times[l.Shape][l.Side] = append(times[l.Shape][l.Side], l.MS)
	}
	for _, what := range order {
		by := times[what]
		p50 := func(s side) *float64 { return percentile(by[s], 50) }
		lowest := p50(floor)
		if lowest == nil {
			continue
		}
		r.add("", fmt.Sprintf("%s (floor: %.0f ms): p50, ms", what, *lowest), 0, p50(ours), p50(builtIn), &target{Limit: math.Round(mostOverBareClient * *lowest)})
	}
	if len(all) > 0 {
		r.note(fmt.Sprintf("Small Jobs: %d each. The floor is a bare client that creates the pods, and strips the finalizer of each as it ends; "+
			"targets are %.1f times its time, in which the Job is already there.", len(times[order[0]][ours]), mostOverBareClient))
	}
}
