package sim_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// A shorter grace period counts from the first deletion request, but the deletion time is never in the past (FID-02).
func TestShorterGracePeriodDoesNotEndInThePast(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		after     time.Duration
		requested int64
		gone      time.Duration
		grace     int64
	}{
		{after: 100 * time.Second, requested: 700, gone: 600 * time.Second, grace: 600},
		{after: 100 * time.Second, requested: 120, gone: 120 * time.Second, grace: 120},
		{after: 100 * time.Second, requested: 60, gone: 100 * time.Second, grace: 1},
		{after: 60500 * time.Millisecond, requested: 60, gone: 60 * time.Second, grace: 1},
		{after: 100 * time.Second, requested: -1, gone: 100 * time.Second, grace: 1},
		{after: 100 * time.Second, requested: 0, gone: 100 * time.Second, grace: 0},
	} {
		now := start
		store := sim.NewStore(func() time.Time { return now }, func(sim.Commit) {})
		_, err := store.CreatePod(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"example.com/a"}},
			Spec:       corev1.PodSpec{NodeName: "node", TerminationGracePeriodSeconds: ptr.To[int64](600)},
		})
		scenario.Must(err)
		_, err = store.DeletePod("a", "")
		scenario.Must(err)
		now = now.Add(test.after)
		pod, err := store.DeletePodWith("a", metav1.DeleteOptions{GracePeriodSeconds: &test.requested})
		scenario.Must(err)
		if gone, grace := pod.DeletionTimestamp.Sub(start), *pod.DeletionGracePeriodSeconds; gone != test.gone || grace != test.grace {
			t.Errorf("%v after a deletion with 600 s, one with %d s: gone after %v, grace period %d s; want %v, %d s",
				test.after, test.requested, gone, grace, test.gone, test.grace)
		}
	}
}
