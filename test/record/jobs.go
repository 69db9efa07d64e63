package main

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// change is one more thing about a Job.
type change func(*batchv1.Job)

// forever is how long containers run that are not to end.
const forever = "24h"

// job makes a Job of one container named main. It has the scenario's name.
func (s *stage) job(changes ...change) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				// What the volume of a token says would be a third of each pod.
				AutomountServiceAccountToken: ptr.To(false),
				Containers:                   []corev1.Container{{Name: "main", Image: "registry.example/train:1.4"}},
			},
		}},
	}
	for _, c := range changes {
		c(j)
	}
	return j
}

// of is the play's first argument for runs.
func of(changes ...change) func(*stage) *batchv1.Job {
	return func(s *stage) *batchv1.Job { return s.job(changes...) }
}

// does tells kwok's nodes what the containers do, as key, value, key, value (examples/README.md).
func does(pairs ...string) change {
	return func(j *batchv1.Job) {
		for i := 0; i+1 < len(pairs); i += 2 {
			j.Spec.Template.Annotations["kwok.batchjob.dev/"+pairs[i]] = pairs[i+1]
		}
	}
}

func indexed(completions, parallelism int32) change {
	return func(j *batchv1.Job) {
		j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism
	}
}

func nonIndexed(completions, parallelism int32) change {
	return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism }
}

func backoffLimit(n int32) change {
	return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n }
}

func perIndex(n int32) change {
	return func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = &n }
}

func with(set func(*batchv1.JobSpec)) change {
	return func(j *batchv1.Job) { set(&j.Spec) }
}

func withPod(set func(*corev1.PodSpec)) change {
	return func(j *batchv1.Job) { set(&j.Spec.Template.Spec) }
}

func rules(list ...batchv1.PodFailurePolicyRule) change {
	return func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: list} }
}

// named gives names to the rules of the podFailurePolicy, as the annotation takes them.
func named(names string) change {
	return func(j *batchv1.Job) { j.Annotations = map[string]string{rulename.Annotation: names} }
}

// onExit is a rule about exit codes of any container.
func onExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

// onDisruption is a rule about pods that the cluster takes away.
func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
	}}
}

func succeedsWith(rules ...batchv1.SuccessPolicyRule) change {
	return func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}
