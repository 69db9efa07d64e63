package sim_test

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// Requirements: SIM-06. Succeeded pods that are collected stay counted, and those that exist are the newest.
func TestOldSucceededPodsAreCollected(t *testing.T) {
	w := sim.NewWorld(sim.Options{SucceededPods: 10})
	fails := sim.Scene{Index: 3, Act: sim.Act{Exit: 1}}
	spec := scenario.IndexedSpec(100, 5)
	spec.BackoffLimitPerIndex = new(int32)
	assert.NoError(t, w.CreateJob("a", spec, sim.Script{{Index: -1, Act: sim.Act{Run: 10 * time.Second}}, fails}))
	if !w.RunUntil(func() bool { return w.Finished("a") }, time.Hour) {
		t.Fatal("not finished")
	}
	w.RunUntil(func() bool { return false }, time.Minute)
	job := w.Store.Job("a")
	if job.Status.Succeeded != 99 || job.Status.CompletedIndexes != "0-2,4-99" || job.Status.Failed != 1 {
		t.Errorf("%+v", job.Status)
	}
	failed, oldest := 0, int32(100)
	for _, pod := range w.Store.PodsOf(job.UID) {
		if history.IndexOf(pod) == 3 {
			failed++
			continue
		}
		oldest = min(oldest, history.IndexOf(pod))
	}
	if n := len(w.Store.Pods()); n != 11 || failed != 1 || oldest < 85 {
		t.Errorf("%d pods, %d failed, the oldest of index %d", n, failed, oldest)
	}
}

// Requirements: SIM-06
func TestTooManyPodsAtOnce(t *testing.T) {
	w := sim.NewWorld(sim.Options{MaxPods: 20})
	assert.NoError(t, w.CreateJob("a", scenario.IndexedSpec(100, 50), sim.Script{{Index: -1, Act: sim.Act{Run: time.Hour}}}))
	if w.RunUntil(func() bool { return w.Finished("a") }, 24*time.Hour) || !w.GaveUp() || len(w.Store.Pods()) > 50 {
		t.Errorf("%d pods, gave up: %v", len(w.Store.Pods()), w.GaveUp())
	}
}
