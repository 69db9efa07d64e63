package scenario

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// Main runs the tests of a package that plays many worlds.
func Main(m *testing.M) {
	debug.SetGCPercent(gcPercent)
	os.Exit(m.Run())
}

// FewerSeeds returns how many seeds to try of those that a test would try in full.
func FewerSeeds(n uint64) uint64 {
	if UnderRace || testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// CPUSeconds is what this process has used, in user and system mode.
func CPUSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// Must panics if what a test prepares fails.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
