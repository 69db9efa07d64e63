package sim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// TestOnlyTheUnknownIsExcused: in a Job without completions, a process may create a pod after a success that its
// watch had not delivered when it planned the creation, but not after a success that it knew.
// Requirements: JOB-03
func TestOnlyTheUnknownIsExcused(t *testing.T) {
	w := checker.NewWorld(sim.Options{Seed: 1})
	script := sim.Script{{Index: -1, Act: sim.Act{Run: sim.Forever}}, {Index: -1, Nth: 1, Act: sim.Act{Run: time.Second}}}
	scenario.Must(w.CreateJob("a", batchv1.JobSpec{Parallelism: ptr.To[int32](2)}, script))
	w.RunUntil(func() bool {
		return slices.ContainsFunc(w.Store.PodsOf(w.Store.Job("a").UID), func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	}, time.Minute)
	p := w.Processes()[0]
	create := func() {
		old := w.Store.PodsOf(w.Store.Job("a").UID)[0]
		meta := metav1.ObjectMeta{
			GenerateName: old.GenerateName, Namespace: old.Namespace, Labels: old.Labels, Annotations: old.Annotations,
			OwnerReferences: old.OwnerReferences, Finalizers: []string{batchv1.JobTrackingFinalizer},
		}
		p.Write(func() {
			_, err := w.Store.CreatePod(&corev1.Pod{ObjectMeta: meta, Spec: old.Spec})
			scenario.Must(err)
		})
	}
	if create(); len(w.Checker.Violations) > 0 {
		t.Errorf("before the success is known: %v", w.Checker.Violations)
	}
	w.RunUntil(func() bool { return w.Store.Job("a").Status.Succeeded == 1 }, time.Minute)
	if create(); len(w.Checker.Violations) != 1 || !strings.Contains(w.Checker.Violations[0], "S5") {
		t.Errorf("after it: %v", w.Checker.Violations)
	}
}

// TestEachStageKnowsMore_S9: the knowledge of a process is recorded for each stage of a sync, not only at its
// beginning.
func TestEachStageKnowsMore_S9(t *testing.T) {
	w := checker.NewWorld(sim.Options{Seed: 1, Latency: 100 * time.Millisecond})
	knew := map[string]int64{}
	w.Fault = func(c sim.Call) sim.Fault {
		if _, is := knew[c.Verb]; !is {
			knew[c.Verb] = sim.KnownPods(w.World)
		}
		return sim.Fault{}
	}
	scenario.Must(w.CreateJob("a", batchv1.JobSpec{Parallelism: ptr.To[int32](1)}, nil))
	w.RunUntil(func() bool { return w.Store.Job("a").Status.Active == 1 }, time.Minute)
	if create, status := knew["create"], knew["status"]; status <= create {
		t.Errorf("created with version %d, wrote the status with %d", create, status)
	}
}
