package sim_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// decidedThenNot runs a Job whose only pod is deleted after a quiet time, and succeeds after a fault of the status
// write that fails the Job: the next plan would replace the pod. fault returns the fault of the nth status write after
// the deletion, from 1.
func decidedThenNot(o sim.Options, quiet time.Duration, fault func(n int) sim.Fault) *checker.World {
	writes := -1
	o.Fault = func(c sim.Call) sim.Fault {
		if writes < 0 || c.Verb != "status" {
			return sim.Fault{}
		}
		writes++
		return fault(writes)
	}
	w := checker.NewWorld(o)
	pod := sim.Act{Run: sim.Forever, Terminate: 300 * time.Millisecond}
	scenario.Must(w.CreateJob("a", scenario.NonIndexedSpec(2, 1, 0), sim.Script{{Index: -1, Act: pod}, {Index: -1, Nth: 2, Act: sim.Act{Run: time.Second}}}))
	w.RunUntil(func() bool { return ptr.Deref(w.Store.Job("a").Status.Ready, 0) == 1 }, time.Minute)
	w.RunUntil(func() bool { return false }, quiet)
	writes = 0
	first := w.Store.PodsOf(w.Store.Job("a").UID)[0]
	_, err := w.Store.DeletePod(first.Name, first.UID)
	scenario.Must(err)
	return w
}

// TestCreationsWaitForALateOutcome: even if the status is not urgent, no pod is created before a late write that
// fails the Job (S9).
// Requirements: TRK-03
func TestCreationsWaitForALateOutcome(t *testing.T) {
	late := false
	for by := 200 * time.Millisecond; by < 500*time.Millisecond; by += 10 * time.Millisecond {
		w := decidedThenNot(sim.Options{Seed: 1, Latency: 100 * time.Millisecond}, 0, func(n int) sim.Fault {
			if n == 1 {
				return sim.Fault{Kind: sim.Timeout, Wait: by}
			}
			return sim.Fault{}
		})
		w.RunUntil(func() bool { return false }, 50*time.Millisecond)
		w.Edit(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](10_000) }) // Triggers a sync at once.
		w.RunUntil(func() bool { return w.Finished("a") }, time.Minute)
		trace := w.Trace()
		late = late || strings.Contains(trace, "FailureTarget=True")
		if broken := w.Checker.Violations; len(broken) > 0 {
			t.Errorf("late by %v: %s\n%s", by, strings.Join(broken, "\n"), trace)
		}
	}
	if !late {
		t.Error("no late write fails the Job")
	}
}

// TestCreationsDoNotWaitForever: if no status write succeeds, pods are created a minute after the loss of a
// write that failed the Job.
// Requirements: TRK-03
func TestCreationsDoNotWaitForever(t *testing.T) {
	for _, kind := range []sim.FaultKind{sim.Reject, sim.Fail} {
		w := decidedThenNot(sim.Options{Seed: 1}, 3*time.Second, func(n int) sim.Fault {
			if n == 1 {
				return sim.Fault{Kind: sim.Fail}
			}
			return sim.Fault{Kind: kind}
		})
		begun := w.Now()
		second := func() bool { return w.Store.State().Generated > 1 }
		w.RunUntil(second, 10*time.Minute)
		if took := w.Now().Sub(begun); !second() || took < time.Minute || took > 3*time.Minute {
			t.Errorf("%v: after %v, there is a second pod: %v\n%s", kind, took, second(), w.Trace())
		}
	}
}
