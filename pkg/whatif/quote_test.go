package whatif_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// ran returns the data about a finished Job whose pods followed the script.
func ran(t testing.TB, spec batchv1.JobSpec, script sim.Script) input.Input {
	t.Helper()
	s := &story{pods: map[string]*corev1.Pod{}}
	s.world = sim.NewWorld(sim.Options{Seed: 1, OnCommit: s.committed})
	job := &batchv1.Job{Spec: spec}
	job.Name = "storm"
	assert.NoError(t, s.world.Play(job, script))
	if !s.world.RunUntil(func() bool { return s.world.Finished("storm") }, 24*time.Hour) {
		t.Fatal("it does not finish")
	}
	return s.watched()
}

// quotes returns the quotes in the advice on a Job.
func quotes(t *testing.T, in input.Input) (texts []string) {
	t.Helper()
	r := analysis.Explain(in, explain.Options{})
	whatif.Quote(t.Context(), in, r.Advice)
	for _, a := range r.Advice {
		if a.WhatIf != nil {
			texts = append(texts, a.WhatIf.Text)
		}
	}
	return texts
}

func indexed(completions, parallelism int32) batchv1.JobSpec {
	return batchv1.JobSpec{CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: &completions, Parallelism: &parallelism, BackoffLimit: ptr.To[int32](6)}
}

// Advice on a policy says what it would have changed.
// Requirements: WIF-01
func TestAdviceQuotesTheEffectOfAPolicy(t *testing.T) {
	runs := func(d time.Duration) sim.Act { return sim.Act{Run: d, TerminateExit: 143} }
	fails := sim.Act{Run: 2 * time.Minute, Exit: 42}
	late := indexed(10, 1)
	late.ActiveDeadlineSeconds = ptr.To[int64](580)
	evicted := indexed(4, 4)
	evicted.BackoffLimit = ptr.To[int32](0)
	disrupted := sim.Act{Run: time.Minute, Exit: 143, Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}}
	for _, tc := range []struct {
		name   string
		spec   batchv1.JobSpec
		script sim.Script
		want   string
	}{
		{
			"an exit code", indexed(1, 1),
			sim.Script{{Index: -1, Act: fails}},
			"with a FailJob rule on exit code 42, this Job would have failed after 2m instead of 24m30s and saved 12m2s of pod time",
		},
		{
			"a deadline", late,
			sim.Script{{Index: -1, Act: runs(time.Minute)}},
			"with activeDeadlineSeconds 1160, this Job would have completed after 10m instead of failing after 9m40s (1 of 10 pods estimated)",
		},
		{
			"a disruption", evicted,
			sim.Script{{Index: -1, Act: runs(50 * time.Second)}, {Index: 3, Attempt: 1, Act: disrupted}},
			"with an Ignore rule on DisruptionTarget, this Job would have completed after 2m instead of failing after 1m (1 of 5 pods estimated)",
		},
	} {
		if got := quotes(t, ran(t, tc.spec, tc.script)); len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// There is no quote if too little is known, if the replay would take too long, or if there is no gain.
// Requirements: WIF-02
func TestNothingIsQuotedThatIsNotKnown(t *testing.T) {
	fails := sim.Script{{Index: -1, Act: sim.Act{Run: time.Minute, Exit: 42}}}
	in := ran(t, indexed(1, 1), fails)
	for name, change := range map[string]func(*input.Input){
		"pods are gone":         func(in *input.Input) { in.Pods, in.Events = in.Pods[1:], nil },
		"pods were not read":    func(in *input.Input) { in.PodsRead = false },
		"it has not finished":   func(in *input.Input) { in.Job.Status.Conditions = nil },
		"its counts are others": func(in *input.Input) { in.Job.Status.Failed = 9 },
		"it has many pods": func(in *input.Input) {
			for i := range 1000 {
				pod := in.Pods[0]
				pod.Name = fmt.Sprint("pod-", i)
				in.Pods = append(in.Pods, pod)
			}
		},
	} {
		other := in
		other.Job = in.Job.DeepCopy()
		change(&other)
		if got := quotes(t, other); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	// Most pods were stopped.
	short := indexed(4, 4)
	short.ActiveDeadlineSeconds = ptr.To[int64](30)
	if got := quotes(t, ran(t, short, sim.Script{{Index: -1, Act: sim.Act{Run: time.Hour, TerminateExit: 143}}, {Index: 0, Act: sim.Act{Run: time.Second}}})); len(got) > 0 {
		t.Errorf("estimates: %q", got)
	}
}

// Requirements: CLI-42. A policy is advised for what it saves: at least ten minutes, or a tenth, of the pod time.
func TestPolicyIsQuotedIfItSavesEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		// Nine indexes run for works each; then the last fails after fails, seven times; a rule would avoid six of
		// these failures.
		works, fails time.Duration
		want         bool
	}{
		"a ninth, less than ten minutes":           {5 * time.Minute, time.Minute, true},
		"a twelfth, less than ten minutes":         {7 * time.Minute, time.Minute, false},
		"more than ten minutes, less than a tenth": {time.Hour, 101 * time.Second, true},
		"nearly ten minutes, less than a tenth":    {time.Hour, 99 * time.Second, false},
	} {
		in := ran(t, indexed(10, 1), sim.Script{{Index: -1, Act: sim.Act{Run: tc.works}}, {Index: 9, Act: sim.Act{Run: tc.fails, Exit: 42}}})
		assert.Equal(t, len(quotes(t, in)) > 0, tc.want, name)
	}
}

// The largest Job with a quote costs a fraction of a second, and a Job that never ends costs no more.
func BenchmarkQuote(b *testing.B) {
	spec := indexed(400, 400)
	fails := sim.Script{{Index: -1, Act: sim.Act{Run: time.Minute}}, {Index: 7, Act: sim.Act{Run: time.Minute, Exit: 42}}}
	in := ran(b, spec, fails)
	for b.Loop() {
		r := analysis.Explain(in, explain.Options{})
		whatif.Quote(b.Context(), in, r.Advice)
	}
}
