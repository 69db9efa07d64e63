package cli

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkStart runs the binary that BATCHJOB_BINARY names (make bench: the stripped one of make build) to its end, and
// prints the median of the time that this takes.
func BenchmarkStart(b *testing.B) {
	binary := os.Getenv("BATCHJOB_BINARY")
	if binary == "" {
		b.Skip("set BATCHJOB_BINARY; make bench-start does")
	}
	for _, args := range [][]string{{"version", "--client"}, {"__complete", "sta"}} {
		b.Run(args[0], func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				cmd := exec.Command(binary, args...)
				cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
		})
	}
}
