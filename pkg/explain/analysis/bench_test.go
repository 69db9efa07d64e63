package analysis_test

import (
	"fmt"
	"io"
	rand "math/rand/v2"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// huge returns a running Job of 10^5 indexes with 10^4 pods: one in four has failed, for one of four causes, and every
// second of the first 50,000 indexes has succeeded.
func huge() input.Input {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var completed []byte
	for i := 0; i < 50_000; i += 2 {
		completed = fmt.Appendf(completed, "%d,", i)
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "huge", UID: "job", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec: batchv1.JobSpec{
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](100_000), Parallelism: ptr.To[int32](10_000),
			BackoffLimit: ptr.To[int32](1 << 30), BackoffLimitPerIndex: ptr.To[int32](3),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:      batchv1.PodFailurePolicyActionCount,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1, 2}},
			}}},
		},
		Status: batchv1.JobStatus{
			StartTime: ptr.To(metav1.NewTime(now.Add(-time.Hour))), Active: 7_500, Succeeded: 25_000, Failed: 2_500,
			CompletedIndexes: string(completed[:len(completed)-1]), FailedIndexes: ptr.To(""),
			UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		},
	}
	f := input.Input{Now: now, Job: job, PodsRead: true, EventsRead: true}
	for i := range 10_000 {
		f.Pods = append(f.Pods, input.PodOf(hugePod(i, now)))
	}
	return f
}

func hugePod(i int, now time.Time) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("huge-%d-abcde", 50_000+i), UID: types.UID(fmt.Sprint("pod-", i)), CreationTimestamp: metav1.NewTime(now.Add(-time.Minute)),
			Finalizers:  []string{batchv1.JobTrackingFinalizer},
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(50_000 + i), batchv1.JobIndexFailureCountAnnotation: fmt.Sprint(i % 3)},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if i%4 == 0 {
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(1 + i%16/4), Reason: "Error", FinishedAt: metav1.NewTime(now.Add(-time.Second)),
		}}}}
	}
	return pod
}

// BenchmarkExplain measures an explanation of a Job of 10^5 indexes after its 10^4 pods have been read: as in the live view
// several times a second (all), with the pods in random order as from a cache (shuffled), and as printed by why
// (text).
func BenchmarkExplain(b *testing.B) {
	f := huge()
	shuffled := f
	shuffled.Pods = slices.Clone(f.Pods)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled.Pods), func(i, j int) {
		shuffled.Pods[i], shuffled.Pods[j] = shuffled.Pods[j], shuffled.Pods[i]
	})
	for _, bc := range []struct {
		name  string
		facts input.Input
		o     explain.Options
	}{
		{"all", f, explain.Options{MaxPods: -1}}, {"shuffled", shuffled, explain.Options{MaxPods: -1}},
		{"some", f, explain.Options{}}, {"index", f, explain.Options{Indexes: indexset.Of(50_000)}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = analysis.Explain(bc.facts, bc.o)
			}
		})
	}
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := text.Explanation(io.Discard, analysis.Explain(f, explain.Options{}), text.Options{Width: 100}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOutline measures a row of a list: of a typical Job, of a Job that a rule failed, and of a Job with a long list
// of failed indexes.
func BenchmarkOutline(b *testing.B) {
	usual := explaintest.IndexedJob(100, nil)
	byRule := explaintest.IndexedJob(100, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = explaintest.Rules(3)
		j.Annotations = map[string]string{rulename.Annotation: "1=OutOfMemory"}
		explaintest.FailJob(j, "PodFailurePolicy_OutOfMemory", "Container main for pod ns/train-0-abcde failed with exit code 2 matching FailJob rule at index 1")
	})
	long := huge().Job
	long.Status.FailedIndexes, long.Status.CompletedIndexes = ptr.To(long.Status.CompletedIndexes), ""
	for _, bc := range []struct {
		name string
		job  *batchv1.Job
	}{{"usual", usual}, {"rule", byRule}, {"long", long}} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = analysis.OutlineOf(bc.job, nil, explaintest.Noon)
			}
		})
	}
}

// BenchmarkPodOf measures the conversion of 10^4 pods.
func BenchmarkPodOf(b *testing.B) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := hugePod(0, now)
	for b.Loop() {
		for range 10_000 {
			_ = input.PodOf(pod)
		}
	}
}
