package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// forbidden returns the response to a creation, with a cause about the namespace.
func forbidden(cause metav1.CauseType) error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "train", nil)
	if cause != "" {
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause, Message: "namespace ns is being terminated", Field: "metadata.namespace"}}
	}
	return err
}

func terminating() error { return forbidden(corev1.NamespaceTerminatingCause) }

// refusing returns a fake cluster that calls a function before it creates a pod.
func refusing(t *testing.T, refuse func() error) *fakeCluster {
	f := newFakeCluster(t, nil)
	f.onCreate = func(context.Context) error { return refuse() }
	return f
}

func (f *fakeCluster) active() int32 { return f.cache.Job("uid").Status.Active }

// JOB-46 (D-37): in a namespace that is being terminated, one creation is tried per sync. Its failure is not an error,
// which would be retried again and again, nor an event; no pod counts as active.
func TestTerminatingNamespaceIsNoError(t *testing.T) {
	r, events := newTalkingCluster(t)
	r.onCreate = func(context.Context) error { return terminating() }
	r.addJob(ourJob(100))
	for sync := range 3 {
		result, err := r.sync()
		if err != nil || result != (Result{}) {
			t.Errorf("sync %d: %+v, %v", sync, result, err)
		}
		if r.did("create") != 1 || r.did("list") != 0 {
			t.Errorf("sync %d: calls %q", sync, r.calls)
		}
		if r.active() != 0 || len(r.cache.Pods("uid")) != 0 {
			t.Errorf("sync %d: active %d, %d pods", sync, r.active(), len(r.cache.Pods("uid")))
		}
	}
	events.want(t, "nothing")
}

// JOB-46, JOB-45, REG-06: any other refusal is an error, also a conflict, such as the admission of a quota may return:
// otherwise nothing would request another sync. Everything is created as soon as nothing is refused anymore.
func TestRefusedCreationIsTriedAgain(t *testing.T) {
	for _, refused := range []error{
		forbidden(""), forbidden(metav1.CauseTypeForbidden),
		apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "pods", errors.New("modified")),
	} {
		why := refused
		r := refusing(t, func() error { return why })
		r.addJob(ourJob(100))
		_, err := r.sync()
		if !errors.Is(err, refused) || r.did("create") != 1 || r.active() != 0 {
			t.Errorf("%v: %v, calls %q", refused, err, r.calls)
		}
		queue := &retryQueue{}
		dispatcher, _ := NewDispatcher(r.engine.config, queue)
		dispatcher.Synced("uid", Result{}, err)
		assert.Equal(t, queue.retries, 1, "retries", refused)
		why = nil
		if _, err := r.sync(); err != nil || r.did("create") != 100 || r.active() != 100 {
			t.Errorf("%v: %v, %d creations, active %d", refused, err, r.did("create"), r.active())
		}
	}
}

// retryQueue counts the requested retries.
type retryQueue struct {
	fakeQueue
	retries int
}

func (q *retryQueue) AddRateLimited(types.UID) { q.retries++ }

// JOB-45: creations come in batches of 1, 2, 4…; a batch with a refused creation is completed, and is the last batch of
// the sync. The next sync begins with one creation again.
func TestBatchesDoubleUntilACreationIsRefused(t *testing.T) {
	for _, c := range []struct{ quota, wanted, calls, again int }{
		{0, 100, 1, 1}, {1, 100, 3, 1}, {2, 100, 3, 1}, {3, 100, 7, 1}, {10, 100, 15, 1}, {100, 100, 100, 0}, {99, 100, 100, 1}, {5, 4, 4, 0},
	} {
		left := c.quota
		r := refusing(t, func() error {
			if left == 0 {
				return forbidden("")
			}
			left--
			return nil
		})
		r.addJob(ourJob(int32(c.wanted)))
		_, err := r.sync()
		if n := r.did("create"); n != c.calls || (err != nil) != (c.quota < c.wanted) {
			t.Errorf("quota %d of %d: %d calls, want %d; %v", c.quota, c.wanted, n, c.calls, err)
		}
		if _, err = r.sync(); r.did("create") != c.again || (err != nil) != (c.quota < c.wanted) {
			t.Errorf("quota %d of %d: %d calls in the next sync, want %d; %v", c.quota, c.wanted, r.did("create"), c.again, err)
		}
		assert.Equalf(t, r.active(), int32(min(c.quota, c.wanted)), "quota %d of %d: active", c.quota, c.wanted)
	}
}

