package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// transit is a cluster through which very many Jobs pass, each with one pod that runs and succeeds, and the queue of
// its controller. It keeps nothing about deleted objects.
type transit struct {
	t          *testing.T
	clock      *clocktesting.FakeClock
	dispatcher *Dispatcher
	engine     *Engine
	cache      *observe.Cache
	jobs, pods observe.Store
	version    int
	stored     map[types.UID]*corev1.Pod
	due        map[types.UID]bool
	// writes is the number of writes of the current sync.
	writes int
}

func newTransit(t *testing.T) *transit {
	f := &transit{t: t, clock: clocktesting.NewFakeClock(testTime), version: 1, stored: map[types.UID]*corev1.Pod{}, due: map[types.UID]bool{}}
	config := Config{Clock: f.clock}
	f.dispatcher, f.cache = NewDispatcher(config, f)
	f.engine = NewEngine(config, f.cache, cluster.Cluster{Jobs: transitJobs{f}, Pods: transitPods{f}, List: f, Parallel: func(_ cluster.Priority, n int, do func(int)) {
		for i := range n {
			do(i)
		}
	}})
	f.dispatcher.OnOwnJob(f.engine.Own)
	f.dispatcher.OnPodEnded(f.engine.PodEnded)
	f.dispatcher.OnReleased(f.engine.Released)
	f.jobs, f.pods = f.cache.JobStore(""), f.cache.PodStore("")
	return f
}

func (f *transit) AddAfter(job types.UID, _ time.Duration) { f.due[job] = true }
func (f *transit) AddRateLimited(types.UID)                {}
func (f *transit) Forget(types.UID)                        {}

// List is never needed: no other client writes.
func (f *transit) List(context.Context, *batchv1.Job, bool) ([]corev1.Pod, string, error) {
	return nil, "", errors.New("no list")
}

func (f *transit) next() string {
	f.version++
	return strconv.Itoa(f.version)
}

// work syncs Jobs until none is due. Every sync is late enough that nothing waits.
func (f *transit) work() {
	f.t.Helper()
	for rounds := 0; len(f.due) > 0; rounds++ {
		if rounds == 20 {
			f.t.Fatalf("%d Jobs do not come to rest", len(f.due))
		}
		due := f.due
		f.due = map[types.UID]bool{}
		f.clock.Step(time.Minute)
		for uid := range due {
			f.writes = 0
			result, err := f.engine.Sync(klog.NewContext(f.t.Context(), logr.Discard()), uid)
			assert.NoError(f.t, err)
			f.dispatcher.Synced(uid, result, err)
		}
	}
}

// deliver delivers the watch events of a Job and its pods.
func (f *transit) deliver(store observe.Store, object any, gone bool) {
	f.t.Helper()
	deliver := store.Update
	if gone {
		deliver = store.Delete
	}
	assert.NoError(f.t, deliver(object))
}

// create runs n Jobs to their end.
func (f *transit) create(n int) {
	f.t.Helper()
	for i := range n {
		job := ourJob(1)
		job.UID = types.UID(fmt.Sprintf("5e1f7c1e-6c1c-4a5e-9d5e-%012d", i))
		job.Name, job.ResourceVersion = fmt.Sprintf("train-%d", i), f.next()
		job.Spec.Selector.MatchLabels = map[string]string{batchv1.ControllerUidLabel: string(job.UID)}
		job.Spec.Template.Labels = map[string]string{batchv1.ControllerUidLabel: string(job.UID)}
		job.Spec.Template.Spec.Containers[0].Args = []string{strings.Repeat("x", 1000)}
		f.deliver(f.jobs, job, false)
	}
	f.work()
	f.play(corev1.PodRunning)
	f.play(corev1.PodSucceeded)
}

