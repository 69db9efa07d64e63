//go:build race

package scenario

// UnderRace reports whether the race detector is on. In a virtual cluster one coroutine runs at
// a time, so that it finds in a few worlds what it finds in many thousands; all it adds are
// minutes, and gigabytes for coroutines that are gone.
const UnderRace = true

const gcPercent = 100
