package integration

import (
	"context"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history/follow"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// recorder records all versions of all Jobs and pods of a namespace.
type recorder struct {
	*history.Log
	t         *testing.T
	client    kubernetes.Interface
	namespace string
	watched   func()
	cancel    context.CancelFunc
}

func startRecorder(t *testing.T, client kubernetes.Interface, namespace string) *recorder {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &recorder{Log: history.NewLog(), t: t, client: client, namespace: namespace, cancel: cancel}
	var err error
	r.watched, err = follow.All(ctx, client, namespace, r)
	assert.NoError(t, err)
	return r
}

// wait waits until reached returns true, and reports whether that happened in time.
func (r *recorder) wait(reached func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	// A change wakes us; conditions outside the history are polled.
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		changed, _ := r.Changes()
		if reached() {
			return true
		}
		select {
		case <-changed:
		case <-look.C:
		case <-deadline.C:
			return false
		}
	}
}

// jobSince returns the first version of the named Job for which reached returns true, and its position: the latest
// version at the given position, or a later one.
func (r *recorder) jobSince(at int, name string, reached func(*batchv1.Job) bool) (*batchv1.Job, int) {
	versions := r.Recorded(r.namespace)
	for i, v := range slices.Backward(versions[:min(at, len(versions))]) {
		if v.Job != nil && v.Job.Name == name {
			at = i
			break
		}
	}
	for i, v := range versions[at:] {
		if v.Job != nil && v.Job.Name == name && !v.Gone && reached(v.Job) {
			return v.Job, at + i
		}
	}
	return nil, 0
}

// isStopped reports whether a pod is gone or waits only for finalizers.
func (r *recorder) isStopped(uid types.UID) bool {
	pod := r.pod(uid)
	return pod == nil || isStopped(pod)
}

// newest returns the newest version for which chosen returns true, or an empty one if that object is gone.
func (r *recorder) newest(chosen func(history.Version) bool) history.Version {
	for _, v := range slices.Backward(r.Recorded(r.namespace)) {
		if chosen(v) && !v.Gone {
			return v
		}
		if chosen(v) {
			break
		}
	}
	return history.Version{}
}

// job returns the current Job of this name, or nil. It must not be changed.
func (r *recorder) job(name string) *batchv1.Job {
	return r.newest(func(v history.Version) bool { return v.Job != nil && v.Job.Name == name }).Job
}

// pod returns the newest version of a pod, or nil if it is gone.
func (r *recorder) pod(uid types.UID) *corev1.Pod {
	return r.newest(func(v history.Version) bool { return v.Pod != nil && v.Pod.UID == uid }).Pod
}

// inOrder returns all pods that have existed, the oldest first; a pod that is gone is nil.
func (r *recorder) inOrder() (pods []*corev1.Pod) {
	at := map[types.UID]int{}
	for _, v := range r.Recorded(r.namespace) {
		if v.Pod == nil {
			continue
		}
		if _, known := at[v.Pod.UID]; !known {
			at[v.Pod.UID] = len(pods)
			pods = append(pods, nil)
		}
		if pods[at[v.Pod.UID]] = v.Pod; v.Gone {
			pods[at[v.Pod.UID]] = nil
		}
	}
	return pods
}

// existing returns the pods that exist, the oldest first.
func (r *recorder) existing() []*corev1.Pod {
	return slices.DeleteFunc(r.inOrder(), func(pod *corev1.Pod) bool { return pod == nil })
}

// stored returns all versions in the order in which they were stored.
func (r *recorder) stored() []history.Version { return r.In(r.namespace) }

// finish waits until the recorder has caught up, and stops it. It reports whether the history is complete.
func (r *recorder) finish() bool {
	r.t.Helper()
	defer r.watched()
	defer r.cancel()
	var behind []string
	var err error
	isComplete := r.wait(func() bool {
		behind, err = follow.Behind(context.Background(), r.client, r.namespace, r.Log)
		return err != nil || len(behind) == 0
	})
	if err != nil || !isComplete {
		r.t.Errorf("the recorder has not seen %q: %v", behind, err)
	}
	return err == nil && isComplete
}
