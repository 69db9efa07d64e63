package sim

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// randomCase is a Job that is run again and again, each time with other faults.
type randomCase struct {
	spec   batchv1.JobSpec
	script Script
	// meanwhile happens one second after the beginning.
	meanwhile func(w *World)
	// race reports whether the number of failed pods depends on how many were created
	// before the Job was bound to fail.
	race bool
}

func nonIndexedSpec(completions, parallelism, limit int32) batchv1.JobSpec {
	return batchv1.JobSpec{Completions: &completions, Parallelism: &parallelism, BackoffLimit: &limit}
}

func randomCases() map[string]randomCase {
	runs := Script{{Index: -1, Act: Act{Run: 2 * time.Second}}}
	firstFails := append(runs[:1:1], Scene{Index: -1, Attempt: 1, Act: Act{Run: time.Second, Exit: 1}})
	oneFails := append(runs[:1:1], Scene{Index: 1, Attempt: 1, Act: Act{Run: time.Second, Exit: 1}})
	failing := indexedSpec(4, 4)
	failing.BackoffLimit = ptr.To[int32](0)
	return map[string]randomCase{
		"per index": perIndexCase(), "rules": rulesCase(), "success policy": successPolicyCase(),
		"indexed":     {spec: indexedSpec(3, 2), script: runs},
		"non-indexed": {spec: nonIndexedSpec(3, 2, 6), script: runs},
		"retry":       {spec: indexedSpec(3, 3), script: oneFails},
		"limit":       {spec: nonIndexedSpec(1, 1, 0), script: firstFails},
		"failing": {spec: failing, script: Script{
			{Index: -1, Act: Act{Run: Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
			{Index: 0, Act: Act{Run: time.Second, Exit: 1}},
		}, race: true},
		"scale-down": {spec: nonIndexedSpec(4, 4, 0), script: Script{{Index: -1, Act: Act{Run: 3 * time.Second, Terminate: time.Second, TerminateExit: 143}}}, meanwhile: func(w *World) {
			w.edit(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](1) })
		}},
		"suspend": {spec: nonIndexedSpec(2, 2, 0), script: Script{{Index: -1, Act: Act{Run: 3 * time.Second, Terminate: time.Second, TerminateExit: 143}}}, meanwhile: func(w *World) {
			w.edit(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
			w.after(5*time.Second, func() { w.edit(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(false) }) })
		}},
	}
}

// perIndexCase: index 0 fails once, index 1 once too often.
func perIndexCase() randomCase {
	spec := indexedSpec(4, 2)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	return randomCase{spec: spec, script: Script{
		{Index: -1, Act: Act{Run: 2 * time.Second}},
		{Index: 0, Attempt: 1, Act: Act{Run: time.Second, Exit: 1}},
		{Index: 1, Act: Act{Run: time.Second, Exit: 1}},
	}}
}

// rulesCase: index 0 fails in a way that is ignored and then in one that counts, index 1
// in one that fails it. One second after the beginning, all pods are evicted.
func rulesCase() randomCase {
	spec := indexedSpec(3, 3)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	exit := func(action batchv1.PodFailurePolicyAction, code int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}}}
	}
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		exit(batchv1.PodFailurePolicyActionIgnore, 42), exit(batchv1.PodFailurePolicyActionFailIndex, 43),
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}}},
	}}
	return randomCase{spec: spec, script: Script{
		{Index: -1, Act: Act{Run: 30 * time.Second, Terminate: time.Second, TerminateExit: 143}},
		{Index: 0, Attempt: 2, Act: Act{Run: time.Second, Exit: 42}},
		{Index: 0, Attempt: 3, Act: Act{Run: time.Second, Exit: 1}},
		{Index: 1, Attempt: 2, Act: Act{Run: time.Second, Exit: 43}},
	}, meanwhile: func(w *World) {
		w.RunUntil(func() bool { return len(w.Store.pods) == 3 }, time.Minute)
		for _, name := range slices.Sorted(maps.Keys(w.Store.pods)) {
			must(w.Store.EvictPod(name))
		}
	}}
}

// successPolicyCase: index 0 succeeds, and the others need not.
func successPolicyCase() randomCase {
	spec := indexedSpec(3, 3)
	spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	return randomCase{spec: spec, script: Script{
		{Index: -1, Act: Act{Run: Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
		{Index: 0, Act: Act{Run: 5 * time.Second}},
	}}
}

func (w *World) edit(change func(*batchv1.JobSpec)) {
	if _, err := w.Store.EditJob("a", func(job *batchv1.Job) { change(&job.Spec) }); err != nil {
		panic(err)
	}
}

// run lets the case happen and returns the outcome.
func (c randomCase) run(t *testing.T, seed uint64, fault func(Call) Fault) (outcome string) {
	t.Helper()
	w := newChecked(Options{Seed: seed, Fault: fault})
	if err := w.CreateJob("a", *c.spec.DeepCopy(), c.script); err != nil {
		t.Fatal(err)
	}
	if c.meanwhile != nil {
		w.after(time.Second, func() { c.meanwhile(w) })
	}
	finished := w.RunUntil(func() bool { return w.Finished("a") }, 20*time.Minute)
	problems := w.checker().Violations
	if !finished {
		problems = append(problems, "L1: not finished")
	}
	if err := w.Settle(time.Hour); err != nil {
		problems = append(problems, "L3: "+err.Error())
	}
	if len(problems) > 0 {
		t.Fatalf("seed %d:\n%s\n\n%s", seed, strings.Join(problems, "\n"), w.Trace())
	}
	job := w.Store.Job("a")
	if c.race {
		job.Status.Failed = 0
	}
	return outcomeOf(job)
}

// TestInvariantsHoldUnderRandomFaults runs every case under many seeds, where one call in sixteen
// goes wrong in some way.
func TestInvariantsHoldUnderRandomFaults(t *testing.T) {
	seeds := fewerSeeds(40)
	for name, c := range randomCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.run(t, 1, nil)
			for seed := range seeds {
				if got := c.run(t, seed, randomFaults(seed)); got != want {
					t.Errorf("seed %d: got %s, want %s", seed, got, want)
				}
			}
		})
	}
}

// randomFaults lets one call in sixteen go wrong.
func randomFaults(seed uint64) func(Call) Fault {
	state := seed*2654435761 + 1
	return func(Call) Fault {
		state = state*6364136223846793005 + 1442695040888963407
		if state>>60 != 0 {
			return Fault{}
		}
		return Fault{Kind: FaultKind(state>>56&3) + 1}
	}
}
