package sim_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// heldFailures returns the failed pods with the tracking finalizer.
func heldFailures(l *loaded) (held []*corev1.Pod) {
	for _, pod := range l.Store.PodsOf(l.Store.Jobs()[l.jobs[0]].UID) {
		if pod.Status.Phase == corev1.PodFailed && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			held = append(held, pod)
		}
	}
	return held
}

// watchFailures makes indexes fail repeatedly, and looks twice a second. It returns the maximum number of failed pods
// with a finalizer at once, and the longest time they kept it beyond the back-off of their index.
func watchFailures(t *testing.T, indexes, retries int32) (most int, longest time.Duration) {
	l := newLoaded(t, sim.Options{})
	spec := scenario.IndexedSpec(indexes, indexes)
	spec.BackoffLimitPerIndex, spec.BackoffLimit = &retries, ptr.To[int32](1<<30)
	l.add(1, func(int) batchv1.JobSpec { return spec }, sim.Script{{Index: -1, Act: sim.Act{Run: time.Second, Exit: 1}}})
	base, limit := l.Controller.Limits.Backoff.Base, l.Controller.Limits.Backoff.Max
	for begun := l.Now(); !l.Finished(l.jobs[0]); {
		l.RunUntil(func() bool { return false }, time.Second/2)
		if n := l.did("create", "pods"); n > int(indexes*(retries+1)) || l.Now().Sub(begun) > time.Hour {
			t.Fatalf("the Job does not end; it has had %d pods", n)
		}
		held := heldFailures(l)
		most = max(most, len(held))
		for _, pod := range held {
			failures, err := strconv.Atoi(pod.Annotations[batchv1.JobIndexFailureCountAnnotation])
			assert.NoError(t, err)
			ended := pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time
			longest = max(longest, l.Now().Sub(ended)-min(base<<failures, limit))
		}
	}
	if n := len(heldFailures(l)); n > 0 {
		t.Errorf("the Job has ended, and %d failed pods hold their finalizer", n)
	}
	return most, longest
}

// SCL-14: a failed pod whose index is retried keeps its finalizer until the next pod exists, one back-off period later;
// there is at most one such pod per index, however often the index fails.
func TestHeldFailuresAreBounded(t *testing.T) {
	for _, retries := range []int32{1, 6} {
		most, longest := watchFailures(t, 20, retries)
		assert.Equalf(t, most, 20, "%d retries: failed pods that hold their finalizer at once", retries)
		if longest > 3*time.Second {
			t.Errorf("%d retries: a failed pod keeps its finalizer %v longer than its index waits", retries, longest)
		}
	}
}
