package observe

import (
	"reflect"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// podsOfAllKinds returns pods that together need each of the fields.
func podsOfAllKinds() []*corev1.Pod {
	at, later := at(0), at(9)
	always := corev1.ContainerRestartPolicyAlways
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", FinishedAt: later}}
	before := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 9, Reason: "OOMKilled"}}
	odd := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "odd", Namespace: "ns1", UID: "uid-odd", ResourceVersion: "7", CreationTimestamp: at, DeletionTimestamp: &at, DeletionGracePeriodSeconds: ptr.To[int64](30),
			Labels: map[string]string{"a": "b", "app": "x"}, Finalizers: []string{batchv1.JobTrackingFinalizer},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: "3", AttemptAnnotation: "2", batchv1.JobIndexFailureCountAnnotation: "4"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-train", Controller: ptr.To(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", InitContainers: []corev1.Container{{Name: "proxy", Image: "p", RestartPolicy: &always}}, Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodFailed, Reason: "Evicted", Message: "m", PodIP: "10.0.0.1",
			Conditions:            []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", LastTransitionTime: at}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, RestartCount: 2, LastTerminationState: ended}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "main", State: ended, LastTerminationState: before, RestartCount: 1, Image: "i"}},
		},
	}
	ready := odd.DeepCopy()
	ready.Status.Phase, ready.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	ready.DeletionTimestamp = nil
	// Its finish time is known only from the request of its deletion.
	unready := odd.DeepCopy()
	unready.Status.ContainerStatuses, unready.Status.InitContainerStatuses, unready.Status.Conditions = nil, nil, nil
	sidecar := unready.DeepCopy()
	sidecar.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: ended, LastTerminationState: before, RestartCount: 1}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	runs, sidecarRuns := unready.DeepCopy(), unready.DeepCopy()
	runs.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: running}}
	sidecarRuns.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: running}}
	alone := odd.DeepCopy()
	alone.Spec.InitContainers, alone.Status.InitContainerStatuses = nil, nil
	return []*corev1.Pod{odd, alone, ready, unready, sidecar, runs, sidecarRuns, {}}
}

// whatIsRead returns everything that this package derives from a pod.
func whatIsRead(t *testing.T, pod *corev1.Pod) any {
	t.Helper()
	var all []any
	for _, orphans := range []bool{false, true} {
		all = append(all, slim(pod, orphans))
	}
	pod.OwnerReferences = nil // A stray keeps more fields.
	return append(all, slim(pod, false), Attempt(pod))
}

// The controller reads exactly the pod fields that it needs.
// Requirements: IDL-08
func TestPodFieldsAreWhatIsNeeded(t *testing.T) {
	pods := podsOfAllKinds()
	reads := func(paths []string, pod *corev1.Pod) any {
		message, err := pod.Marshal()
		assert.NoError(t, err)
		some, err := kube.FieldsOf[corev1.Pod](paths...).AppendTo(nil, message)
		assert.NoError(t, err)
		read := &corev1.Pod{}
		assert.NoError(t, read.Unmarshal(some))
		return whatIsRead(t, read)
	}
	var whole []any
	for _, pod := range pods {
		whole = append(whole, reads([]string{"metadata", "spec", "status"}, pod))
		assert.DeepEqual(t, reads(PodFields(), pod), whole[len(whole)-1], pod.Name)
	}
	for i, path := range PodFields() {
		others := slices.Delete(slices.Clone(PodFields()), i, i+1)
		makesNoDifference := func(n int) bool { return reflect.DeepEqual(reads(others, pods[n]), whole[n]) }
		all := true
		for n := range pods {
			all = all && makesNoDifference(n)
		}
		if all {
			t.Errorf("no pod needs %s", path)
		}
	}
}
