package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// sweepCalls is at how many API calls of a file each fault strikes: at all of them in
// most files, otherwise at some that are spread evenly.
const sweepCalls = 100

// sweepWait is how much later a pod may come into being than without a fault.
const sweepWait = 5 * time.Second

// sweepCore is of how many states one is used to check Compute itself.
const sweepCore = 16

var sweepFaults = []struct {
	name  string
	fault Fault
}{{"crash before", CrashBefore}, {"crash after the commit of", CrashAfter}, {"lost response of", LoseResponse}, {"failure of", Fail}}

// TestSingleFaultSweep_TRK_03 replays every scenario file with one fault at one API
// call, for every fault and every call: the outcome is the same as without, and no
// invariant breaks.
func TestSingleFaultSweep_TRK_03(t *testing.T) {
	replayAll(t, replay.sweep)
}

// TestRandomFaultsInScenarios replays every scenario file under some seeds, where one
// call in ten goes wrong in some way: no invariant breaks. (What the Jobs come to may
// depend on when what a file does happens.)
func TestRandomFaultsInScenarios(t *testing.T) {
	replayAll(t, func(r replay, t *testing.T) {
		r.names = podNames{}
		r.run(t, nil)
		for seed := range uint64(20) {
			if got := r.run(t, randomFaults(seed)); len(got.broken) > 0 {
				t.Errorf("seed %d: %s\n%s", seed, strings.Join(got.broken, "\n"), got.trace)
				return
			}
		}
	})
}

func replayAll(t *testing.T, do func(replay, *testing.T)) {
	files, err := filepath.Glob("testdata/scenarios/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := readReplay(t, file)
			if r.off != "" {
				t.Skip(r.off)
			}
			do(r, t)
		})
	}
}

// replay is a scenario file that is carried out with other faults than its own.
type replay struct {
	commands []*datadriven.TestData
	// off says why the file is not replayed, mayDiffer why the number of pods that
	// succeed or fail may differ, as its comments tell.
	off, mayDiffer string
	names          podNames
}

const (
	sweepOff       = "# sweep: off, because "
	sweepMayDiffer = "# sweep: counts may differ, because "
)

func readReplay(t *testing.T, file string) replay {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r replay
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		off, isOff := strings.CutPrefix(line, sweepOff)
		mayDiffer, isMayDiffer := strings.CutPrefix(line, sweepMayDiffer)
		switch {
		case isOff:
			r.off = off
		case isMayDiffer:
			r.mayDiffer = mayDiffer
		case strings.HasPrefix(line, "# sweep"):
			t.Fatalf("%s: neither %q nor %q, and a reason", line, sweepOff, sweepMayDiffer)
		}
	}
	datadriven.RunTestFromString(t, string(text), func(_ *testing.T, d *datadriven.TestData) string {
		r.commands = append(r.commands, ptr.To(*d))
		return d.Expected
	})
	return r
}

func (r replay) sweep(t *testing.T) {
	r.names = podNames{}
	want := r.run(t, nil)
	if len(want.broken) > 0 {
		t.Fatalf("without a fault: %s\n%s", strings.Join(want.broken, "\n"), want.trace)
	}
	n := len(want.calls)
	for _, kind := range sweepFaults {
		for i := range min(n, sweepCalls) {
			at := want.calls[i*n/min(n, sweepCalls)]
			got := r.run(t, func(c Call) Fault {
				if c.Number == at.Number {
					return kind.fault
				}
				return NoFault
			})
			if got.outcome != want.outcome || len(got.broken) > 0 {
				t.Errorf("%s %v of %d: %s\n%s\ngot\n%swant\n%s", kind.name, at, n, strings.Join(got.broken, "\n"), got.trace, got.outcome, want.outcome)
				return
			}
		}
	}
}

// result is what a replay led to.
type result struct {
	outcome, trace string
	broken         []string
	calls          []Call
}

// run carries out the commands, and lets every world go on until its Jobs are finished
// and nothing happens any more.
func (r replay) run(t *testing.T, fault func(Call) Fault) result {
	var out result
	s := &scenario{options: Options{CoreEvery: sweepCore}, waitForPods: sweepWait, names: r.names}
	s.injected = func(c Call) Fault {
		c.Number = len(out.calls) + 1
		out.calls = append(out.calls, c)
		if fault != nil {
			return fault(c)
		}
		return NoFault
	}
	s.worldEnds = func() { r.end(s.world, &out) }
	var trace strings.Builder
	for _, d := range r.commands {
		fmt.Fprintf(&trace, "> %s\n%s", d.Cmd, s.run(t, d))
	}
	s.worldEnds()
	out.trace = trace.String() + out.trace
	return out
}

func (r replay) end(w *World, out *result) {
	w.RunUntil(w.finishedAll, time.Hour)
	w.RunUntil(func() bool { return false }, time.Hour)
	if err := w.Settle(time.Hour); err != nil {
		out.broken = append(out.broken, "L3: "+err.Error())
	}
	out.broken = append(out.broken, w.Checker.Violations...)
	out.trace += w.Trace()
	for _, h := range w.Checker.order {
		if h.gone {
			out.outcome += h.job.Name + ": gone\n"
			continue
		}
		job := h.job.DeepCopy()
		if r.mayDiffer != "" {
			job.Status.Failed, job.Status.Succeeded = 0, 0
		}
		out.outcome += fmt.Sprintf("%s: %s\n", job.Name, outcomeOf(job))
	}
	for _, pod := range w.Store.PodsOf("") {
		out.outcome += fmt.Sprintf("%s: %s, tracked %v\n", pod.Labels[batchv1.JobNameLabel], pod.Status.Phase, tracked(pod))
	}
}

// outcomeOf is what must not depend on when a fault struck.
func outcomeOf(job *batchv1.Job) string {
	s := job.Status
	out := fmt.Sprintf("succeeded %d failed %d completed %q failed %s", s.Succeeded, s.Failed, s.CompletedIndexes, quoteOrNone(s.FailedIndexes))
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue {
			out += fmt.Sprintf(" %s/%s", c.Type, c.Reason)
		}
	}
	return out
}
