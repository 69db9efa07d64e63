package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The Lease exists before the node, as kwok would run the node otherwise; Close removes both.
// Requirements: CNF-08
func TestNodeIsAddedAndRemoved(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	s, err := NewSimulated(t.Context(), client, "conformance-x")
	assert.NoError(t, err)
	var created []string
	for _, a := range client.Actions() {
		if a.GetVerb() == "create" {
			created = append(created, a.GetResource().Resource)
		}
	}
	if len(created) != 2 || created[0] != "leases" || created[1] != "nodes" {
		t.Errorf("created %v", created)
	}
	node, err := client.CoreV1().Nodes().Get(t.Context(), "conformance-x", metav1.GetOptions{})
	if err != nil || node.Status.Conditions[0].Status != corev1.ConditionTrue || node.Spec.Taints[0].Effect != corev1.TaintEffectNoSchedule {
		t.Errorf("%+v, %v", node, err)
	}
	assert.NoError(t, s.Close())
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("left: %v, %v", nodes.Items, err)
	}
	leases, err := client.CoordinationV1().Leases(leaseNamespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) != 0 {
		t.Errorf("left: %v, %v", leases.Items, err)
	}
}

// Requirements: CNF-08
func TestSimulatedPodsRunAndEnd(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1"}}
	client := fake.NewClientset(pod)
	s := &Simulated{client: client, node: "n"}
	status := func() corev1.PodStatus {
		now, err := client.CoreV1().Pods("ns").Get(t.Context(), "a", metav1.GetOptions{})
		assert.NoError(t, err)
		return now.Status
	}
	assert.NoError(t, s.Start(t.Context(), pod))
	if got := status(); got.Phase != corev1.PodRunning || !got.ContainerStatuses[0].Ready || got.Conditions[0].Status != corev1.ConditionTrue {
		t.Errorf("started: %+v", got)
	}
	assert.NoError(t, Disrupt(t.Context(), client, pod))
	assert.NoError(t, s.End(t.Context(), pod, 42))
	got := status()
	if got.Phase != corev1.PodFailed || got.ContainerStatuses[0].Ready || got.ContainerStatuses[0].State.Terminated.ExitCode != 42 {
		t.Errorf("ended: %+v", got)
	}
	if len(got.Conditions) != 2 || got.Conditions[1].Type != corev1.DisruptionTarget && got.Conditions[0].Type != corev1.DisruptionTarget {
		t.Errorf("conditions %+v", got.Conditions)
	}
}
