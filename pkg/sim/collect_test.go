package sim

import (
	"testing"
	"time"
)

// Requirements: SIM-06. Succeeded pods that are collected stay counted, and those that exist are the newest.
func TestOldSucceededPodsAreCollected(t *testing.T) {
	w := NewWorld(Options{SucceededPods: 10})
	fails := Scene{Index: 3, Act: Act{Exit: 1}}
	spec := indexedSpec(100, 5)
	spec.BackoffLimitPerIndex = new(int32)
	if err := w.CreateJob("a", spec, Script{{Index: -1, Act: Act{Run: 10 * time.Second}}, fails}); err != nil {
		t.Fatal(err)
	}
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
		if indexOf(pod) == 3 {
			failed++
			continue
		}
		oldest = min(oldest, indexOf(pod))
	}
	if n := len(w.Store.pods); n != 11 || failed != 1 || oldest < 85 {
		t.Errorf("%d pods, %d failed, the oldest of index %d", n, failed, oldest)
	}
}

// Requirements: SIM-06
func TestTooManyPodsAtOnce(t *testing.T) {
	w := NewWorld(Options{MaxPods: 20})
	if err := w.CreateJob("a", indexedSpec(100, 50), Script{{Index: -1, Act: Act{Run: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	if w.RunUntil(func() bool { return w.Finished("a") }, 24*time.Hour) || !w.GaveUp() || len(w.Store.pods) > 50 {
		t.Errorf("%d pods, gave up: %v", len(w.Store.pods), w.GaveUp())
	}
}
