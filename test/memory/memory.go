// Package memory measures memory in tests.
package memory

import "runtime"

// Allocated returns how many bytes f and everything that runs meanwhile allocate, whether they are still in use or not.
func Allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
