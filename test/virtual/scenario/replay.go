package scenario

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

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// SweepWait is the longest additional delay of a pod's creation because of a fault.
const SweepWait = 5 * time.Second

// SweepCore is the number of states per check of Compute itself.
const SweepCore = 32

// Replay is a scenario file that is run with additional faults.
type Replay struct {
	Commands []*datadriven.TestData
	// Reasons given in the file's comments: Off, why the file is not replayed; mayDiffer, why the numbers of succeeded
	// and failed pods may differ; twinsMatter, why a surplus pod may change the outcome of a Job.
	Off, mayDiffer, twinsMatter string
	Names                       podNames
}

// Trouble holds the faults of a replay in addition to the file's own.
type Trouble struct {
	// Seed is added to the seed of each world. Begun is called when a world begins.
	Seed  uint64
	Begun func(*checker.World)
	Fault func(sim.Call) sim.Fault
	Watch func() sim.WatchFault
	// Successor describes the process that starts after a crash.
	Successor sim.ProcessOptions
	// traced keeps the trace.
	traced bool
}

const (
	sweepOff       = "# sweep: off, because "
	sweepMayDiffer = "# sweep: counts may differ, because "
	sweepTwins     = "# sweep: twins matter, because "
)

// Files returns the scenario files of a folder.
func Files(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	return files
}

// ReadReplay reads a scenario file.
func ReadReplay(t *testing.T, file string) Replay {
	text, err := os.ReadFile(file)
	assert.NoError(t, err)
	r := Replay{Names: podNames{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		off, isOff := strings.CutPrefix(line, sweepOff)
		mayDiffer, isMayDiffer := strings.CutPrefix(line, sweepMayDiffer)
		twins, isTwins := strings.CutPrefix(line, sweepTwins)
		switch {
		case isOff:
			r.Off = off
		case isMayDiffer:
			r.mayDiffer = mayDiffer
		case isTwins:
			r.twinsMatter = twins
		case strings.HasPrefix(line, "# sweep"):
			t.Fatalf("%s: none of %q, %q and %q, and a reason", line, sweepOff, sweepMayDiffer, sweepTwins)
		}
	}
	datadriven.RunTestFromString(t, string(text), func(_ *testing.T, d *datadriven.TestData) string {
		r.Commands = append(r.Commands, ptr.To(*d))
		return d.Expected
	})
	return r
}

// Result is the result of a replay.
type Result struct {
	// outcome must not depend on any single fault; conditions must not even if there are surplus pods.
	outcome, conditions string
	trace               string
	Broken              []string
	Calls               []sim.Call
	// deadline reports whether a Job had a deadline.
	deadline bool
}

// Comparison determines which parts of two results must be equal.
type Comparison uint8

const (
	// Nothing must be equal.
	Nothing Comparison = iota
	// ConditionsBeforeDeadlines compares the conditions of Jobs without a deadline: if two clocks differ, the slow one
	// may set the startTime, and the fast one ends the Job early.
	ConditionsBeforeDeadlines
	// Conditions compares the conditions of Jobs.
	Conditions
	// Everything compares conditions, counts, indexes and remaining pods.
	Everything
)

// Problem replays the file with trouble, and describes the violations and differences, or returns "".
func (r Replay) Problem(t *testing.T, trouble func() Trouble, want Result, same Comparison) string {
	got := r.Run(t, trouble())
	switch {
	case len(got.Broken) > 0:
	case same == Conditions && r.twinsMatter == "" && got.conditions != want.conditions:
	case same == ConditionsBeforeDeadlines && !got.deadline && r.twinsMatter == "" && got.conditions != want.conditions:
	case same == Everything && got.outcome != want.outcome:
	default:
		return ""
	}
	again := trouble()
	again.traced = true
	return fmt.Sprintf("%s\n%s\ngot\n%swant\n%s", strings.Join(got.Broken, "\n"), r.Run(t, again).trace, got.outcome, want.outcome)
}

// Run carries out the commands, and runs every world until its Jobs are finished and nothing happens anymore.
func (r Replay) Run(t *testing.T, x Trouble) Result {
	var out Result
	s := &Runner{
		Options: sim.Options{Seed: x.Seed, Successor: x.Successor}, Checks: checker.Checks{CoreEvery: SweepCore, Untraced: !x.traced},
		begun: x.Begun, InjectedWatch: x.Watch, waitForPods: SweepWait, names: r.Names,
	}
	s.Injected = func(c sim.Call) sim.Fault {
		c.Number = len(out.Calls) + 1
		out.Calls = append(out.Calls, c)
		if x.Fault != nil {
			return x.Fault(c)
		}
		return sim.Fault{}
	}
	s.worldEnds = func() { r.end(s.World, &out) }
	var trace strings.Builder
	for _, d := range r.Commands {
		if onlyPrints := d.Cmd == "status" || d.Cmd == "pods" || d.Cmd == "findings"; onlyPrints && !x.traced {
			continue
		}
		fmt.Fprintf(&trace, "> %s\n%s", d.Cmd, s.Run(t, d))
	}
	s.worldEnds()
	out.trace = trace.String() + out.trace
	return out
}

func (r Replay) end(w *checker.World, out *Result) {
	w.RunUntil(w.FinishedAll, time.Hour)
	w.RunUntil(func() bool { return false }, time.Hour)
	if err := w.Settle(time.Hour); err != nil {
		out.Broken = append(out.Broken, "L3: "+err.Error())
	}
	out.Broken = append(out.Broken, w.Checker.Violations...)
	out.trace += w.Trace()
	for _, h := range w.Checker.Order {
		out.deadline = out.deadline || h.Job.Spec.ActiveDeadlineSeconds != nil
		if h.Gone {
			out.outcome += h.Job.Name + ": gone\n"
			out.conditions += h.Job.Name + ": gone\n"
			continue
		}
		job := h.Job.DeepCopy()
		if r.mayDiffer != "" {
			job.Status.Failed, job.Status.Succeeded = 0, 0
		}
		out.outcome += fmt.Sprintf("%s: %s\n", job.Name, OutcomeOf(job))
		out.conditions += fmt.Sprintf("%s:%s\n", job.Name, conditionsOf(job))
	}
	for _, pod := range w.Store.PodsOf("") {
		out.outcome += fmt.Sprintf("%s: %s, tracked %v\n", pod.Labels[batchv1.JobNameLabel], pod.Status.Phase, checker.Tracked(pod))
	}
}

// OutcomeOf describes the outcome of a Job.
func OutcomeOf(job *batchv1.Job) string {
	s := job.Status
	return fmt.Sprintf("succeeded %d failed %d completed %q failed %s", s.Succeeded, s.Failed, s.CompletedIndexes, checker.QuoteOrNone(s.FailedIndexes)) + conditionsOf(job)
}

func conditionsOf(job *batchv1.Job) (out string) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			out += fmt.Sprintf(" %s/%s", c.Type, c.Reason)
		}
	}
	return out
}
