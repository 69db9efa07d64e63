//go:build race

package sim

// In a virtual cluster one coroutine runs at a time, so that the race detector finds in a
// few worlds what it finds in many thousands; all it adds are minutes, and gigabytes for
// coroutines that are gone.
const sweepCalls = 2

// fewerSeeds of those that a test would try.
func fewerSeeds(n uint64) uint64 { return max(n/10, 1) }

const gcPercent = 100
