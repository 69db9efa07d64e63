package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// BenchmarkStart measures the median run time of the binary that BATCHJOB_BINARY names (make bench-start sets it to
// the stripped binary of make build).
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
				assert.NoError(b, cmd.Run())
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
		})
	}
}

// BenchmarkStatusOfManyJobs measures the CPU time of the binary for a table of 5,000 Jobs, including reading them in
// pages.
func BenchmarkStatusOfManyJobs(b *testing.B) {
	binary := os.Getenv("BATCHJOB_BINARY")
	if binary == "" {
		b.Skip("set BATCHJOB_BINARY; make bench-start does")
	}
	var jobs []*unstructured.Unstructured
	for i := range 5000 {
		jobs = append(jobs, clitest.SimpleJob("ns1", fmt.Sprintf("job-%04d", i), int64(i%10)))
	}
	kubeconfig := clitest.WriteKubeconfig(b, clitest.NewAPI(b, jobs...).URL())
	var spent []time.Duration
	for b.Loop() {
		cmd := exec.Command(binary, "status", "--kubeconfig", kubeconfig)
		cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
		assert.NoError(b, cmd.Run())
		spent = append(spent, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(spent)
	b.ReportMetric(float64(spent[len(spent)/2].Milliseconds()), "cpu-ms")
}
