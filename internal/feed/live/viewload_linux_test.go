package live

import (
	"context"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// loadTime is how long each case of BenchmarkView runs.
const loadTime = 10 * time.Second

// BenchmarkView measures the whole view of a Job of 100,000 indexes with 10,000 pods: idle, and with 10,000 pod changes a
// second, on the Overview and on the map, at 160x50. It uses real time, and the CPU time of the process, including garbage
// collection and the drawing by Bubble Tea but not the decoding of responses. The memory is the peak resident set.
func BenchmarkView(b *testing.B) {
	for _, tc := range []struct {
		name    string
		tab     rune
		changes int // per second
	}{
		{"rest", '1', 0}, {"storm/overview", '1', 10_000}, {"storm/indexes", '2', 10_000}, {"storm/pods", '5', 10_000},
	} {
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				storm := newStorm(10_000)
				storm.source.Now, storm.source.Ticks = time.Now, func(d time.Duration) (<-chan time.Time, func()) {
					ticker := time.NewTicker(d)
					return ticker.C, ticker.Stop
				}
				storm.now = time.Now()
				ctx, cancel := context.WithCancel(b.Context())
				model := tui.New(tui.Options{Context: ctx, Source: storm.source, Now: time.Now, Start: tui.StartJob, Job: storm.source.focus.Job, Color: true})
				program := tea.NewProgram(model, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithWindowSize(160, 50),
					tea.WithFPS(20), tea.WithoutSignals(), tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}))
				done := make(chan struct{})
				go func() { defer close(done); _, _ = program.Run() }() // Only the load matters.
				go func() { _ = storm.source.publishAll(ctx) }()
				program.Send(tea.KeyPressMsg{Code: tc.tab, Text: string(tc.tab)})
				debug.FreeOSMemory()
				before := cpuTime(b)
				storm.blow(tc.changes, loadTime)
				share := float64(cpuTime(b)-before) / float64(loadTime)
				b.ReportMetric(100*share, "%cpu")
				b.ReportMetric(residentMiB(b), "MiB-peak")
				program.Quit()
				<-done
				cancel()
			}
		})
	}
}

// blow makes perSecond changes a second for the duration d, a hundredth of them at a time.
func (s *storm) blow(perSecond int, d time.Duration) {
	const step = 10 * time.Millisecond
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for i, end := 0, time.Now().Add(d); time.Now().Before(end); <-ticker.C {
		s.now = time.Now()
		for range perSecond / int(time.Second/step) {
			s.change(i % len(s.pods))
			i++
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	assert.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func residentMiB(b *testing.B) float64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	assert.NoError(b, err)
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		b.Fatal("no VmHWM")
	}
	kib, err := strconv.Atoi(string(m[1]))
	assert.NoError(b, err)
	return float64(kib) / 1024
}
