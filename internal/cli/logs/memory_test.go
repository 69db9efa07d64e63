//go:build measure

package logs

import (
	"io"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// Memory use does not depend on the size of a log or the length of its lines.
func TestLogsMemory(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.FailedPod("f", 3, 1))
	pods.Locked(func() { pods.Log("train-f/main").Big, pods.Log("train-f/main").Ended = 200<<20, true })
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, api.URL()))
	before := measure.Live() // Other tests may have left garbage behind.
	peak := &peakWriter{}
	err := program.Execute(t.Context(), []string{"logs", "train"}, genericiooptions.IOStreams{Out: peak, ErrOut: io.Discard}, clitest.NewEnv())
	if err != nil || peak.written < 200<<20 {
		t.Fatalf("%d bytes, %v", peak.written, err)
	}
	if t.Logf("%d MiB of heap, and %d before", peak.heap>>20, before>>20); peak.heap > before+(32<<20) {
		t.Errorf("%d MiB of heap, and %d before", peak.heap>>20, before>>20)
	}
}

// peakWriter measures the live heap every 20 MB.
type peakWriter struct {
	written, measured int
	heap              int64
}

func (p *peakWriter) Write(b []byte) (int, error) {
	p.written += len(b)
	if p.written-p.measured > 20<<20 {
		p.measured = p.written
		p.heap = max(p.heap, measure.Live())
	}
	return len(b), nil
}
