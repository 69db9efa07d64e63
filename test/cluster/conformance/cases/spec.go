package cases

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

// The fields of a Job that cases set.

func completions(n int32) suite.Change {
	return func(job *batchv1.Job) { job.Spec.Completions = ptr.To(n) }
}

func parallelism(n int32) suite.Change {
	return func(job *batchv1.Job) { job.Spec.Parallelism = ptr.To(n) }
}

// all requires n completions and runs all n pods at once.
func all(n int32) suite.Change {
	return func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = ptr.To(n), ptr.To(n) }
}

func indexedMode(job *batchv1.Job) { job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }

func suspended(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }

func backoffLimit(n int32) suite.Change {
	return func(job *batchv1.Job) { job.Spec.BackoffLimit = ptr.To(n) }
}

func limitPerIndex(n int32) suite.Change {
	return func(job *batchv1.Job) {
		indexedMode(job)
		job.Spec.BackoffLimitPerIndex = ptr.To(n)
	}
}

func maxFailedIndexes(n int32) suite.Change {
	return func(job *batchv1.Job) { job.Spec.MaxFailedIndexes = ptr.To(n) }
}

func deadline(seconds int64) suite.Change {
	return func(job *batchv1.Job) { job.Spec.ActiveDeadlineSeconds = ptr.To(seconds) }
}

func replaces(policy batchv1.PodReplacementPolicy) suite.Change {
	return func(job *batchv1.Job) { job.Spec.PodReplacementPolicy = ptr.To(policy) }
}

func failureRules(rules ...batchv1.PodFailurePolicyRule) suite.Change {
	return func(job *batchv1.Job) { job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func onCode(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		ContainerName: ptr.To(pods.Container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
	}}
}

func successRules(rules ...batchv1.SuccessPolicyRule) suite.Change {
	return func(job *batchv1.Job) {
		indexedMode(job)
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules}
	}
}

func ofIndexes(list string) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To(list)}
}

func ofCount(n int32) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededCount: ptr.To(n)}
}

// succeed is a Play that ends all pods with exit code 0.
func succeed(*corev1.Pod) (code int32, ends bool) { return 0, true }
