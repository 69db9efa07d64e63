package integration

import (
	"context"
	"encoding/json"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// kubelet acts as a node on the pods of the test's namespace.
type kubelet struct {
	f      *fixture
	client kubernetes.Interface
}

// A write of a test, or of its kubelet, returns once the history contains it, so that the next wait cannot match an
// earlier state.

// Exit codes, as in a shell.
const (
	exitFailure = 1
	exitSIGTERM = 143
)

func (k *kubelet) run(pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodRunning, 0)
}

func (k *kubelet) succeed(pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodSucceeded, 0)
}

func (k *kubelet) fail(pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodFailed, exitFailure)
}

// terminate ends pods that are being deleted, and confirms that they are stopped: without a finalizer they are gone
// then.
func (k *kubelet) terminate(pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodFailed, exitSIGTERM)
	k.confirm(pods...)
}

// confirm reports that the containers of pods that are being deleted have stopped.
func (k *kubelet) confirm(pods ...*corev1.Pod) {
	k.f.t.Helper()
	for _, pod := range pods {
		if err := k.tryConfirm(pod); err != nil {
			k.f.t.Fatalf("confirming the end of pod %s: %v", pod.Name, err)
		}
		k.f.until("the history shows that the pod has stopped", func() bool { return k.f.history.isStopped(pod.UID) })
	}
}

func (k *kubelet) set(pods []*corev1.Pod, phase corev1.PodPhase, exitCode int32) {
	k.f.t.Helper()
	for _, pod := range pods {
		stored, err := k.trySet(pod, phase, exitCode)
		if err != nil {
			k.f.t.Fatalf("setting pod %s to %s: %v", pod.Name, phase, err)
		}
		k.f.untilSeen(stored)
	}
}

func (k *kubelet) trySet(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32) (*corev1.Pod, error) {
	patch, err := statusPatch(pod, phase, exitCode)
	if err != nil {
		return nil, err
	}
	return k.client.CoreV1().Pods(pod.Namespace).Patch(context.Background(), pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
}

func (k *kubelet) tryConfirm(pod *corev1.Pod) error {
	now := int64(0)
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func statusPatch(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32) ([]byte, error) {
	now := metav1.Now()
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	container := corev1.ContainerStatus{Name: containerName}
	if phase == corev1.PodRunning {
		ready.Status = corev1.ConditionTrue
		container.Ready, container.State.Running = true, &corev1.ContainerStateRunning{StartedAt: now}
	} else {
		container.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: exitCode, FinishedAt: now}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{
			"phase": phase, "conditions": []corev1.PodCondition{ready}, "containerStatuses": []corev1.ContainerStatus{container},
		},
	})
}

// outcome returns the phase in which a running pod ends, or "" if it keeps running. nth is 1 for the first pod of the
// namespace.
type outcome func(pod *corev1.Pod, nth int) corev1.PodPhase

func everySucceeds(*corev1.Pod, int) corev1.PodPhase { return corev1.PodSucceeded }

// play runs pods until the test ends or the returned function is called: they start, end as decide returns, and stop
// when they are deleted.
func (k *kubelet) play(decide outcome) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			changed, _ := k.f.history.Changes()
			for i, pod := range k.f.history.inOrder() {
				if pod != nil {
					k.step(pod, i+1, decide)
				}
			}
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
	})
	stop = func() {
		cancel()
		wg.Wait()
	}
	k.f.t.Cleanup(stop)
	return stop
}

// step takes the next step of one pod, and waits until the history contains it.
func (k *kubelet) step(pod *corev1.Pod, nth int, decide outcome) {
	var stored *corev1.Pod
	var err error
	switch {
	case pod.DeletionTimestamp != nil && history.HasEnded(pod) && !isStopped(pod):
		if err = k.tryConfirm(pod); err == nil {
			k.f.history.wait(func() bool { return k.f.history.isStopped(pod.UID) })
		}
	case history.HasEnded(pod), isStopped(pod):
	case pod.DeletionTimestamp != nil:
		stored, err = k.trySet(pod, corev1.PodFailed, exitSIGTERM)
	case pod.Status.Phase != corev1.PodRunning:
		stored, err = k.trySet(pod, corev1.PodRunning, 0)
	default:
		switch phase := decide(pod, nth); phase {
		case corev1.PodSucceeded:
			stored, err = k.trySet(pod, phase, 0)
		case corev1.PodFailed:
			stored, err = k.trySet(pod, phase, exitFailure)
		}
	}
	// A kubelet ignores a pod that is gone or was replaced.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		k.f.t.Errorf("kubelet: pod %s: %v", pod.Name, err)
	}
	if err == nil && stored != nil {
		k.f.history.wait(func() bool { return k.f.history.Has(stored) })
	}
}

// isStopped reports whether a pod that is being deleted waits only for finalizers.
func isStopped(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0
}

// exit ends running pods with an exit code.
func (k *kubelet) exit(code int32, pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodFailed, code)
}

func (k *kubelet) write(pod *corev1.Pod, status corev1.PodStatus) {
	k.f.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	assert.NoError(k.f.t, err)
	stored, err := k.client.CoreV1().Pods(pod.Namespace).Patch(k.f.t.Context(), pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		k.f.t.Fatalf("writing the status of pod %s: %v", pod.Name, err)
	}
	k.f.untilSeen(stored)
}

// firstFails makes the first pod of the namespace fail and all others succeed.
func firstFails(_ *corev1.Pod, nth int) corev1.PodPhase {
	if nth == 1 {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}
