package analysis_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// noon is the current time in tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ago returns the time d before noon.
func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// jobWith returns the Job ns/train, an hour old, with the API server's defaults and a change.
func jobWith(change func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "job-uid", CreationTimestamp: ago(time.Hour)},
		Spec: batchv1.JobSpec{
			Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](6),
			CompletionMode: ptr.To(batchv1.NonIndexedCompletion),
		},
		Status: batchv1.JobStatus{StartTime: ptr.To(ago(time.Hour)), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}},
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "train:1"}}}
	if change != nil {
		change(job)
	}
	return job
}

// indexedJob returns a Job with completions indexes and backoffLimitPerIndex 3.
func indexedJob(completions int32, change func(*batchv1.Job)) *batchv1.Job {
	return jobWith(func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), &completions
		j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes = ptr.To[int32](3), ptr.To("")
		if change != nil {
			change(j)
		}
	})
}

// condition adds a condition that has been True for d.
func condition(j *batchv1.Job, t batchv1.JobConditionType, reason, message string, d time.Duration) {
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: ago(d),
	})
}

// ended makes the Job fail with a reason and a message.
func ended(j *batchv1.Job, reason, message string) {
	condition(j, batchv1.JobFailureTarget, reason, message, 10*time.Minute)
	condition(j, batchv1.JobFailed, reason, message, 9*time.Minute)
}

// rules returns a podFailurePolicy of n rules: rule i is FailJob on exit code i+1.
func rules(n int) *batchv1.PodFailurePolicy {
	policy := &batchv1.PodFailurePolicy{}
	for i := range n {
		policy.Rules = append(policy.Rules, batchv1.PodFailurePolicyRule{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{int32(i + 1)},
			},
		})
	}
	return policy
}

// podOf returns a pod of train that has been running on node-1 for half an hour, with a change.
func podOf(name string, change func(*corev1.Pod)) *input.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: ago(30 * time.Minute),
			Finalizers: []string{batchv1.JobTrackingFinalizer},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "train:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if change != nil {
		change(pod)
	}
	return input.PodOf(pod)
}

// exits ends the pod's container d ago. The failure is counted: the finalizer has been removed.
func exits(code int32, reason string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers = nil
		p.Status.Phase = corev1.PodFailed
		if code == 0 {
			p.Status.Phase = corev1.PodSucceeded
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: ago(d + time.Minute), FinishedAt: ago(d)},
		}}}
	}
}

// onIndex sets the pod's completion index and attempt.
func onIndex(index, attempt int32, change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if change != nil {
			change(p)
		}
		p.Annotations = map[string]string{
			batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), "batchjob.dev/attempt": fmt.Sprint(attempt),
			batchv1.JobIndexFailureCountAnnotation: fmt.Sprint(attempt - 1),
		}
	}
}

// jobEvent returns a warning about the Job, last seen d ago.
func jobEvent(reason, message string, count int32, d time.Duration) input.Event {
	return input.Event{Type: "Warning", Reason: reason, Message: message, Count: count, First: noon.Add(-d - time.Minute), Last: noon.Add(-d)}
}

// failedEvent returns our controller's event about count pods with this failure.
func failedEvent(failure cause.Failure, pod string, count int32, d time.Duration) input.Event {
	r := cause.Record{Cause: cause.Cause{Failure: failure, Rule: failurepolicy.NoRule}, Pod: pod}
	e := jobEvent("PodFailed", r.Message(), count, d)
	e.Failed = &r
	return e
}

// Failures of pods.
var (
	exit7      = cause.Exit{Container: "main", ExitCode: 7}
	deletedPod = cause.Failure{DeletedRunning: true}
	// deletedAfterExit7 is the failure of a pod that was restarted and then deleted.
	deletedAfterExit7 = cause.Failure{DeletedRunning: true, Restarted: exit7}
)

func exited(code int32) cause.Failure {
	return cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: code}}
}

// killed returns the failure of a container that ended while its pod was being deleted.
func killed(code int32) cause.Failure {
	f := exited(code)
	f.Deleting = true
	return f
}

// factsOf returns an input that consists of a Job and all its pods.
func factsOf(job *batchv1.Job, pods ...*input.Pod) input.Input {
	return input.Input{Now: noon, OurName: recorded.OurName, Job: job, PodsRead: true, EventsRead: true, Pods: pods}
}

func report(f input.Input) explain.Report { return analysis.Explain(f, explain.Options{}) }

// problem returns the problem of a kind, and fails without one.
func problem(t *testing.T, r explain.Report, kind explain.ProblemKind) explain.Problem {
	t.Helper()
	for _, p := range r.Problems {
		if p.Kind == kind {
			return p
		}
	}
	t.Fatalf("no problem %s in %+v", kind, r.Problems)
	return explain.Problem{}
}

func hasProblem(r explain.Report, kind explain.ProblemKind) bool {
	for _, p := range r.Problems {
		if p.Kind == kind {
			return true
		}
	}
	return false
}
