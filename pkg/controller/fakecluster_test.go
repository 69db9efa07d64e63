package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var testTime = time.Unix(1_000_000, 0)

// fakeCluster answers an Engine as a test configures, and records the calls.
type fakeCluster struct {
	t      *testing.T
	clock  *clocktesting.FakeClock
	engine *Engine
	cache  *observe.Cache
	// live is the Job that a read past the cache returns, unless there is an error.
	live   *batchv1.Job
	getErr error
	pods   map[types.UID]*corev1.Pod
	// listed are the pods that a list past the cache returns.
	listed  []corev1.Pod
	version int
	// fail returns the error of a patch.
	fail func(ref reconcile.PodRef) error
	// onCreate and onDelete are called before a pod is created or deleted, which fails with their error.
	onCreate func(context.Context) error
	onDelete func(reconcile.PodRef) error
	// statusErr is the error of status writes.
	statusErr error
	// onStatus is called for each status write.
	onStatus func(*batchv1.Job)
	// webhook changes pods that are created or patched.
	webhook func(*corev1.Pod)
	// backwards runs the operations of a stage in reverse order.
	backwards bool
	calls     []string
	// priorities holds the priority of each call of Parallel.
	priorities []cluster.Priority
	// counted is the number of calls and stages so far; most is their limit, if larger than manyCalls.
	counted, most int
}

// manyCalls is more than any test needs, except tests with thousands of pods.
const manyCalls = 5_000

// count fails the test if the Engine never finishes. The clock does not advance within a sync, so nothing else would
// stop it, and its pods take memory.
func (f *fakeCluster) count() {
	if f.counted++; f.counted > max(f.most, manyCalls) {
		f.t.Fatalf("%d calls and stages: the Engine does not come to rest; the last calls are %q", f.counted, f.calls[max(0, len(f.calls)-10):])
	}
}

func newFakeCluster(t *testing.T, change func(*Config)) *fakeCluster {
	f := &fakeCluster{
		t: t, clock: clocktesting.NewFakeClock(testTime), pods: map[types.UID]*corev1.Pod{}, version: 100,
		fail: never[reconcile.PodRef], onCreate: never[context.Context], onDelete: never[reconcile.PodRef], webhook: func(*corev1.Pod) {},
	}
	config := Config{Clock: f.clock}
	if change != nil {
		change(&config)
	}
	f.start(config, observe.NewCache(nil, nil, ignoring{}))
	return f
}

// never is a fault that does not happen.
func never[T any](T) error { return nil }

// start gives the cluster an Engine.
func (f *fakeCluster) start(config Config, cache *observe.Cache) {
	f.cache = cache
	f.engine = NewEngine(config, cache, cluster.Cluster{Jobs: fakeJobs{f}, Pods: fakePods{f}, List: f, Parallel: f.parallel})
}

// sync syncs the Job as soon as another status write is allowed, and records only the calls of this sync.
func (f *fakeCluster) sync() (Result, error) {
	f.calls = nil
	f.clock.Step(f.engine.config.BatchPeriod)
	return f.engine.Sync(f.t.Context(), "uid")
}

// syncs is a sync without an error, fails one with an error.
func (f *fakeCluster) syncs() {
	f.t.Helper()
	_, err := f.sync()
	assert.NoError(f.t, err)
}

func (f *fakeCluster) fails() {
	f.t.Helper()
	if _, err := f.sync(); err == nil {
		f.t.Error("no error")
	}
}

// fakeQueue records the Jobs that are added.
type fakeQueue struct{ added []types.UID }

func (q *fakeQueue) AddAfter(job types.UID, _ time.Duration) { q.added = append(q.added, job) }
func (q *fakeQueue) AddRateLimited(types.UID)                {}
func (q *fakeQueue) Forget(types.UID)                        {}

type ignoring struct{}

func (ignoring) PodChanged(observe.PodChange) {}
func (ignoring) JobChanged(observe.JobChange) {}
func (ignoring) StrayChanged([]*batchv1.Job)  {}

// addJob puts a Job of ours, with the generated selector, into the cache and the cluster.
func (f *fakeCluster) addJob(job *batchv1.Job) {
	f.live = job
	assert.NoError(f.t, f.cache.JobStore("").Add(job))
}

// addTrusted adds a Job whose status the Engine takes as its own.
func (f *fakeCluster) addTrusted(job *batchv1.Job) {
	f.addJob(job)
	f.engine.Trust(job)
}

// addPods puts pods into the cache and the cluster.
func (f *fakeCluster) addPods(pods ...*corev1.Pod) {
	store := f.cache.PodStore("")
	for _, pod := range pods {
		f.pods[pod.UID] = pod
		assert.NoError(f.t, store.Add(pod))
	}
}

func (f *fakeCluster) parallel(job cluster.Priority, n int, do func(i int)) {
	f.priorities = append(f.priorities, job)
	f.count()
	for i := range n {
		if f.backwards {
			i = n - 1 - i
		}
		do(i)
	}
}

func (f *fakeCluster) note(format string, args ...any) {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	f.count()
}

