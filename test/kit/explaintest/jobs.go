// Package explaintest builds Jobs, pods and events as a cluster has them, explains them, and looks for texts in the report.
//
// A func(*corev1.Pod) is a change of the pod that PodOf returns: PodOf("a", OnIndex(2, 1, Exits(1, "Error", time.Minute))).
package explaintest

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Noon is the current time of all inputs.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Ago returns the time d before Noon.
func Ago(d time.Duration) metav1.Time { return metav1.NewTime(Noon.Add(-d)) }

// JobWith returns the Job ns/train, an hour old, with the API server's defaults and a change.
func JobWith(change func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "job-uid", CreationTimestamp: Ago(time.Hour)},
		Spec: batchv1.JobSpec{
			Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](6),
			CompletionMode: ptr.To(batchv1.NonIndexedCompletion),
		},
		Status: batchv1.JobStatus{StartTime: ptr.To(Ago(time.Hour)), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}},
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "train:1"}}}
	if change != nil {
		change(job)
	}
	return job
}

// IndexedJob returns an Indexed Job with backoffLimitPerIndex 3, and a change.
func IndexedJob(completions int32, change func(*batchv1.Job)) *batchv1.Job {
	return JobWith(func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), &completions
		j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes = ptr.To[int32](3), ptr.To("")
		if change != nil {
			change(j)
		}
	})
}

// AddCondition adds a condition that has been True for d.
func AddCondition(j *batchv1.Job, t batchv1.JobConditionType, reason, message string, d time.Duration) {
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: Ago(d),
	})
}

// FailJob makes the Job fail, for this reason: 10 minutes ago, and its last pod ended a minute later.
func FailJob(j *batchv1.Job, reason, message string) {
	AddCondition(j, batchv1.JobFailureTarget, reason, message, 10*time.Minute)
	AddCondition(j, batchv1.JobFailed, reason, message, 9*time.Minute)
}

// Rules returns a podFailurePolicy of n rules: rule i is FailJob on exit code i+1.
func Rules(n int) *batchv1.PodFailurePolicy {
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

// OnDisruption returns a podFailurePolicy with a rule on the condition DisruptionTarget.
func OnDisruption(action batchv1.PodFailurePolicyAction) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

// Wrote returns the trace of a write that a manager made d ago; fields is JSON, or empty.
func Wrote(manager, subresource, fields string, d time.Duration) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", Subresource: subresource, Time: ptr.To(Ago(d))}
	if fields != "" {
		e.FieldsV1 = metav1.NewFieldsV1(fields)
	}
	return e
}

// CompleteJob returns a Job with one completion, which succeeded; its container has a memory limit.
func CompleteJob(change func(*batchv1.Job)) *batchv1.Job {
	return JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Succeeded = ptr.To[int32](1), ptr.To[int32](1), 1
		j.Spec.Template.Spec.Containers[0].Resources = Memory("512Mi")
		AddCondition(j, batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "", time.Minute)
		j.Status.CompletionTime = ptr.To(Ago(time.Minute))
		if change != nil {
			change(j)
		}
	})
}

// RestartingJob returns a Job with restartPolicy OnFailure whose backoffLimit failed it; the status counts this many failed pods.
func RestartingJob(limit, failed int32) *batchv1.Job {
	return JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		j.Spec.BackoffLimit, j.Status.Failed = &limit, failed
		FailJob(j, "BackoffLimitExceeded", "")
	})
}

// JobOfOne returns a Job with one active pod, which requests 900Gi and has the named claims.
func JobOfOne(claims ...string) *batchv1.Job {
	return JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Active, j.Status.Ready = ptr.To[int32](1), ptr.To[int32](1), 1, ptr.To[int32](0)
		spec := &j.Spec.Template.Spec
		spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("900Gi")},
			Limits:   corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")},
		}
		for _, name := range claims {
			source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "v-" + name, VolumeSource: source})
		}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "web-tls"}}})
	})
}

// ToolJob returns a Job with the labels and annotations of a deployment tool.
func ToolJob(labels, annotations map[string]string) *batchv1.Job {
	return JobWith(func(j *batchv1.Job) { j.Labels, j.Annotations = labels, annotations })
}
