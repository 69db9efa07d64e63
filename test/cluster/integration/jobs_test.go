package integration

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const (
	containerName = "main"
	nodeName      = "node-1"
	// foreignFinalizer belongs to another client that wants to see pods before they are removed.
	foreignFinalizer = "example.com/audit"
	// otherController manages Jobs, but does not run here.
	otherController = "example.com/other"
)

type jobOption func(*batchv1.JobSpec)

func indexed(completions int32) jobOption {
	return func(s *batchv1.JobSpec) {
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		s.Completions, s.Parallelism = &completions, &completions
	}
}

func completions(n int32) jobOption  { return func(s *batchv1.JobSpec) { s.Completions = &n } }
func parallelism(n int32) jobOption  { return func(s *batchv1.JobSpec) { s.Parallelism = &n } }
func backoffLimit(n int32) jobOption { return func(s *batchv1.JobSpec) { s.BackoffLimit = &n } }
func suspended(s *batchv1.JobSpec)   { s.Suspend = ptr.To(true) }

func replacedWhen(policy batchv1.PodReplacementPolicy) jobOption {
	return func(s *batchv1.JobSpec) { s.PodReplacementPolicy = &policy }
}

// managedBy sets the controller; "" leaves the Job to the built-in one.
func managedBy(name string) jobOption {
	return func(s *batchv1.JobSpec) {
		s.ManagedBy = nil
		if name != "" {
			s.ManagedBy = &name
		}
	}
}

// onNode assigns pods to a node: when deleted, they stay until the kubelet confirms their end. Other pods vanish at
// once, or with their last finalizer.
func onNode(s *batchv1.JobSpec) { s.Template.Spec.NodeName = nodeName }

// newJob returns a Job of ours, named a, that needs one successful pod.
func newJob(options ...jobOption) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	job.Spec.ManagedBy = ptr.To(controller.DefaultManagedBy)
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: containerName, Image: "none"}},
	}
	for _, o := range options {
		o(&job.Spec)
	}
	return job
}

func named(name string, job *batchv1.Job) *batchv1.Job {
	job.Name = name
	return job
}

func (f *fixture) create(job *batchv1.Job) *batchv1.Job {
	f.t.Helper()
	job, err := f.client.BatchV1().Jobs(f.namespace).Create(f.t.Context(), job, metav1.CreateOptions{})
	assert.NoError(f.t, err, "creating the Job")
	f.untilSeen(job)
	return job
}

// edit applies a merge patch to the Job's spec, as kubectl patch does.
func (f *fixture) edit(job string, spec map[string]any) {
	f.t.Helper()
	f.patchJob(job, map[string]any{"spec": spec})
}

func (f *fixture) patchJob(job string, fields map[string]any) {
	f.t.Helper()
	patch, err := json.Marshal(fields)
	assert.NoError(f.t, err)
	stored, err := f.client.BatchV1().Jobs(f.namespace).Patch(f.t.Context(), job, types.MergePatchType, patch, metav1.PatchOptions{})
	assert.NoError(f.t, err, "editing the Job")
	f.untilSeen(stored)
}

func (f *fixture) deleteJob(name string, policy metav1.DeletionPropagation) {
	f.t.Helper()
	if err := f.client.BatchV1().Jobs(f.namespace).Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		f.t.Fatalf("deleting the Job: %v", err)
	}
	f.until("the history shows the deletion", func() bool {
		job := f.history.job(name)
		return job == nil || job.DeletionTimestamp != nil
	})
}

// deletePods deletes pods as kubectl does.
func (f *fixture) deletePods(pods ...*corev1.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
		assert.NoError(f.t, f.client.CoreV1().Pods(f.namespace).Delete(f.t.Context(), pod.Name, options), "deleting the pod")
		f.until("the history shows the deletion", func() bool {
			now := f.history.pod(pod.UID)
			return now == nil || now.DeletionTimestamp != nil
		})
	}
}

func (f *fixture) labelPod(pod *corev1.Pod, key, value string) {
	f.t.Helper()
	f.patchPod(pod, map[string]any{"labels": map[string]any{key: value}})
}

func (f *fixture) patchPod(pod *corev1.Pod, metadata map[string]any) {
	f.t.Helper()
	metadata["uid"] = pod.UID
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	assert.NoError(f.t, err)
	stored, err := f.client.CoreV1().Pods(f.namespace).Patch(f.t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	assert.NoError(f.t, err, "editing the pod")
	f.untilSeen(stored)
}

// disrupted is the condition of an evicted pod.
var disrupted = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}

func maxFailedIndexes(n int32) jobOption { return func(s *batchv1.JobSpec) { s.MaxFailedIndexes = &n } }

func onExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: disrupted.Type, Status: disrupted.Status},
	}}
}

func failurePolicy(rules ...batchv1.PodFailurePolicyRule) jobOption {
	return func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func successPolicy(rules ...batchv1.SuccessPolicyRule) jobOption {
	return func(s *batchv1.JobSpec) { s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}

func countSucceeds(n int32) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededCount: &n}
}

func perIndexLimit(n int32) jobOption {
	return func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = &n }
}

// withNames adds the annotation that names the rules to a Job.
func withNames(value string, job *batchv1.Job) *batchv1.Job {
	job.Annotations = map[string]string{rulename.Annotation: value}
	return job
}

func elastic(n int) map[string]any { return map[string]any{"completions": n, "parallelism": n} }

// withRules sets a pod failure policy with n rules, or none for -1.
func withRules(n int) jobOption {
	return func(s *batchv1.JobSpec) {
		if n < 0 {
			return
		}
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		for i := range n {
			s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{int32(i) + 1},
				},
			})
		}
	}
}

func suspend(on bool) map[string]any { return map[string]any{"suspend": on} }

// storePod creates a pod, and returns it once the history contains it.
func (f *fixture) storePod(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	pod, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), pod, metav1.CreateOptions{})
	assert.NoError(f.t, err, "creating a pod")
	f.untilSeen(pod)
	return pod
}