// JOB-20, SCL-11: when nothing is left to do for a finished Job, the Engine remembers only that it was ours: not its
// back-off, nor its events.
func TestFinishedJobIsForgotten(t *testing.T) {
	r := refusing(t, terminating)
	job := ourJob(1)
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "Reason"}}
	r.addJob(job)
	held := runningPod("held", job)
	held.Status.Phase = corev1.PodFailed
	r.addPods(held)
	r.engine.memory.update("uid", func(m *jobMemory) {
		m.backoff, m.emitted = backoff.Record{Failures: 3, LastFailure: testTime}, map[string]bool{"something": true}
	})
	r.fail = func(reconcile.PodRef) error { return errors.New("timeout") }
	if result, err := r.sync(); err == nil || result.Done || r.engine.memory.get("uid").backoff.Failures != 3 {
		t.Errorf("a pod holds its finalizer: %+v, %v", result, err)
	}
	r.fail = never
	result, err := r.sync()
	if m := r.engine.memory.get("uid"); err != nil || !result.Done || !m.ours || m.backoff.Failures != 0 || m.emitted != nil {
		t.Errorf("%+v, %v, remembered %+v", result, err, m)
	}
}

// JOB-16, JOB-32, JOB-12: a pod change that decisions depend on leads to a sync even if nothing else changes.
func TestEachChangeThatMattersBringsASync(t *testing.T) {
	for name, change := range map[string]func(*reconcile.Pod){
		"phase": func(p *reconcile.Pod) { p.Phase = corev1.PodUnknown }, "index": func(p *reconcile.Pod) { p.Index = 3 },
		"deletion": func(p *reconcile.Pod) { p.Deleting = true }, "finalizer": func(p *reconcile.Pod) { p.Finalizer = true },
		"ready": func(p *reconcile.Pod) { p.Ready = true }, "scheduled": func(p *reconcile.Pod) { p.Scheduled = true },
		"restarts": func(p *reconcile.Pod) { p.Restarts = 1 },
	} {
		before := reconcile.Pod{Phase: corev1.PodRunning}
		after := before
		change(&after)
		assert.Equal(t, podUrgency(observe.PodChange{Old: &before, New: &after, Active: 1}, true), batched, name)
		assert.Equalf(t, podUrgency(observe.PodChange{Old: &after, New: &after, Active: 1}, true), ignore, "%s does not change", name)
	}
}

// JOB-22: startTime is written beside the first of many creations, or, after few creations, in one write with their
// count; if these take long, beside the remaining creations. JOB-45: the next sync begins with one creation again.
func TestStartTimeIsNotHeldUp(t *testing.T) {
	for name, c := range map[string]struct {
		pods, first int32
		slow        time.Duration
	}{
		"many": {100, 1, 0}, "few": {4, 4, 0}, "few, with a slow webhook": {4, 1, time.Minute},
	} {
		created, at, active := int32(0), int32(-1), int32(-1)
		var r *fakeCluster
		r = refusing(t, func() error {
			created++
			r.clock.Step(c.slow)
			return nil
		})
		r.onStatus = func(job *batchv1.Job) {
			if at < 0 {
				at, active = created, job.Status.Active
			}
		}
		r.addJob(ourJob(c.pods))
		for i := 0; created < c.pods && i < 10; i++ {
			if _, err := r.sync(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if at > c.first || active > at || created != c.pods {
			t.Errorf("%s: startTime after %d creations, with active %d; %d pods", name, at, active, created)
		}
		assert.Equalf(t, r.engine.memory.get("uid").ramp, 0, "%s: creations at the start of the next sync", name)
	}
}

// A stage ends when the watch shows that a client has changed the spec, or deleted the Job.
// Requirements: SCL-16
func TestChangedJobGetsNoMorePodsOfTheOldPlan(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job){
		"suspended":   func(job *batchv1.Job) { job.Spec.Suspend, job.Generation = ptr.To(true), 2 },
		"scaled down": func(job *batchv1.Job) { job.Spec.Parallelism, job.Generation = ptr.To[int32](0), 2 },
		"deleted":     func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(testTime)) },
	} {
		created := 0
		var r *fakeCluster
		r = refusing(t, func() error {
			if created++; created == 10 {
				job := r.live.DeepCopy()
				change(job)
				job.ResourceVersion = "1000"
				r.addJob(job)
			}
			return nil
		})
		r.addJob(ourJob(200))
		if _, err := r.sync(); err != nil || created != 10 {
			t.Errorf("%s: %d pods, %v", name, created, err)
		}
	}
}

// REG-31: a conflict about one pod is an error after the third in a row; occasional conflicts are not reported.
func TestThirdConflictInARowIsAnError(t *testing.T) {
	f, heard := newTalkingCluster(t)
	job := ourJob(1)
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	f.addJob(job)
	f.addPods(runningPod("a", job))
	f.fail = func(reconcile.PodRef) error { return conflict("a") }
	for sync := range 5 {
		_, err := f.engine.Sync(t.Context(), "uid")
		if (err != nil) != (sync >= maxConflicts) || len(heard.texts) > 0 != (sync >= maxConflicts) {
			t.Errorf("sync %d: %v, said %q", sync, err, heard.texts)
		}
	}
	f.fail = never
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || f.engine.memory.get("uid").conflicts != nil {
		t.Errorf("%v, %v", err, f.engine.memory.get("uid").conflicts)
	}
}
