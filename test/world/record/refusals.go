package main

import (
	"context"
	"errors"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

// refusals returns scenarios of Jobs whose pods the API server rejects.
func refusals() []scenario {
	return []scenario{
		{
			name: "quota", builtin: true,
			what: "A ResourceQuota allows one pod, which runs; the other two of parallelism 3 are refused: FailedCreate events.",
			play: playQuota,
		}, {
			name: "admission-denied", builtin: true,
			what: "A ValidatingAdmissionPolicy denies the pods, as they have no label team: FailedCreate events, no pod.",
			play: playDenied,
		},
	}
}

func playQuota(s *stage) error {
	quotas := s.client.CoreV1().ResourceQuotas(s.ns)
	_, err := quotas.Create(s.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	err = s.poll(func(ctx context.Context) (bool, error) {
		quota, err := quotas.Get(ctx, "one-pod", metav1.GetOptions{})
		return err == nil && len(quota.Status.Hard) > 0, err
	})
	if err != nil {
		return err
	}
	return s.run(s.job(nonIndexed(3, 3), does("run-time", forever)), "refused pods", all(active(1), havePods(1, running), events("Job", "FailedCreate", 2)))
}

// poll repeats done until it returns true or the scenario's time is over.
func (s *stage) poll(done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextCancel(s.ctx, 200*time.Millisecond, true, done)
}

func playDenied(s *stage) error {
	if err := s.deny(); err != nil {
		return err
	}
	err := s.poll(func(ctx context.Context) (bool, error) {
		_, err := s.client.CoreV1().Pods(s.ns).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, nil
	})
	if err != nil {
		return err
	}
	return s.run(s.job(does("run-time", "1s")), "refused pods", all(one, havePods(0, every), events("Job", "FailedCreate", 2)))
}

// deny adds a policy that rejects pods of this namespace without a label.
func (s *stage) deny() error {
	policies := s.client.AdmissionregistrationV1()
	name := s.ns + ".example.com"
	_, err := policies.ValidatingAdmissionPolicies().Create(s.ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				},
			}}},
			Validations: []admissionv1.Validation{{
				Expression: "has(object.metadata.labels) && 'team' in object.metadata.labels", Message: "every pod needs the label team",
			}},
		},
	}, metav1.CreateOptions{})
	_, bound := policies.ValidatingAdmissionPolicyBindings().Create(s.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: s.ns},
			}},
		},
	}, metav1.CreateOptions{})
	return errors.Join(err, bound)
}
