//go:build race

package sim

// In a virtual cluster one coroutine runs at a time, so that the race detector finds in a
// few worlds what it finds in many thousands; all it adds are minutes, and gigabytes for
// coroutines that are gone.
const sweepCalls = 4

const gcPercent = 100
