//go:build !race

package sim

// underRace: see sweeprace_test.go.
const underRace = false

// gcPercent trades memory for time: worlds are many and short-lived.
const gcPercent = 400
