package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// runOnce runs a Job to its end, without checks, and returns the number of API calls and the virtual time that it took.
func runOnce(t testing.TB, spec batchv1.JobSpec, script sim.Script) (calls int, took time.Duration) {
	t.Helper()
	limits := reconcile.DefaultConfig()
	limits.Backoff = backoff.Policy{Base: time.Millisecond, Max: time.Millisecond}
	most := manyWrites + writesPerPod*int(*spec.Completions)
	w := sim.NewWorld(sim.Options{MaxWrites: most, Latency: 125 * time.Microsecond, Controller: controller.Config{Limits: limits}})
	assert.NoError(t, w.CreateJob("a", spec, script))
	if !w.RunUntil(func() bool { return w.Finished("a") }, 24*time.Hour) {
		t.Fatal("not finished")
	}
	return w.Calls(), w.Elapsed()
}

// costs returns the costs of a run that KEP-3850 compares: all indexes succeed, or each fails once.
func costs(t testing.TB, n int32, perIndex, failing bool) (calls int, took time.Duration) {
	spec := scenario.IndexedSpec(n, n)
	spec.BackoffLimit = ptr.To[int32](1 << 30)
	if perIndex {
		spec.BackoffLimitPerIndex = ptr.To[int32](1)
	}
	script := sim.Script{{Index: -1, Act: sim.Act{Run: time.Second}}}
	if failing {
		script = append(script, sim.Scene{Index: -1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}})
	}
	return runOnce(t, spec, script)
}

// BLI-33, BLI-39: backoffLimitPerIndex costs no API calls, and at most 1 % more time: the failed indexes are part of
// the same status writes.
func TestLimitPerIndexCostsNoCalls(t *testing.T) {
	for _, n := range []int32{10, 100, 1000} {
		for _, failing := range []bool{false, true} {
			plain, plainTime := costs(t, n, false, failing)
			with, withTime := costs(t, n, true, failing)
			if float64(with) > 1.01*float64(plain)+2 || withTime > plainTime*101/100+time.Second {
				t.Errorf("%d indexes, failing=%v: %d calls in %v per index, %d in %v without", n, failing, with, withTime, plain, plainTime)
			}
		}
	}
}

// Requirements: BLI-39
func BenchmarkPerIndexCost(b *testing.B) {
	for _, n := range []int32{100, 1000, 10_000} {
		for _, failing := range []bool{false, true} {
			for _, perIndex := range []bool{false, true} {
				b.Run(fmt.Sprintf("%d/failing=%v/perIndex=%v", n, failing, perIndex), func(b *testing.B) {
					for b.Loop() {
						calls, took := costs(b, n, perIndex, failing)
						b.ReportMetric(float64(calls)/float64(n), "calls/index")
						b.ReportMetric(took.Seconds(), "virtual-s")
					}
				})
			}
		}
	}
}

// BenchmarkSyncDuration is the SLO of KEP-2307 and KEP-3998: with 50 API calls per second, 99 % of the syncs
// take at most 15 s. A hundred Jobs with twelve pods each start at once, half of them with a successPolicy.
// Requirements: SUC-25
func BenchmarkSyncDuration(b *testing.B) {
	for b.Loop() {
		var syncs []time.Duration
		w := sim.NewWorld(sim.Options{MaxWrites: 10 * manyWrites, QPS: 50, Workers: 5, OnSync: func(d time.Duration) { syncs = append(syncs, d) }})
		names := []string{}
		for i := range 100 {
			spec := scenario.IndexedSpec(12, 12)
			if i%2 == 0 {
				spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](10)}}}
			}
			name := fmt.Sprintf("job-%d", i)
			if err := w.CreateJob(name, spec, sim.Script{{Index: -1, Act: sim.Act{Run: 5 * time.Second}}}); err != nil {
				b.Fatal(err)
			}
			names = append(names, name)
		}
		if !w.RunUntil(func() bool { return !slices.ContainsFunc(names, func(n string) bool { return !w.Finished(n) }) }, time.Hour) {
			b.Fatal("not finished")
		}
		slices.Sort(syncs)
		b.ReportMetric(syncs[len(syncs)*99/100].Seconds(), "p99-sync-s")
		b.ReportMetric(syncs[len(syncs)/2].Seconds(), "p50-sync-s")
		b.ReportMetric(w.Elapsed().Seconds(), "virtual-s")
		b.ReportMetric(float64(w.Calls())/1200, "calls/pod")
	}
}
