package whatif_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// A large Job is replayed: every hundredth index failed once, and index 7 failed permanently.
func TestLargeJobIsReplayed(t *testing.T) {
	if differences := replayed(t, largeJob(3000)); len(differences) > 0 {
		t.Errorf("%q", differences)
	}
}

// A large Job of which most pods are gone is replayed to its end.
// Requirements: WIF-05
func TestLargeJobWhosePodsAreGoneIsReplayed(t *testing.T) {
	in := largeJob(15_000)
	in.Pods = in.Pods[:500]
	h := whatif.Observe(in)
	r, err := h.Replay(t.Context(), h.Job, whatif.DefaultLimit)
	if err != nil || !r.Finished || r.GaveUp || r.Succeeded != 14_999 {
		t.Errorf("finished %v, gave up %v, %d succeeded, %v", r.Finished, r.GaveUp, r.Succeeded, err)
	}
}

// A replay with more pods than fit into memory ends, and reports that.
// Requirements: WIF-06
func TestReplayOfTooManyPodsGivesUp(t *testing.T) {
	in := largeJob(40_000)
	in.Pods = in.Pods[:500]
	h := whatif.Observe(in)
	r, err := h.Replay(t.Context(), h.Job, whatif.DefaultLimit)
	if err != nil || r.Finished || !r.GaveUp || r.PodsStarted < 16_000 || r.PodsStarted > 17_000 {
		t.Errorf("finished %v, gave up %v, %d pods, %v", r.Finished, r.GaveUp, r.PodsStarted, err)
	}
}

func largeJob(n int32) input.Input {
	begun := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	at := func(seconds int) metav1.Time { return metav1.NewTime(begun.Add(time.Duration(seconds) * time.Second)) }
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "large", CreationTimestamp: begun}}
	job.Spec = batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: &n, Parallelism: &n, BackoffLimitPerIndex: ptr.To[int32](1),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}}},
	}
	in := input.Input{Now: at(200).Time, Job: job, PodsRead: true, EventsRead: true}
	pod := func(index int32, attempt, created, ended int, code int32) {
		phase := corev1.PodSucceeded
		if code != 0 {
			phase = corev1.PodFailed
		}
		in.Pods = append(in.Pods, input.PodOf(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("large-%d-%d", index, attempt), CreationTimestamp: at(created), Annotations: map[string]string{
				batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), batchv1.JobIndexFailureCountAnnotation: fmt.Sprint(attempt - 1),
			}},
			Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: at(created), FinishedAt: at(ended)},
			}}}},
		}))
	}
	for index := range n {
		switch {
		case index == 7:
			pod(index, 1, 0, 30, 1)
			pod(index, 2, 40, 70, 1)
		case index%100 == 0:
			pod(index, 1, 0, 30, 1)
			pod(index, 2, 40, 70, 0)
		default:
			pod(index, 1, 0, 60, 0)
		}
	}
	failed := indexset.Of(7)
	job.Status = batchv1.JobStatus{
		Succeeded: n - 1, Failed: n/100 + 2, FailedIndexes: ptr.To(failed.String()), CompletedIndexes: indexset.Below(n).Difference(failed).String(),
	}
	for _, c := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonFailedIndexes, LastTransitionTime: at(70)})
	}
	return in
}
