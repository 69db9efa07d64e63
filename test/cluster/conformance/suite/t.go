package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// T is a running case.
type T struct {
	log
	*Suite
	ctx  context.Context
	name string
	jobs []*Job
}

// errStop ends a case that cannot continue, as testing.T.FailNow does, so that cases read as a list of steps.
var errStop = errors.New("the case has ended")

// Fatalf records a broken promise and ends the case.
func (t *T) Fatalf(expected, seen string, args ...any) {
	t.Errorf(expected, seen, args...)
	panic(errStop)
}

// Skip ends the case as not applicable.
func (t *T) Skip(why string) {
	t.why = why
	panic(errStop)
}

// Fence waits until the controller has run another Job from its creation to its end: by then, it has done everything
// that was due before.
func (t *T) Fence() {
	j := t.CreateNamed(fmt.Sprintf("-fence%d", len(t.jobs)))
	j.Play(func(*corev1.Pod) (int32, bool) { return 0, true })
	t.until("a Job that is created later is complete", func() bool { return history.Is(j.Now(), batchv1.JobComplete) })
}

// must ends the case if a request of the case itself failed.
func (t *T) must(what string, err error) {
	if err != nil {
		t.Fatalf(what+" succeeds", "%v", err)
	}
}

// until waits until reached returns true, and checks it after every change of the record.
func (t *T) until(what string, reached func() bool) {
	err := t.recorder.Wait(t.ctx, reached)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		t.Fatalf(what, "not within %v: %s", t.Timeout, t.describe())
	case err != nil:
		t.Fatalf(what, "the record of what happens is incomplete: %v", err)
	}
}

// describe returns the state of the case's Jobs and pods.
func (t *T) describe() string {
	var parts []string
	for _, j := range t.jobs {
		parts = append(parts, j.describe())
	}
	return strings.Join(append(parts, t.player.problems()...), "; ")
}

// Name returns the name of the case.
func (t *T) Name() string { return t.name }

// Context returns a context that ends with the time limit of the case.
func (t *T) Context() context.Context { return t.ctx }

// CreatePod creates a pod with these labels and owners.
func (t *T) CreatePod(name string, labels map[string]string, owners ...metav1.OwnerReference) *corev1.Pod {
	template := t.template()
	maps.Copy(template.Labels, labels)
	pod, err := t.Client.CoreV1().Pods(t.Namespace).Create(t.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: t.name + "-" + name, Labels: template.Labels, OwnerReferences: owners}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	t.must("creating a pod", err)
	t.must("recording a pod", t.recorder.WaitFor(t.ctx, pod))
	return pod
}

// PatchPod merges a change into a pod.
func (t *T) PatchPod(pod *corev1.Pod, patch string) {
	stored, err := t.Client.CoreV1().Pods(t.Namespace).Patch(t.ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	t.must("changing a pod", err)
	if stored.DeletionTimestamp == nil {
		t.must("recording a pod", t.recorder.WaitFor(t.ctx, stored))
	}
}

// Pod returns the latest version of a pod, and whether it exists.
func (t *T) Pod(pod *corev1.Pod) (*corev1.Pod, bool) {
	v := t.recorder.Pod(pod.UID)
	return v.Pod, isThere(v)
}

// UntilPod waits until a pod satisfies reached.
func (t *T) UntilPod(pod *corev1.Pod, what string, reached func(*corev1.Pod) bool) *corev1.Pod {
	t.until(fmt.Sprintf("pod %s %s", pod.Name, what), func() bool {
		now, exists := t.Pod(pod)
		return exists && reached(now)
	})
	now, _ := t.Pod(pod)
	t.Observe("pod %s %s", pod.Name, what)
	return now
}

// UntilPodReleased waits until a pod has no tracking finalizer, or no longer exists.
func (t *T) UntilPodReleased(pod *corev1.Pod) {
	what := fmt.Sprintf("pod %s has no tracking finalizer", pod.Name)
	t.until(what, func() bool {
		now, exists := t.Pod(pod)
		return !exists || !history.IsTracked(now)
	})
	t.Observe("%s", what)
}

// UntilPodGone waits until a pod no longer exists.
func (t *T) UntilPodGone(pod *corev1.Pod) {
	t.until(fmt.Sprintf("pod %s is gone", pod.Name), func() bool {
		_, exists := t.Pod(pod)
		return !exists
	})
	t.Observe("pod %s is gone", pod.Name)
}

// End ends pods with an exit code once they run.
func (t *T) End(code int32, list ...*corev1.Pod) {
	for _, pod := range list {
		t.until(fmt.Sprintf("pod %s runs", pod.Name), func() bool {
			v := t.recorder.Pod(pod.UID)
			return v.Gone || v.Pod != nil && v.Pod.Status.Phase != corev1.PodPending
		})
		t.end(code, pod)
	}
	for _, pod := range list {
		t.until(fmt.Sprintf("pod %s has ended", pod.Name), func() bool {
			v := t.recorder.Pod(pod.UID)
			return v.Gone || history.HasEnded(v.Pod)
		})
	}
}

// end tries to end a pod until the request succeeds or the pod has ended by itself.
func (t *T) end(code int32, pod *corev1.Pod) {
	var problem error
	err := wait.PollUntilContextCancel(t.ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
		v := t.recorder.Pod(pod.UID)
		if v.Gone || history.HasEnded(v.Pod) {
			return true, nil
		}
		err := t.Kubelet.End(ctx, v.Pod, code)
		if ctx.Err() == nil {
			problem = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.must("ending a pod", cmp.Or(problem, err))
	}
}

// Disrupt adds the condition DisruptionTarget to a pod.
func (t *T) Disrupt(pod *corev1.Pod) {
	t.must("disrupting a pod", pods.Disrupt(t.ctx, t.Client, pod))
}

// DeletePods deletes pods.
func (t *T) DeletePods(list ...*corev1.Pod) {
	for _, pod := range list {
		t.must("deleting a pod", t.Client.CoreV1().Pods(t.Namespace).Delete(t.ctx, pod.Name, metav1.DeleteOptions{
			Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
		}))
	}
	for _, pod := range list {
		t.until(fmt.Sprintf("pod %s is being deleted", pod.Name), func() bool {
			v := t.recorder.Pod(pod.UID)
			return v.Gone || v.Pod.DeletionTimestamp != nil
		})
	}
}
