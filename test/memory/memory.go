// Package memory measures memory in tests.
package memory

import "runtime"

// Allocated returns how many bytes are allocated while f runs, by f and by other goroutines, freed memory included.
func Allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