// play moves all pods to a phase.
func (f *transit) play(phase corev1.PodPhase) {
	f.t.Helper()
	for uid, pod := range f.stored {
		pod = pod.DeepCopy()
		pod.Status.Phase, pod.ResourceVersion = phase, f.next()
		f.stored[uid] = pod
		f.deliver(f.pods, pod, false)
	}
	f.work()
}

// remove deletes all Jobs, and then all pods, as the garbage collector does.
func (f *transit) remove() {
	f.t.Helper()
	for _, job := range f.cache.Jobs() {
		job = job.DeepCopy()
		job.ResourceVersion = f.next()
		f.deliver(f.jobs, job, true)
	}
	f.work()
	for uid, pod := range f.stored {
		pod = pod.DeepCopy()
		pod.ResourceVersion = f.next()
		delete(f.stored, uid)
		f.deliver(f.pods, pod, true)
	}
	f.work()
}

// written returns the resourceVersion of a write of the Engine. A Job with one pod needs a few writes per sync; without
// a limit, an Engine that never finishes would take all memory.
func (f *transit) written() string {
	if f.writes++; f.writes > 100 {
		f.t.Fatal("the Engine does not come to rest")
	}
	return f.next()
}

type transitJobs struct{ *transit }

func (f transitJobs) Get(context.Context, string, string) (*observe.NamedJob, error) {
	return nil, errors.New("no get")
}

func (f transitJobs) UpdateStatus(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	job.ResourceVersion = f.written()
	return job, nil
}

func (f transitJobs) List(context.Context, string) ([]batchv1.Job, error) {
	return nil, errors.New("no list of Jobs")
}

type transitPods struct{ *transit }

func (f transitPods) Create(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	pod.Name = pod.GenerateName + "abcde"
	pod.UID, pod.ResourceVersion = types.UID("pod-"+pod.Name), f.written()
	pod.CreationTimestamp = metav1.NewTime(f.clock.Now())
	f.stored[pod.UID] = pod
	return pod, nil
}

func (f transitPods) Delete(context.Context, string, reconcile.PodRef) (*corev1.Pod, error) {
	return nil, errors.New("no deletion")
}

func (f transitPods) Patch(_ context.Context, _ *batchv1.Job, ref reconcile.PodRef, _ cluster.PodPatch) (*corev1.Pod, error) {
	pod := f.stored[ref.UID].DeepCopy()
	pod.Finalizers, pod.ResourceVersion = nil, f.written()
	f.stored[ref.UID] = pod
	return pod, nil
}

// SCL-11: a while after the last of a thousand Jobs is deleted, nothing is left of them but some capacity of tables.
func TestMemoryOfJobsIsFreed(t *testing.T) {
	const jobs = 1_000
	f := newTransit(t)
	size := func() int64 { return measure.Size(f.engine, f.dispatcher, f.cache) }
	begun, most := size(), int64(0)
	measure.CheckLive(t, 4<<20, func() {
		f.create(jobs)
		for _, job := range f.cache.Jobs() {
			if !reconcile.IsFinished(job) {
				t.Fatalf("Job %s is not finished: %+v", job.Name, job.Status)
			}
		}
		if n := len(f.cache.Jobs()); n != jobs {
			t.Fatalf("%d Jobs", n)
		}
		most = size() - begun
		f.remove()
		// The Engine remembers for a while that a Job was ours, until another Job ends.
		f.clock.Step(keepRetired)
		f.engine.memory.retire("another", f.clock.Now())
	})
	if n := len(f.engine.memory.jobs) + len(f.dispatcher.batcher.next) + len(f.cache.Jobs()); n > 0 {
		t.Errorf("there are %d Jobs in memory, %d are batched, %d in the cache", len(f.engine.memory.jobs), len(f.dispatcher.batcher.next), len(f.cache.Jobs()))
	}
	left := size() - begun
	if most < 1000*jobs || left > 10*jobs {
		t.Errorf("%d bytes are left of %d", left, most)
	}
	runtime.KeepAlive(f)
}
