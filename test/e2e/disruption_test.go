package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func evict(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	err := client.CoreV1().Pods(pod.Namespace).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if err != nil {
		t.Fatal(err)
	}
}

func ignoreDisruptions(s *batchv1.JobSpec) {
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

// All three pods are evicted once: more than backoffLimit allows, and the Job continues.
// backoffLimitPerIndex 0 keeps the back-off short, as each index has its own, and would
// fail an index at its first failure that counts.
func TestJobSurvivesTheEvictionOfAllPods_PFP_15(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexedJob(3, 3, map[string]string{"run-time.x.1": "1h", "run-time": "1s"}, func(s *batchv1.JobSpec) {
		ignoreDisruptions(s)
		s.BackoffLimit, s.BackoffLimitPerIndex = ptr.To[int32](2), ptr.To[int32](0)
	}))
	for _, pod := range untilRunning(t, ns, "job", 3) {
		evict(t, pod)
	}
	untilEnd(t, ns, "job", complete(reached, completionsReached, 3, 0, "0-2", 6).withFailedIndexes(""))
	wantDisrupted(t, ns, "job", "EvictionByEvictionAPI", 3)
	for _, pod := range past.pods(ns, "job")[3:] {
		a := pod.Annotations
		if counted, ignored := a[batchv1.JobIndexFailureCountAnnotation], a[batchv1.JobIndexIgnoredFailureCountAnnotation]; counted != "0" || ignored != "1" {
			t.Errorf("pod %s comes after %q failures and %q ignored ones", pod.Name, counted, ignored)
		}
	}
}

// The node of a pod vanishes, and the pod is deleted: it does not end, and with
// podReplacementPolicy Failed gets no successor. The controller does not force the end;
// it continues when the garbage collector for pods has marked the pod as failed.
func TestPodOfAVanishedNodeIsNotReplaced_PRP_23(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "vanishing-" + ns, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, ns, indexedJob(1, 1, map[string]string{"run-time": "1h", "termination-time": "1h"}, func(s *batchv1.JobSpec) {
		s.PodReplacementPolicy, s.Template.Spec.NodeName = ptr.To(batchv1.Failed), node.Name
	}))
	pod := untilRunning(t, ns, "job", 1)[0]
	if err := client.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	deletePod(t, pod, 30)
	untilCounts(t, ns, "job", counts{terminating: 1})

	// More syncs, and the whole life of another Job meanwhile, change nothing.
	patchJob(t, ns, "job", `{"spec":{"backoffLimit":7}}`)
	apply(t, ns, "stories/kep-4443-story-1-the-reason-names-the-exit-code.yaml")
	finished(t, ns, "training-workers-0")
	stuck, err := client.CoreV1().Pods(ns).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if stuck.UID != pod.UID || stuck.Status.Phase != corev1.PodRunning || !isTracked(stuck) || ptr.Deref(stuck.DeletionGracePeriodSeconds, -1) != 30 {
		t.Errorf("the pod has phase %s, finalizers %v, a grace period of %d s", stuck.Status.Phase, stuck.Finalizers, ptr.Deref(stuck.DeletionGracePeriodSeconds, -1))
	}
	for _, f := range stuck.ManagedFields {
		if f.Subresource == "status" && f.Manager == "kubectl-batchjob-controller" {
			t.Error("the controller has written the status of a pod")
		}
	}
	if got := past.pods(ns, "job"); len(got) != 1 {
		t.Errorf("%d pods, want no replacement", len(got))
	}
	out := kubectlBatchjob(t, "status", "job", "--kubeconfig", kubeconfig, "-n", ns, "--no-headers")
	if f := strings.Fields(out.Out); out.Code != 0 || len(f) < 6 || f[1] != "Running" && f[1] != "Terminating" || f[3] != "0" || f[5] != "1" {
		t.Errorf("the CLI says %+v, want one terminating pod", out)
	}

	// What the garbage collector does for a pod without a node after a minute.
	patch, err := json.Marshal(corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC",
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(ns).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	untilCounts(t, ns, "job", counts{active: 1, failed: 1})
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
