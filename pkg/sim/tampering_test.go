package sim_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// tamperedJob is a Job that is run repeatedly, each time with other changes by a client.
type tamperedJob struct {
	spec   batchv1.JobSpec
	script sim.Script
}

func tamperedJobs() map[string]tamperedJob {
	runs := sim.Script{{Index: -1, Act: sim.Act{Run: 2 * time.Second}}}
	firstFails := append(runs[:1:1], sim.Scene{Index: -1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}})
	oneFails := append(runs[:1:1], sim.Scene{Index: 1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}})
	failing := scenario.IndexedSpec(4, 4)
	failing.BackoffLimit = ptr.To[int32](0)
	return map[string]tamperedJob{
		"per index": perIndexCase(), "rules": rulesCase(), "success policy": successPolicyCase(),
		"indexed":     {spec: scenario.IndexedSpec(3, 2), script: runs},
		"non-indexed": {spec: scenario.NonIndexedSpec(3, 2, 6), script: runs},
		"retry":       {spec: scenario.IndexedSpec(3, 3), script: oneFails},
		"limit":       {spec: scenario.NonIndexedSpec(1, 1, 0), script: firstFails},
		"failing": {spec: failing, script: sim.Script{
			{Index: -1, Act: sim.Act{Run: sim.Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
			{Index: 0, Act: sim.Act{Run: time.Second, Exit: 1}},
		}},
		"stops slowly": {
			spec:   scenario.NonIndexedSpec(4, 4, 0),
			script: sim.Script{{Index: -1, Act: sim.Act{Run: 3 * time.Second, Terminate: time.Second, TerminateExit: 143}}},
		},
	}
}

// perIndexCase: index 0 fails once, index 1 once too often.
func perIndexCase() tamperedJob {
	spec := scenario.IndexedSpec(4, 2)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	return tamperedJob{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: 2 * time.Second}},
		{Index: 0, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}},
		{Index: 1, Act: sim.Act{Run: time.Second, Exit: 1}},
	}}
}

// rulesCase: index 0 has an ignored failure, then a counted one; a failure of index 1 fails the index.
func rulesCase() tamperedJob {
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
	return tamperedJob{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: 30 * time.Second, Terminate: time.Second, TerminateExit: 143}},
		{Index: 0, Attempt: 2, Act: sim.Act{Run: time.Second, Exit: 42}},
		{Index: 0, Attempt: 3, Act: sim.Act{Run: time.Second, Exit: 1}},
		{Index: 1, Attempt: 2, Act: sim.Act{Run: time.Second, Exit: 43}},
	}}
}

// successPolicyCase: only index 0 has to succeed.
func successPolicyCase() tamperedJob {
	spec := scenario.IndexedSpec(3, 3)
	spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	return tamperedJob{spec: spec, script: sim.Script{
		{Index: -1, Act: sim.Act{Run: sim.Forever, Terminate: 2 * time.Second, TerminateExit: 143}},
		{Index: 0, Act: sim.Act{Run: 5 * time.Second}},
	}}
}

// TestTamperingBreaksNothingElse runs these Jobs while a user with all rights tampers with pods and Jobs:
// there is no panic, only invariants that the user violates directly are broken, and the Job ends, unless the user
// makes a pod run forever.
// Requirements: REG-33
func TestTamperingBreaksNothingElse(t *testing.T) {
	for name, c := range tamperedJobs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range scenario.FewerSeeds(40 * *manySeeds) {
				w := checker.NewWorld(sim.Options{Seed: seed})
				scenario.Must(w.CreateJob("a", *c.spec.DeepCopy(), c.script))
				scenario.Tamper(w, seed, 1+int(seed%8))
				// Tampering in the last moment is undone five seconds later.
				w.RunUntil(func() bool { return w.Elapsed() > 65*time.Second && w.Finished("a") }, 20*time.Minute)
				problems := w.Checker.Violations
				if !w.Finished("a") && w.Store.Job("a").Status.Active == 0 {
					problems = append(problems, "L1: not finished")
				}
				if err := w.Settle(time.Hour); err != nil {
					problems = append(problems, "L3: "+err.Error())
				}
				if len(problems) > 0 {
					t.Fatalf("seed %d:\n%s\n\n%s", seed, strings.Join(problems, "\n"), w.Trace())
				}
			}
		})
	}
}
