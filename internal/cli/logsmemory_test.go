package cli

import (
	"io"
	"runtime"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Memory does not depend on the size of a log, nor on the length of its lines.
func TestLogsMemory(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.withLog(failedPod("f", 3, 1))
	pods.locked(func() { pods.log("train-f/main").big, pods.log("train-f/main").ended = 200<<20, true })
	t.Setenv("KUBECONFIG", writeKubeconfig(t, api.url()))
	before := liveHeap() // What other tests have left behind is not the log's.
	peak := &peakWriter{}
	err := program.execute(t.Context(), []string{"logs", "train"}, genericiooptions.IOStreams{Out: peak, ErrOut: io.Discard}, testEnvironment())
	if err != nil || peak.written < 200<<20 {
		t.Fatalf("%d bytes, %v", peak.written, err)
	}
	if peak.heap > before+(32<<20) {
		t.Errorf("%d MiB of heap, and %d before", peak.heap>>20, before>>20)
	}
}

// peakWriter measures the live heap every 20 MB.
type peakWriter struct {
	written, measured int
	heap              uint64
}

func (p *peakWriter) Write(b []byte) (int, error) {
	p.written += len(b)
	if p.written-p.measured > 20<<20 {
		p.measured = p.written
		p.heap = max(p.heap, liveHeap())
	}
	return len(b), nil
}

func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
