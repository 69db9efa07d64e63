package sim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// randomCase is a Job that is run repeatedly, each time with other faults.
type randomCase struct {
	spec   batchv1.JobSpec
	script sim.Script
	// meanwhile is called one second after the start.
	meanwhile func(w *checker.World)
	// race reports whether the number of failed pods depends on how many were created before the Job's failure was
	// certain.
	race bool
}

func randomCases() map[string]randomCase {
	runs := sim.Script{{Index: -1, Act: sim.Act{Run: 2 * time.Second}}}
	firstFails := append(runs[:1:1], sim.Scene{Index: -1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}})
	oneFails := append(runs[:1:1], sim.Scene{Index: 1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}})
	failing := scenario.IndexedSpec(4, 4)
	failing.BackoffLimit = ptr.To[int32](0)
	return map[string]randomCase{
		"per index": perIndexCase(), "rules": rulesCase(), "success policy": successPolicyCase(),
		"indexed":     {spec: scenario.IndexedSpec(3, 2), script: runs},
		"non-indexed": {spec: scenario.NonIndexedSpec(3, 2, 6), script: runs},
		"retry":       {spec: scenario.IndexedSpec(3, 3), script: oneFails},
		"limit":       {spec: scenario.NonIndexedSpec(1, 1, 0), script: firstFails},
		"failing": {spec: failing, script: sim.Script{
			{Index: -1, Act: sim.Act{Run: sim.Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
			{Index: 0, Act: sim.Act{Run: time.Second, Exit: 1}},
		}, race: true},
		"scale-down": {spec: scenario.NonIndexedSpec(4, 4, 0), script: sim.Script{{Index: -1, Act: sim.Act{Run: 3 * time.Second, Terminate: time.Second, TerminateExit: 143}}}, meanwhile: func(w *checker.World) {
			w.Edit(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](1) })
		}},
		"suspend": {spec: scenario.NonIndexedSpec(2, 2, 0), script: sim.Script{{Index: -1, Act: sim.Act{Run: 3 * time.Second, Terminate: time.Second, TerminateExit: 143}}}, meanwhile: func(w *checker.World) {
			w.Edit(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
			w.After(5*time.Second, func() { w.Edit(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(false) }) })
		}},
	}
}

// perIndexCase: index 0 fails once, index 1 once too often.
func perIndexCase() randomCase {
	spec := scenario.IndexedSpec(4, 2)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	return randomCase{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: 2 * time.Second}},
		{Index: 0, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}},
		{Index: 1, Act: sim.Act{Run: time.Second, Exit: 1}},
	}}
}

// rulesCase: index 0 has an ignored failure, then a counted one; a failure of index 1 fails the index. One second after
// the start, all pods are evicted.
func rulesCase() randomCase {
	spec := scenario.IndexedSpec(3, 3)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	exit := func(action batchv1.PodFailurePolicyAction, code int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		}}
	}
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		exit(batchv1.PodFailurePolicyActionIgnore, 42), exit(batchv1.PodFailurePolicyActionFailIndex, 43),
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}}},
	}}
	return randomCase{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: 30 * time.Second, Terminate: time.Second, TerminateExit: 143}},
		{Index: 0, Attempt: 2, Act: sim.Act{Run: time.Second, Exit: 42}},
		{Index: 0, Attempt: 3, Act: sim.Act{Run: time.Second, Exit: 1}},
		{Index: 1, Attempt: 2, Act: sim.Act{Run: time.Second, Exit: 43}},
	}, meanwhile: func(w *checker.World) {
		w.RunUntil(func() bool { return len(w.Store.Pods()) == 3 }, time.Minute)
		for _, name := range slices.Sorted(maps.Keys(w.Store.Pods())) {
			scenario.Must(w.Store.EvictPod(name))
		}
	}}
}

// successPolicyCase: only index 0 has to succeed.
func successPolicyCase() randomCase {
	spec := scenario.IndexedSpec(3, 3)
	spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	return randomCase{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: sim.Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
		{Index: 0, Act: sim.Act{Run: 5 * time.Second}},
	}}
}

// run runs the case and returns the outcome.
func (c randomCase) run(t *testing.T, seed uint64, fault func(sim.Call) sim.Fault) (outcome string) {
	t.Helper()
	w := checker.NewWorld(sim.Options{Seed: seed, Fault: fault})
	assert.NoError(t, w.CreateJob("a", *c.spec.DeepCopy(), c.script))
	if c.meanwhile != nil {
		w.After(time.Second, func() { c.meanwhile(w) })
	}
	finished := w.RunUntil(func() bool { return w.Finished("a") }, 20*time.Minute)
	problems := w.Checker.Violations
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
	return scenario.OutcomeOf(job)
}

// TestInvariantsHoldUnderRandomFaults runs every case with many seeds; one call in sixteen has a fault.
func TestInvariantsHoldUnderRandomFaults(t *testing.T) {
	seeds := scenario.FewerSeeds(40)
	for name, c := range randomCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.run(t, 1, nil)
			for seed := range seeds {
				assert.Equalf(t, c.run(t, seed, randomFaults(seed)), want, "seed %d", seed)
			}
		})
	}
}

// randomFaults returns a fault for one call in sixteen.
func randomFaults(seed uint64) func(sim.Call) sim.Fault {
	state := seed*2654435761 + 1
	return func(sim.Call) sim.Fault {
		state = state*6364136223846793005 + 1442695040888963407
		if state>>60 != 0 {
			return sim.Fault{}
		}
		return sim.Fault{Kind: sim.FaultKind(state>>56&3) + 1}
	}
}
