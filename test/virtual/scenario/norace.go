//go:build !race

package scenario

// UnderRace reports whether the race detector is on.
const UnderRace = false

// gcPercent trades memory for time: worlds are many and short-lived.
const gcPercent = 400
