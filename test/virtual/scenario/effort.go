package scenario

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// Main runs the tests of a package that creates many worlds.
func Main(m *testing.M) {
	debug.SetGCPercent(gcPercent)
	os.Exit(m.Run())
}

// FewerSeeds returns n, or a tenth of it with -short or under the race detector.
func FewerSeeds(n uint64) uint64 {
	if UnderRace || testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// CPUSeconds returns the CPU time of this process, in user and system mode.
func CPUSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// Must panics if err is not nil.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
