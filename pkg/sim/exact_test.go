package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestOnlyTheUnknownIsExcused_JOB_03: in a Job without completions, a process may create a pod after a
// success that its watch had not delivered when it planned that, and not after one that it knows of.
func TestOnlyTheUnknownIsExcused_JOB_03(t *testing.T) {
	w := newChecked(Options{Seed: 1})
	script := Script{{Index: -1, Act: Act{Run: Forever}}, {Index: -1, Nth: 1, Act: Act{Run: time.Second}}}
	must(w.CreateJob("a", batchv1.JobSpec{Parallelism: ptr.To[int32](2)}, script))
	w.RunUntil(func() bool {
		return slices.ContainsFunc(w.Store.PodsOf(w.Store.Job("a").UID), func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	}, time.Minute)
	p := w.processes[0]
	create := func() {
		old := w.Store.PodsOf(w.Store.Job("a").UID)[0]
		meta := metav1.ObjectMeta{
			GenerateName: old.GenerateName, Namespace: old.Namespace, Labels: old.Labels, Annotations: old.Annotations,
			OwnerReferences: old.OwnerReferences, Finalizers: []string{batchv1.JobTrackingFinalizer},
		}
		w.Store.writer = writer{by: p.number, knew: knowledge{p, p.jobs.seen, p.pods.seen}}
		_, err := w.Store.CreatePod(&corev1.Pod{ObjectMeta: meta, Spec: old.Spec})
		must(err)
		w.Store.writer = writer{}
	}
	if create(); len(w.checker().Violations) > 0 {
		t.Errorf("before the success is known: %v", w.checker().Violations)
	}
	w.RunUntil(func() bool { return w.Store.Job("a").Status.Succeeded == 1 }, time.Minute)
	if create(); len(w.checker().Violations) != 1 || !strings.Contains(w.checker().Violations[0], "S5") {
		t.Errorf("after it: %v", w.checker().Violations)
	}
}

// TestEachStageKnowsMore_S9: what a process knows is noted for each stage of a sync, not only at its begin.
func TestEachStageKnowsMore_S9(t *testing.T) {
	w := newChecked(Options{Seed: 1, Latency: 100 * time.Millisecond})
	knew := map[string]knowledge{}
	w.Fault = func(c Call) Fault {
		if _, is := knew[c.Verb]; !is {
			knew[c.Verb] = w.current.knew
		}
		return Fault{}
	}
	must(w.CreateJob("a", batchv1.JobSpec{Parallelism: ptr.To[int32](1)}, nil))
	w.RunUntil(func() bool { return w.Store.Job("a").Status.Active == 1 }, time.Minute)
	if create, status := knew["create"], knew["status"]; status.pods <= create.pods {
		t.Errorf("created with %+v, wrote the status with %+v", create, status)
	}
}
