//go:build race

package scenario

// UnderRace reports whether the race detector is on. In a virtual cluster, one coroutine runs at a time, so the detector
// finds in a few worlds what it would find in many thousands; more worlds only add minutes, and gigabytes for ended
// coroutines.
const UnderRace = true

const gcPercent = 100