// did returns how often a call was made.
func (f *fakeCluster) did(call string) (n int) {
	for _, c := range f.calls {
		if c == call {
			n++
		}
	}
	return n
}

// List returns the pods that are listed. It is not needed by tests that trust their Jobs.
func (f *fakeCluster) List(_ context.Context, _ *batchv1.Job, all bool) ([]corev1.Pod, string, error) {
	call := "list"
	if all {
		call = "list all"
	}
	f.note("%s", call)
	if f.listed == nil {
		return nil, "", errors.New("no list")
	}
	return f.listed, "200", nil
}

type fakeJobs struct{ *fakeCluster }

func (f fakeJobs) Get(_ context.Context, namespace, name string) (*observe.NamedJob, error) {
	f.note("get %s/%s", namespace, name)
	if f.getErr != nil {
		return nil, f.getErr
	}
	return &observe.NamedJob{Job: *f.live}, nil
}

func (f fakeJobs) UpdateStatus(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	f.note("status")
	if f.onStatus != nil {
		f.onStatus(job)
	}
	if f.statusErr != nil {
		return nil, f.statusErr
	}
	f.version++
	stored := job.DeepCopy()
	stored.ResourceVersion = strconv.Itoa(f.version)
	return stored, nil
}

// List returns the Job live.
func (f fakeJobs) List(_ context.Context, namespace string) ([]batchv1.Job, error) {
	f.note("list jobs of %s", namespace)
	switch {
	case f.getErr != nil && !apierrors.IsNotFound(f.getErr):
		return nil, f.getErr
	case f.live == nil:
		return nil, nil
	}
	return []batchv1.Job{*f.live}, nil
}

type fakePods struct{ *fakeCluster }

func (f fakePods) Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	f.note("create")
	if err := f.onCreate(ctx); err != nil {
		return nil, err
	}
	f.version++
	pod = pod.DeepCopy()
	f.webhook(pod)
	pod.Name = pod.GenerateName + strconv.Itoa(f.version)
	pod.UID, pod.ResourceVersion = types.UID(pod.Name), strconv.Itoa(f.version)
	f.pods[pod.UID] = pod
	return pod, nil
}

func (f fakePods) Delete(_ context.Context, _ string, ref reconcile.PodRef) (*corev1.Pod, error) {
	f.note("delete %s", ref.Name)
	if err := f.onDelete(ref); err != nil {
		return nil, err
	}
	f.version++
	pod := f.pods[ref.UID].DeepCopy()
	pod.ResourceVersion = strconv.Itoa(f.version)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: testTime}, ptr.To[int64](0)
	f.pods[ref.UID] = pod
	return pod, nil
}

func (f fakePods) Patch(_ context.Context, job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch) (*corev1.Pod, error) {
	f.note("%s %s/%s@%s", map[cluster.PodPatch]string{cluster.AdoptPod: "adopt", cluster.DisownPod: "disown", cluster.ReleasePod: "release"}[patch], job.Namespace, ref.Name, ref.ResourceVersion)
	if err := f.fail(ref); err != nil {
		return nil, err
	}
	f.version++
	pod := f.pods[ref.UID].DeepCopy()
	pod.ResourceVersion = strconv.Itoa(f.version)
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(s string) bool { return s == batchv1.JobTrackingFinalizer })
	switch patch {
	case cluster.AdoptPod:
		pod.OwnerReferences, pod.Finalizers = []metav1.OwnerReference{*jobReference(job)}, []string{batchv1.JobTrackingFinalizer}
	case cluster.DisownPod:
		pod.OwnerReferences = nil
	}
	f.webhook(pod)
	f.pods[ref.UID] = pod
	return pod, nil
}

func notFound(pod string) error { return apierrors.NewNotFound(corev1.Resource("pods"), pod) }

func jobNotFound(name string) error { return apierrors.NewNotFound(batchv1.Resource("jobs"), name) }

func conflict(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "x"}, name, errors.New("changed"))
}

func invalid(name string) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "ownerReferences"), field.OmitValueType{}, "only one reference can be the controller"),
	})
}

// ourJob returns a Job of ours named train that wants n pods to succeed.
func ourJob(n int32) *batchv1.Job {
	job := templateJob("train")
	job.ResourceVersion = "1"
	job.Spec.ManagedBy = ptr.To(DefaultManagedBy)
	job.Spec.Completions, job.Spec.Parallelism = &n, &n
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: "uid"}}
	job.Spec.Template.Labels = maps.Clone(job.Spec.Selector.MatchLabels)
	return job
}

// runningPod returns a pod that the Job's selector matches, controlled by the Job or without a controller.
func runningPod(name string, owner *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("uid-" + name), ResourceVersion: "7",
			Labels: map[string]string{batchv1.ControllerUidLabel: "uid", batchv1.JobNameLabel: "train"},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if owner != nil {
		pod.OwnerReferences, pod.Finalizers = []metav1.OwnerReference{*jobReference(owner)}, []string{batchv1.JobTrackingFinalizer}
	}
	return pod
}
