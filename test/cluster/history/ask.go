package history

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Condition returns the Job's condition of type t if its status is True, or nil.
func Condition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// Is reports whether a condition of the Job is True.
func Is(job *batchv1.Job, t batchv1.JobConditionType) bool { return Condition(job, t) != nil }

// IsFinished reports whether the Job is Complete or Failed.
func IsFinished(job *batchv1.Job) bool {
	return Is(job, batchv1.JobComplete) || Is(job, batchv1.JobFailed)
}

// IsDecided reports whether the Job has the interim condition of its end.
func IsDecided(job *batchv1.Job) bool {
	return Is(job, batchv1.JobFailureTarget) || Is(job, batchv1.JobSuccessCriteriaMet)
}

// IsIndexed reports whether the pods of the Job have completion indexes.
func IsIndexed(spec *batchv1.JobSpec) bool {
	return ptr.Deref(spec.CompletionMode, "") == batchv1.IndexedCompletion
}

// IsBuiltIn reports whether the controller of kube-controller-manager runs the Job.
func IsBuiltIn(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) == batchv1.JobControllerName
}

// UncountedFailed returns the UIDs of pods that are recorded as failed but not counted yet.
func UncountedFailed(status *batchv1.JobStatus) []types.UID {
	if u := status.UncountedTerminatedPods; u != nil {
		return u.Failed
	}
	return nil
}

// UncountedSucceeded returns the UIDs of pods that are recorded as succeeded but not counted yet.
func UncountedSucceeded(status *batchv1.JobStatus) []types.UID {
	if u := status.UncountedTerminatedPods; u != nil {
		return u.Succeeded
	}
	return nil
}

// HasEnded reports whether the pod has succeeded or failed.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsActive reports whether the pod is pending or running, and not being deleted.
func IsActive(pod *corev1.Pod) bool { return !HasEnded(pod) && pod.DeletionTimestamp == nil }

// IsRunning reports whether the pod is running, and not being deleted.
func IsRunning(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// IsTerminating reports whether the pod is being deleted and has not ended.
func IsTerminating(pod *corev1.Pod) bool { return !HasEnded(pod) && pod.DeletionTimestamp != nil }

// IsTracked reports whether the pod holds the finalizer of Job tracking.
func IsTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// IndexOf returns the pod's completion index, or -1.
func IndexOf(pod *corev1.Pod) int32 {
	i, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return -1
	}
	return int32(i)
}

// InRange reports whether a pod with this index can count for the Job: in an Indexed Job, it must be below completions.
func InRange(spec *batchv1.JobSpec, index int32) bool {
	return !IsIndexed(spec) || index >= 0 && index < ptr.Deref(spec.Completions, 0)
}

// JobOf returns the UID of the Job that controls the pod, or "".
func JobOf(pod *corev1.Pod) types.UID {
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
		return owner.UID
	}
	return ""
}
