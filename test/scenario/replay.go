package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// sweepWait is how much later a pod may come into being than without a fault.
const sweepWait = 5 * time.Second

// sweepCore is of how many states one is used to check Compute itself.
const sweepCore = 32

func TestMain(m *testing.M) {
	debug.SetGCPercent(gcPercent)
	os.Exit(m.Run())
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
	// succeed or fail may differ, twinsMatter why a pod more than there should be may
	// change what a Job comes to, as its comments tell.
	off, mayDiffer, twinsMatter string
	names                       podNames
}

// trouble is what goes wrong in a replay, apart from what its file says.
type trouble struct {
	// seed is added to that of each world, begun is called with it at its beginning.
	seed  uint64
	begun func(*World)
	fault func(Call) Fault
	watch func() WatchFault
	// successor is what takes over after a crash.
	successor ProcessOptions
	// traced keeps the trace.
	traced bool
}

const (
	sweepOff       = "# sweep: off, because "
	sweepMayDiffer = "# sweep: counts may differ, because "
	sweepTwins     = "# sweep: twins matter, because "
)

func readReplay(t *testing.T, file string) replay {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := replay{names: podNames{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		off, isOff := strings.CutPrefix(line, sweepOff)
		mayDiffer, isMayDiffer := strings.CutPrefix(line, sweepMayDiffer)
		twins, isTwins := strings.CutPrefix(line, sweepTwins)
		switch {
		case isOff:
			r.off = off
		case isMayDiffer:
			r.mayDiffer = mayDiffer
		case isTwins:
			r.twinsMatter = twins
		case strings.HasPrefix(line, "# sweep"):
			t.Fatalf("%s: none of %q, %q and %q, and a reason", line, sweepOff, sweepMayDiffer, sweepTwins)
		}
	}
	datadriven.RunTestFromString(t, string(text), func(_ *testing.T, d *datadriven.TestData) string {
		r.commands = append(r.commands, ptr.To(*d))
		return d.Expected
	})
	return r
}

// result is what a replay led to.
type result struct {
	// outcome is what must not depend on any single fault, conditions what must not even if
	// there are more pods than there should be.
	outcome, conditions string
	trace               string
	broken              []string
	calls               []Call
	// deadline reports whether a Job had one.
	deadline bool
}

// comparison is how much of what it led to a replay must have in common with another.
type comparison uint8

const (
	nothing comparison = iota
	// conditionsBeforeDeadlines leaves out Jobs with a deadline: of two clocks, the one that is
	// behind may set the startTime, and the other one ends the Job early.
	conditionsBeforeDeadlines
	conditions
	everything
)

// problem replays in a trouble, and says what is wrong with what that leads to, or "".
func (r replay) problem(t *testing.T, trouble func() trouble, want result, same comparison) string {
	got := r.run(t, trouble())
	switch {
	case len(got.broken) > 0:
	case same == conditions && r.twinsMatter == "" && got.conditions != want.conditions:
	case same == conditionsBeforeDeadlines && !got.deadline && r.twinsMatter == "" && got.conditions != want.conditions:
	case same == everything && got.outcome != want.outcome:
	default:
		return ""
	}
	again := trouble()
	again.traced = true
	return fmt.Sprintf("%s\n%s\ngot\n%swant\n%s", strings.Join(got.broken, "\n"), r.run(t, again).trace, got.outcome, want.outcome)
}

// run carries out the commands, and lets every world go on until its Jobs are finished
// and nothing happens anymore.
func (r replay) run(t *testing.T, x trouble) result {
	var out result
	s := &scenario{
		options: Options{Seed: x.seed, Successor: x.successor}, checks: checks{coreEvery: sweepCore, noTrace: !x.traced},
		begun: x.begun, injectedWatch: x.watch, waitForPods: sweepWait, names: r.names,
	}
	s.injected = func(c Call) Fault {
		c.Number = len(out.calls) + 1
		out.calls = append(out.calls, c)
		if x.fault != nil {
			return x.fault(c)
		}
		return Fault{}
	}
	s.worldEnds = func() { r.end(s.world, &out) }
	var trace strings.Builder
	for _, d := range r.commands {
		if onlyPrints := d.Cmd == "status" || d.Cmd == "pods" || d.Cmd == "findings"; onlyPrints && !x.traced {
			continue
		}
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
	out.broken = append(out.broken, w.checker().Violations...)
	out.trace += w.Trace()
	for _, h := range w.checker().order {
		out.deadline = out.deadline || h.job.Spec.ActiveDeadlineSeconds != nil
		if h.gone {
			out.outcome += h.job.Name + ": gone\n"
			out.conditions += h.job.Name + ": gone\n"
			continue
		}
		job := h.job.DeepCopy()
		if r.mayDiffer != "" {
			job.Status.Failed, job.Status.Succeeded = 0, 0
		}
		out.outcome += fmt.Sprintf("%s: %s\n", job.Name, outcomeOf(job))
		out.conditions += fmt.Sprintf("%s:%s\n", job.Name, conditionsOf(job))
	}
	for _, pod := range w.Store.PodsOf("") {
		out.outcome += fmt.Sprintf("%s: %s, tracked %v\n", pod.Labels[batchv1.JobNameLabel], pod.Status.Phase, tracked(pod))
	}
}

// outcomeOf is what a Job has come to.
func outcomeOf(job *batchv1.Job) string {
	s := job.Status
	return fmt.Sprintf("succeeded %d failed %d completed %q failed %s", s.Succeeded, s.Failed, s.CompletedIndexes, quoteOrNone(s.FailedIndexes)) + conditionsOf(job)
}

func conditionsOf(job *batchv1.Job) (out string) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			out += fmt.Sprintf(" %s/%s", c.Type, c.Reason)
		}
	}
	return out
}
