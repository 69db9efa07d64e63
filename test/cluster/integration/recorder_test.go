package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// version is a history.Version with the field names of these tests.
type version struct {
	history.Version
	revision uint64
	job      *batchv1.Job
	pod      *corev1.Pod
	gone     bool
}

func (v version) object() metav1.Object { return v.Object() }

// recorder records all versions of all Jobs and pods of a namespace.
type recorder struct {
	t         *testing.T
	client    kubernetes.Interface
	namespace string
	started   time.Time
	watched   func()
	cancel    context.CancelFunc

	mu       sync.Mutex
	versions []history.Version
	jobs     map[types.UID]*batchv1.Job
	pods     map[types.UID]*corev1.Pod
	// order holds the pods in the order of their first appearance.
	order   []types.UID
	changed chan struct{}
	broken  error
}

func startRecorder(t *testing.T, client kubernetes.Interface, namespace string) *recorder {
	t.Helper()
	r := &recorder{
		t: t, client: client, namespace: namespace, started: time.Now(),
		jobs: map[types.UID]*batchv1.Job{}, pods: map[types.UID]*corev1.Pod{}, changed: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	var err error
	if r.watched, err = history.Follow(ctx, client, namespace, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// BreakOff records why the history is incomplete.
func (r *recorder) BreakOff(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = err
}

// Record adds a version from a watch.
func (r *recorder) Record(v history.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.Job != nil {
		set(r.jobs, v.Job.UID, v.Job, v.Gone)
	} else {
		if !slices.Contains(r.order, v.Pod.UID) {
			r.order = append(r.order, v.Pod.UID)
		}
		set(r.pods, v.Pod.UID, v.Pod, v.Gone)
	}
	r.versions = append(r.versions, v)
	close(r.changed)
	r.changed = make(chan struct{})
}

func set[T any](objects map[types.UID]T, uid types.UID, object T, gone bool) {
	if gone {
		delete(objects, uid)
		return
	}
	objects[uid] = object
}

// changes returns a channel that is closed at the next change.
func (r *recorder) changes() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// wait waits until reached returns true, and reports whether that happened in time.
func (r *recorder) wait(reached func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	// A change wakes us; conditions outside the history are polled.
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		changed := r.changes()
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

// shows reports whether the history contains a stored object, or a later version.
func (r *recorder) shows(stored metav1.Object) bool { return r.at(stored) >= 0 }

// at returns the position of a stored version, or of the deletion of its object, in the history, or -1.
func (r *recorder) at(stored metav1.Object) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.IndexFunc(r.versions, func(v history.Version) bool {
		return v.Object().GetUID() == stored.GetUID() && (v.Gone || v.Object().GetResourceVersion() == stored.GetResourceVersion())
	})
}

// jobSince returns the first version of the named Job for which reached returns true, and its position: the latest
// version at the given position, or a later one.
func (r *recorder) jobSince(at int, name string, reached func(*batchv1.Job) bool) (*batchv1.Job, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, v := range slices.Backward(r.versions[:min(at, len(r.versions))]) {
		if v.Job != nil && v.Job.Name == name {
			at = i
			break
		}
	}
	for i, v := range r.versions[at:] {
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

// job returns the current Job of this name, or nil. It must not be changed.
func (r *recorder) job(name string) *batchv1.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range r.jobs {
		if job.Name == name {
			return job
		}
	}
	return nil
}

// pod returns the newest version of a pod, or nil if it is gone.
func (r *recorder) pod(uid types.UID) *corev1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pods[uid]
}

// hasSeen reports whether each of the pods is recorded in this version or a newer one, or was recorded and is gone.
func (r *recorder) hasSeen(pods []corev1.Pod) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range pods {
		seen := r.pods[pods[i].UID]
		if seen == nil && slices.Contains(r.order, pods[i].UID) {
			continue
		}
		if seen == nil {
			return false
		}
		if order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, pods[i].ResourceVersion); err != nil || order < 0 {
			return false
		}
	}
	return true
}

// inOrder returns all pods that have existed, the oldest first; a pod that is gone is nil.
func (r *recorder) inOrder() []*corev1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*corev1.Pod, len(r.order))
	for i, uid := range r.order {
		out[i] = r.pods[uid]
	}
	return out
}

// existing returns the pods that exist, the oldest first.
func (r *recorder) existing() []*corev1.Pod {
	return slices.DeleteFunc(r.inOrder(), func(pod *corev1.Pod) bool { return pod == nil })
}

// everCreated returns how many pods have existed.
func (r *recorder) everCreated() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

// stored returns all versions in the order in which they were stored.
func (r *recorder) stored() []history.Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return history.Sorted(r.versions)
}

// sorted returns the versions of stored with the field names of these tests.
func (r *recorder) sorted() (versions []version) {
	for _, v := range r.stored() {
		versions = append(versions, version{v, v.Revision, v.Job, v.Pod, v.Gone})
	}
	return versions
}

// finish waits until the recorder has caught up, and stops it. It reports whether the history is complete.
func (r *recorder) finish() bool {
	r.t.Helper()
	defer r.watched()
	defer r.cancel()
	deadline := time.Now().Add(patience)
	for {
		changed := r.changes()
		behind, err := r.behind()
		switch {
		case err != nil:
			r.t.Errorf("finishing the recording: %v", err)
			return false
		case behind == "":
			return true
		case time.Now().After(deadline):
			r.t.Errorf("the recorder has not seen: %s", behind)
			return false
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// behind describes an object whose present version the recorder lacks, or returns "".
func (r *recorder) behind() (string, error) {
	ctx := context.Background()
	jobs, err := r.client.BatchV1().Jobs(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	stored := map[types.UID]string{}
	for i := range jobs.Items {
		stored[jobs.Items[i].UID] = jobs.Items[i].ResourceVersion
	}
	for i := range pods.Items {
		stored[pods.Items[i].UID] = pods.Items[i].ResourceVersion
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := map[types.UID]string{}
	for uid, job := range r.jobs {
		shown[uid] = job.ResourceVersion
	}
	for uid, pod := range r.pods {
		shown[uid] = pod.ResourceVersion
	}
	if r.broken != nil || maps.Equal(stored, shown) {
		return "", r.broken
	}
	return fmt.Sprintf("%v, and shows %v", stored, shown), nil
}
