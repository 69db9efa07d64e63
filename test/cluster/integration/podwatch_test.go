package integration

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Pods of a Deployment come, change and go, and the watch delivers only its own bookmarks. It does deliver pods of
// another controller's Job, but the cache contains none of them.
// Requirements: IDL-01
func TestPodsOfOthers(t *testing.T) {
	t.Parallel()
	const others, bookmarks = 50, 500
	f := newFixture(t)
	f.tolerated = []string{"S5", "TRK-01"}
	p := f.startController()
	other := f.create(named("other", newJob(managedBy(otherController), completions(1))))
	f.create(newJob(suspended))
	f.untilIs("a", batchv1.JobSuspended)
	change := func(owner metav1.OwnerReference, policy corev1.RestartPolicy) (bytes int) {
		before := p.wire.received(watches("pods"))
		for i := range others {
			pod := f.storePod(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "other-", Labels: map[string]string{"app": "web"}, OwnerReferences: []metav1.OwnerReference{owner}},
				Spec:       corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: containerName, Image: "none"}}},
			})
			f.labelPod(pod, "round", fmt.Sprint(i))
			if i%2 == 0 {
				f.deletePods(pod)
			}
		}
		// The events of our own Job arrive after all of these.
		f.create(named(string(owner.UID), newJob(suspended)))
		f.untilIs(string(owner.UID), batchv1.JobSuspended)
		return p.wire.received(watches("pods")) - before
	}
	if n := change(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}, corev1.RestartPolicyAlways); n > bookmarks {
		t.Errorf("%d bytes about %d pods of a Deployment", n, others)
	}
	if n := change(*metav1.NewControllerRef(other, batchv1.SchemeGroupVersion.WithKind("Job")), corev1.RestartPolicyNever); n < others*bookmarks {
		t.Errorf("%d bytes about %d pods of another controller's Job", n, others)
	}
	assert.Equal(t, p.runtime.Pods(), 0, "the cache")
}

func aboutPods(c call) bool { return !c.watch && c.resource == "pods" }

// The end of a pod costs no request, whatever it had lost before.
// Requirements: IDL-02
func TestDeletedPodsAreNotLookedFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(4), parallelism(4), onNode))
	pods := f.untilActive(4)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 4, ready: 4})
	before := len(p.wire.recorded(aboutPods))
	f.edit("a", suspend(true))
	f.kubelet.terminate(f.untilPods(4, "terminating", history.IsTerminating)...)
	f.untilPods(0, "there", anyPod)
	f.untilCounts("a", counts{})
	if n := len(p.wire.recorded(aboutPods)) - before; n > 8 {
		t.Errorf("%d calls to delete and release 4 pods", n)
	}
}

// An earlier version of the controller watched by a label, and set it on its pods. The pods of both versions belong to
// the Job, and the orphans of a Job that was deleted meanwhile are released.
// Requirements: IDL-03, TRK-22
func TestPodsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(3), parallelism(2), onNode))
	f.create(named("gone", newJob(completions(1))))
	f.untilActive(3)
	f.untilCounts("a", counts{active: 2})
	f.untilCounts("gone", counts{active: 1})
	p.stop()
	orphan := f.pods(func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "gone" })
	mine := f.pods(func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "a" })
	f.labelPod(mine[0], "batchjob.dev/managed-by", "batchjob.dev_controller")
	f.deleteJob("gone", metav1.DeletePropagationOrphan)
	f.patchPod(orphan[0], map[string]any{"ownerReferences": nil}) // As the garbage collector does.
	f.patchJob("gone", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	f.until("the Job is gone", func() bool { return f.history.job("gone") == nil })
	f.kubelet.run(mine...)
	f.kubelet.succeed(mine[0])

	f.startController()
	f.until("the orphan is released", func() bool { return !history.IsTracked(f.history.pod(orphan[0].UID)) })
	f.untilCounts("a", counts{active: 2, ready: 1, succeeded: 1})
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if pod.UID == orphan[0].UID {
			return ""
		}
		return corev1.PodSucceeded
	})
	f.untilComplete("a", 3, 0)
	f.wantPodsEver(4)
}

// watches matches the watches of a resource.
func watches(resource string) match {
	return func(c call) bool { return c.watch && c.method == http.MethodGet && c.resource == resource }
}

// stream is the response to a controller's watch, whose bytes are counted.
type stream struct {
	io.ReadCloser
	call     call
	received atomic.Int64
}

// follow wraps the response to a watch.
func (w *wire) follow(c call, body io.ReadCloser) io.ReadCloser {
	s := &stream{ReadCloser: body, call: c}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches = append(w.watches, s)
	return s
}

// received returns the number of bytes that the matching watches have delivered.
func (w *wire) received(m match) (bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.watches {
		if m(s.call) {
			bytes += int(s.received.Load())
		}
	}
	return bytes
}

// Read is called by the client.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.received.Add(int64(n))
	return n, err
}
