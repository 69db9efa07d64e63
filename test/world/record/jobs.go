package main

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// change modifies a Job.
type change func(*batchv1.Job)

// forever is the run time of containers that must not end.
const forever = "24h"

// job returns a Job with the scenario's name and one container named main.
func (s *stage) job(changes ...change) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				// The token volume would be a third of each pod in the fixture.
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

// of returns the first argument of runs.
func of(changes ...change) func(*stage) *batchv1.Job {
	return func(s *stage) *batchv1.Job { return s.job(changes...) }
}

// does tells kwok's nodes the behavior of the containers, as key, value, key, value (examples/README.md).
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

// named sets the names of the podFailurePolicy's rules, in the format of the annotation.
func named(names string) change {
	return func(j *batchv1.Job) { j.Annotations = map[string]string{rulename.Annotation: names} }
}

// onExit returns a rule about exit codes of any container.
func onExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

// onDisruption returns a rule about pods with the condition DisruptionTarget.
func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
	}}
}

func succeedsWith(rules ...batchv1.SuccessPolicyRule) change {
	return func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}
