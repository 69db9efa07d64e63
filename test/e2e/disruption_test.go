package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func evict(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	err := client.CoreV1().Pods(pod.Namespace).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if err != nil {
		t.Fatal(err)
	}
}

// Pods of a Job with podReplacementPolicy Failed are deleted and evicted, with any grace
// period. The verdict of the run holds that no index ever has two pods that have not
// ended, and that parallelism is never exceeded; here the Job gets there.
//
// One pod of every third index is disturbed, as soon as it runs. The others let the Job
// go on: a success ends the back-off after a failure.
func TestDisturbedJobStaysWithinParallelism_PRP_24(t *testing.T) {
	t.Parallel()
	const completions, parallelism, victims = 40, 4, 12
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	ns := namespace(t)
	annotations := map[string]string{"termination-time": "600ms"}
	for i := range completions {
		annotations[fmt.Sprintf("run-time.%d", i)] = fmt.Sprintf("%dms", 200+dice.IntN(800))
		if i%3 == 0 && i/3 < victims {
			annotations[fmt.Sprintf("run-time.%d.1", i)] = "4s"
		}
	}
	create(t, ns, indexedJob(completions, parallelism, annotations, func(s *batchv1.JobSpec) {
		s.PodReplacementPolicy, s.BackoffLimit = ptr.To(batchv1.Failed), ptr.To[int32](100)
	}))
	disturbed := map[int32]bool{}
	past.until(t, "the end of the Job", func() bool {
		for _, pod := range past.pods(ns, "job") {
			if i := indexOf(pod); i%3 == 0 && i/3 < victims && isRunning(pod) && !disturbed[i] {
				disturbed[i] = true
				disturb(t, dice, pod)
			}
		}
		return slices.ContainsFunc(past.job(ns, "job"), isFinished)
	})
	untilReleased(t, ns, "job")
	failed := 0
	for _, pod := range past.pods(ns, "job") {
		if pod.Status.Phase == corev1.PodFailed {
			failed++
		}
	}
	untilEnd(t, ns, "job", complete(reached, completionsReached, completions, int32(failed), "0-39", completions+failed))
	if failed < victims/2 {
		t.Errorf("%d pods failed of %d that were disturbed: too few to tell anything", failed, len(disturbed))
	}
}

// disturb evicts or deletes a pod.
func disturb(t *testing.T, dice *rand.Rand, pod *corev1.Pod) {
	t.Helper()
	if grace := []int64{-1, 0, 1, 30}[dice.IntN(4)]; grace >= 0 {
		deletePod(t, pod, grace)
		return
	}
	evict(t, pod)
}
