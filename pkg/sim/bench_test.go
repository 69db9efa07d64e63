package sim_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// BenchmarkHugeJob runs a Job of 100,000 indexes, 10,000 at once, from its creation to its end, controller, API
// server and nodes included. Virtual time passes as if 32 calls were in flight at once.
//
//	go test ./pkg/sim -run '^$' -bench HugeJob -benchtime 1x
//
// Requirements: TRK-33
func BenchmarkHugeJob(b *testing.B) {
	for name, spec := range map[string]batchv1.JobSpec{
		"indexed":    scenario.IndexedSpec(100_000, 10_000),
		"nonindexed": scenario.NonIndexedSpec(100_000, 10_000, 6),
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				runHuge(b, spec)
			}
		})
	}
}

func runHuge(b *testing.B, spec batchv1.JobSpec) {
	const day, look = 24 * time.Hour, 20 * time.Second
	most := manyWrites + writesPerPod*int(*spec.Completions)
	w := sim.NewWorld(sim.Options{MaxWrites: most, Latency: 125 * time.Microsecond})
	script := sim.Script{{Index: -1, Act: sim.Act{Run: 20 * time.Second}}}
	if err := w.CreateJob("a", spec, script); err != nil {
		b.Fatal(err)
	}
	var cpu float64
	var longest, total, looks time.Duration
	for !w.Finished("a") && w.Elapsed() < day && !w.GaveUp() {
		before := scenario.CPUSeconds()
		w.RunUntil(func() bool { return w.Finished("a") }, look)
		cpu += scenario.CPUSeconds() - before
		o, begun := checker.Observation(w, w.Store.Jobs()["a"]), time.Now()
		reconcile.Compute(o, w.Controller.Limits)
		took := time.Since(begun)
		longest, total, looks = max(longest, took), total+took, looks+1
	}
	if !w.Finished("a") {
		b.Fatalf("not finished: %s", sim.WhyGaveUp(w))
	}
	b.ReportMetric(cpu, "CPU-s/op")
	b.ReportMetric(w.Elapsed().Seconds(), "virtual-s/op")
	b.ReportMetric(float64(longest.Microseconds())/1000, "max-Compute-ms")
	b.ReportMetric(float64((total/looks).Microseconds())/1000, "mean-Compute-ms")
	b.ReportMetric(float64(w.Calls())/float64(*spec.Completions), "calls/pod")
}
