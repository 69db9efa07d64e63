package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// forbid creates an admission policy that rejects writes to pods of the namespace, and waits until probe fails because
// of it. It returns a function that removes the policy.
func (f *fixture) forbid(operation admissionv1.OperationType, expression string, reason *metav1.StatusReason, probe func() error) (lift func()) {
	f.t.Helper()
	name := strings.ToLower(string(operation)) + "." + f.namespace
	api := f.client.AdmissionregistrationV1()
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{operation},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}}
	policy.Spec.Validations = []admissionv1.Validation{{Expression: expression, Message: "not today", Reason: reason}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec.PolicyName, binding.Spec.ValidationActions = name, []admissionv1.ValidationAction{admissionv1.Deny}
	binding.Spec.MatchResources = &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{"kubernetes.io/metadata.name": f.namespace},
	}}
	_, err := api.ValidatingAdmissionPolicies().Create(f.t.Context(), policy, metav1.CreateOptions{})
	if err == nil {
		_, err = api.ValidatingAdmissionPolicyBindings().Create(f.t.Context(), binding, metav1.CreateOptions{})
	}
	assert.NoError(f.t, err, "making an admission policy")
	remove := func(ctx context.Context) error {
		if err := api.ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err := api.ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	f.t.Cleanup(func() {
		if err := remove(context.Background()); err != nil {
			f.t.Errorf("removing the admission policy: %v", err)
		}
	})
	f.until("the admission policy counts", func() bool { return probe() != nil })
	return func() {
		assert.NoError(f.t, remove(context.Background()))
		f.until("the admission policy does not count anymore", func() bool { return probe() == nil })
	}
}

// tryLabel patches a pod with a dry run, and returns the API server's error.
func (f *fixture) tryLabel(pod *corev1.Pod) error {
	_, err := f.client.CoreV1().Pods(f.namespace).Patch(f.t.Context(), pod.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"try":"it"}}}`),
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// REG-31: the removal of one pod's finalizer is rejected. The Job's other pods continue, the user gets one event about
// the pod, and when the removal is possible again, the Job ends.
// Requirements: JOB-47
func TestPodThatCannotBeFreed(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]*metav1.StatusReason{"Invalid": nil, "Forbidden": new(metav1.StatusReasonForbidden)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController(f.telling)
			f.create(newJob(completions(3), parallelism(3)))
			pods := f.untilActive(3)
			f.untilCounts("a", counts{active: 3})
			lift := f.forbid(admissionv1.Update, fmt.Sprintf("object.metadata.name != %q", pods[1].Name), reason, func() error { return f.tryLabel(pods[1]) })
			f.kubelet.run(pods...)
			f.kubelet.succeed(pods...)
			f.untilPods(1, "tracked", history.IsTracked)
			f.until("the removal was tried several times", func() bool { return len(p.wire.recorded(podPatch.named(pods[1].Name))) >= 3 })
			e := f.untilEvent("a", "FailedPatch")
			if e.Type != corev1.EventTypeWarning || !strings.HasPrefix(e.Message, "Error removing the finalizer of pod "+pods[1].Name+": ") || !strings.HasSuffix(e.Message, "denied request: not today") {
				t.Errorf("the event is %s %q", e.Type, e.Message)
			}
			lift()
			f.untilComplete("a", 3, 0)
			p.stop()
			if n := f.eventsOf("a", "FailedPatch"); n != 1 {
				t.Errorf("it was said %d times", n)
			}
		})
	}
}

// JOB-47: pods that cannot be created cause one event with a count, however often the creation is retried: the message
// does not contain the name of a pod that does not exist.
func TestPodsThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	probe := func() error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: newJob().Spec.Template.Spec}
		_, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	lift := f.forbid(admissionv1.Create, "false", new(metav1.StatusReasonForbidden), probe)
	p := f.startController(f.telling)
	f.create(newJob())
	f.until("it was tried several times", func() bool { return f.eventsOf("a", "FailedCreate") >= 3 })
	lift()
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 1, 0)
	p.stop()
	tries := p.wire.answered(podPost, http.StatusForbidden)
	name := "create." + f.namespace
	want := fmt.Sprintf("Warning FailedCreate x%d: Error creating: pods is forbidden: ValidatingAdmissionPolicy '%s' with binding '%s' denied request: not today", tries, name, name)
	if known := f.eventTexts(); len(known) != 3 || !slices.Contains(known, want) {
		t.Errorf("the events are\n%s\nwant among them\n%s", strings.Join(known, "\n"), want)
	}
}
