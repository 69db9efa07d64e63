// Package measure limits the memory and the time of code in tests. The figures of a process depend on everything that runs
// beside the code, so limits are checked only with the build tag measure (make test-measured); without it, the code runs
// and nothing is measured. Size counts, and is the same on every machine.
package measure

import (
	"runtime"
	"testing"
	"time"
)

// CheckAllocated calls f, and fails if more than most bytes are allocated meanwhile, by f and by other goroutines, freed memory
// included.
func CheckAllocated(t testing.TB, most int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	AtMost(t, int64(after.TotalAlloc-before.TotalAlloc), most, "bytes allocated")
}

// CheckAllocations calls f, with the build tag often, and fails if a call makes more than most allocations on average.
func CheckAllocations(t testing.TB, most int64, f func()) {
	t.Helper()
	if !Enabled {
		f()
		return
	}
	AtMost(t, int64(testing.AllocsPerRun(100, f)), most, "allocations")
}

// CheckLive calls f, and fails if the heap holds more than most bytes more after it than before it.
func CheckLive(t testing.TB, most int64, f func()) {
	t.Helper()
	if !Enabled {
		f()
		return
	}
	before := Live()
	f()
	AtMost(t, Live()-before, most, "bytes more on the heap")
}

// CheckTime calls f, and fails if that takes longer than most.
func CheckTime(t testing.TB, most time.Duration, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	AtMost(t, time.Since(begun), most, "of time")
}

// Live returns the number of bytes on the heap that are in use. Only benchmarks and tests with the build tag may call it.
func Live() int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.GC() // The first call may find a collection in progress.
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

// AtMost fails with the build tag if got is more than most.
func AtMost[N int64 | time.Duration](t testing.TB, got, most N, what string) {
	t.Helper()
	if !Enabled {
		return
	}
	t.Logf("%v %s, at most %v", got, what, most)
	if got > most {
		t.Errorf("%v %s, more than %v", got, what, most)
	}
}
