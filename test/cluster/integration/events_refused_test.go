package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// deniedUpdates is a policy that denies updates of pods for which an expression is false.
const deniedUpdates = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: denied-updates}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods]}]
  validations: [{expression: %q, message: not today, reason: %s}]
`

const deniedUpdatesBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: denied-updates}
spec: {policyName: denied-updates, validationActions: [Deny]}
`

// denyUpdates rejects updates of a pod, with this reason, until the returned function is called.
func (f *fixture) denyUpdates(pod *corev1.Pod, reason metav1.StatusReason) (lift func()) {
	f.t.Helper()
	a := &admission{t: f.t, client: f.client, namespace: f.namespace}
	policy := fmt.Sprintf(deniedUpdates, fmt.Sprintf("object.metadata.name != '%s'", pod.Name), reason)
	assert.NoError(f.t, errors.Join(a.create([]byte(policy)), a.create([]byte(deniedUpdatesBinding))), "making an admission policy")
	f.until("the admission policy counts", func() bool { return f.tryLabel(pod) != nil })
	return func() {
		// The bound policy denies nothing anymore.
		patch := []byte(`[{"op":"replace","path":"/spec/validations/0/expression","value":"true"}]`)
		_, err := f.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(f.t.Context(), a.policies[0], types.JSONPatchType, patch, metav1.PatchOptions{})
		assert.NoError(f.t, err)
		f.until("the admission policy does not count anymore", func() bool { return f.tryLabel(pod) == nil })
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
	for _, reason := range []metav1.StatusReason{metav1.StatusReasonInvalid, metav1.StatusReasonForbidden} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController(f.telling)
			f.create(newJob(completions(3), parallelism(3)))
			pods := f.untilActive(3)
			f.untilCounts("a", counts{active: 3})
			lift := f.denyUpdates(pods[1], reason)
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
			assert.Equal(t, f.eventsOf("a", "FailedPatch"), 1, "it was said")
		})
	}
}
