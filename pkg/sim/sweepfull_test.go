//go:build !race

package sim

// sweepCalls is at how many API calls of a file each fault strikes: at all of them in
// most files, otherwise at some that are spread evenly.
const sweepCalls = 100

// gcPercent trades memory for time: worlds are many and short-lived.
const gcPercent = 400

// fewerSeeds are all that a test asks for.
func fewerSeeds(n uint64) uint64 { return n }
