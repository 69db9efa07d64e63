package suite

import (
	"context"
	"slices"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Recorder keeps every stored version of the Jobs and pods of a namespace.
type Recorder struct {
	mu       sync.Mutex
	versions []history.Version
	// pods are in order of creation.
	pods    []types.UID
	latest  map[types.UID]history.Version
	jobs    map[types.UID][]*batchv1.Job
	changed chan struct{}
	broken  error
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{latest: map[types.UID]history.Version{}, jobs: map[types.UID][]*batchv1.Job{}, changed: make(chan struct{})}
}

// Record implements history.Recorder.
func (r *Recorder) Record(v history.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = append(r.versions, v)
	uid := v.Object().GetUID()
	_, known := r.latest[uid]
	r.latest[uid] = v
	switch {
	case v.Pod != nil && !known:
		r.pods = append(r.pods, uid)
	case v.Job != nil && !v.Gone:
		r.jobs[uid] = append(r.jobs[uid], v.Job)
	}
	r.wake()
}

// BreakOff implements history.Recorder.
func (r *Recorder) BreakOff(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = err
	r.wake()
}

func (r *Recorder) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Changes returns a channel that is closed by the next change, and an error if the record is incomplete.
func (r *Recorder) Changes() (<-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, r.broken
}

// Wait waits until reached returns true, and checks it after every change. It fails when ctx is done or the record is
// incomplete.
func (r *Recorder) Wait(ctx context.Context, reached func() bool) error {
	for {
		changed, err := r.Changes()
		if err != nil {
			return err
		}
		if reached() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WaitFor waits until the record has this version of the object or a later one.
func (r *Recorder) WaitFor(ctx context.Context, o metav1.Object) error {
	revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return err
	}
	return r.Wait(ctx, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.latest[o.GetUID()].Revision >= revision
	})
}

// Job returns the stored versions of a Job, the oldest first, and whether the Job is gone.
func (r *Recorder) Job(uid types.UID) (versions []*batchv1.Job, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.jobs[uid]), r.latest[uid].Gone
}

// Pods returns the latest versions of all pods that ever existed, the oldest pod first.
func (r *Recorder) Pods() []history.Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	pods := make([]history.Version, 0, len(r.pods))
	for _, uid := range r.pods {
		pods = append(pods, r.latest[uid])
	}
	return pods
}

// Pod returns the latest version of a pod.
func (r *Recorder) Pod(uid types.UID) history.Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest[uid]
}

// Versions returns all versions, in the order in which they were stored.
func (r *Recorder) Versions() []history.Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return history.Sorted(r.versions)
}

// isThere reports whether the pod exists.
func isThere(v history.Version) bool { return v.Pod != nil && !v.Gone }
