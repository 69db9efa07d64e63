package cli

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestLogReaderSplitsLongLines(t *testing.T) {
	long := strings.Repeat("ab", maxLogLine/2)
	const at = "2026-03-01T12:00:00.5Z "
	for _, tc := range []struct {
		name, in   string
		timestamps bool
		want       []string
	}{
		{"plain", "a\n\nb\r\n", false, []string{"a", "", "b"}},
		{"no newline at the end", "a\nb", false, []string{"a", "b…"}},
		{"exactly one part", long + "\nx\n", false, []string{long, "", "x"}},
		{"two parts", long + "more\nx\n", false, []string{long, "more", "x"}},
		{"ends with the part", long, false, []string{long, "…"}},
		{"timestamp once", at + long + "\n" + at + "x\n", true, []string{long[:maxLogLine-len(at)], long[maxLogLine-len(at):], "x"}},
		{"no timestamp", "failed to read\n", true, []string{"failed to read"}},
		{"no rune is cut", long[1:] + "é\nx\n", false, []string{long[1:], "é", "x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := newLogReader(strings.NewReader(tc.in), tc.timestamps)
			var got []string
			for {
				line, err := reader.read()
				if errors.Is(err, io.EOF) {
					break
				}
				text := string(line.text)
				if line.broken {
					text += "…"
				}
				if tc.timestamps && strings.HasPrefix(tc.in, at) && line.at != strings.TrimSpace(at) {
					t.Errorf("timestamp %q of %.10q", line.at, text)
				}
				got = append(got, text)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("%d parts, want %d", len(got), len(tc.want))
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("part %d: %d bytes, want %d", i, len(got[i]), len(tc.want[i]))
				}
			}
		})
	}
}

// Memory does not depend on the size of a log, nor on the length of its lines.
func TestLogsMemory(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.withLog(failedPod("f", 3, 1))
	pods.locked(func() { pods.log("train-f/main").big, pods.log("train-f/main").ended = 200<<20, true })
	t.Setenv("KUBECONFIG", writeKubeconfig(t, api.url()))
	before := liveHeap() // What other tests have left behind is not the log's.
	peak := &peakWriter{}
	err := execute(t.Context(), []string{"logs", "train"}, genericiooptions.IOStreams{Out: peak, ErrOut: io.Discard}, testEnvironment())
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

func FuzzLogReader(f *testing.F) {
	f.Add([]byte("2026-03-01T12:00:00Z a\nb\r\n\xffc"))
	f.Fuzz(func(t *testing.T, in []byte) {
		reader := newLogReader(bytes.NewReader(in), false)
		var got []byte
		for {
			line, err := reader.read()
			if err != nil {
				break
			}
			got = append(got, line.text...)
			if line.last && !line.broken {
				got = append(got, '\n')
			}
		}
		if want := bytes.ReplaceAll(in, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) && !bytes.HasSuffix(in, []byte("\r")) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
