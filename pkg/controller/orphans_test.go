package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// madePod returns a pod that this program created for the Job train.
func madePod(name string) *corev1.Pod {
	pod := runningPod(name, ourJob(1))
	pod.Annotations = map[string]string{AttemptAnnotation: "1"}
	return pod
}

// strayPod returns a pod that lost its owner by Orphan propagation.
func strayPod(name string) *corev1.Pod {
	pod := madePod(name)
	pod.OwnerReferences = nil
	return pod
}

// TRK-22, TRK-23: pods of a Job that was deleted while no controller ran are released if this program created them, and
// the API server returns that the Job is gone.
// Requirements: TRK-20
func TestOrphansOfAnUnknownJobAreReleasedIfOurs(t *testing.T) {
	unmade := runningPod("p", ourJob(1))
	unlabeled, foreign, otherGroup := strayPod("p"), madePod("p"), madePod("p")
	unlabeled.Labels = nil
	foreign.OwnerReferences[0].Kind = "ReplicaSet"
	otherGroup.OwnerReferences[0].APIVersion = "batch.example.com/v1"
	recreated := ourJob(1)
	recreated.UID = "other"
	const read, freed, freedStray = "get ns/train", "release ns/p@", "release ns/p@7"
	for name, c := range map[string]struct {
		pod     *corev1.Pod
		live    *batchv1.Job
		err     error
		calls   []string
		retries bool
	}{
		"gone":                          {madePod("p"), nil, jobNotFound("train"), []string{read, freed}, false},
		"gone, pod orphaned":            {strayPod("p"), nil, jobNotFound("train"), []string{read, freedStray}, false},
		"recreated":                     {madePod("p"), recreated, nil, []string{read, freed}, false},
		"still there":                   {madePod("p"), ourJob(1), nil, []string{read}, false},
		"still there, pod orphaned":     {strayPod("p"), ourJob(1), nil, []string{read}, false},
		"not readable":                  {madePod("p"), nil, errors.New("timeout"), []string{read}, true},
		"not made by us":                {unmade, nil, jobNotFound("train"), nil, false},
		"orphaned, and says nothing":    {unlabeled, nil, jobNotFound("train"), nil, false},
		"of another kind of controller": {foreign, nil, jobNotFound("train"), nil, false},
		"of a Job of another API group": {otherGroup, nil, jobNotFound("train"), nil, false},
	} {
		f := newFakeCluster(t, nil)
		f.live, f.getErr = c.live, c.err
		f.addPods(c.pod)
		result, err := f.engine.Sync(t.Context(), "uid")
		if !slices.Equal(f.calls, c.calls) || (err != nil) != c.retries || result.Done == c.retries {
			t.Errorf("%s: %+v, %v, calls %q", name, result, err, f.calls)
		}
		gone := slices.ContainsFunc(c.calls, func(call string) bool { return strings.HasPrefix(call, "release") })
		m, remembered := f.engine.memory.jobs["uid"]
		if remembered != gone || m.absent != gone || m.retired.IsZero() == gone {
			t.Errorf("%s: remembers %+v", name, f.engine.memory.jobs)
		}
	}
}

// TRK-20: a Job that this process saw as ours needs no read, and no annotation on its pods.
// Requirements: TRK-21
func TestOrphansOfOurJobNeedNoRead(t *testing.T) {
	f := newFakeCluster(t, nil)
	job := ourJob(2)
	f.addJob(job)
	f.addPods(runningPod("a", job), runningPod("b", job))
	f.engine.Own(job)
	_ = f.cache.JobStore("").Delete(job)
	lost := runningPod("b", job)
	lost.OwnerReferences, lost.ResourceVersion = nil, "9"
	f.addPods(lost)
	result, err := f.engine.Sync(t.Context(), "uid")
	if slices.Sort(f.calls); !slices.Equal(f.calls, []string{"release ns/a@", "release ns/b@9"}) || err != nil || !result.Done {
		t.Errorf("%+v, %v, calls %q", result, err, f.calls)
	}
}

// TRK-20, TRK-23: pods that a Job of ours has lost and may not adopt are released, on condition that they have not
// changed; pods that it may adopt are adopted.
func TestLostPodIsAdoptedOrReleased(t *testing.T) {
	now := metav1.Time{Time: testTime}
	running := func(*batchv1.Job) {}
	for name, c := range map[string]struct {
		job  func(*batchv1.Job)
		pod  func(*corev1.Pod)
		want string
	}{
		"selected":           {running, func(*corev1.Pod) {}, "adopt ns/p@8"},
		"being deleted":      {running, func(p *corev1.Pod) { p.DeletionTimestamp = &now }, "release ns/p@8"},
		"no longer selected": {running, func(p *corev1.Pod) { p.Labels = map[string]string{"app": "x"} }, "release ns/p@8"},
		"Job being deleted":  {func(j *batchv1.Job) { j.DeletionTimestamp = &now }, func(*corev1.Pod) {}, "release ns/p@8"},
		"Job finished": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		}, func(*corev1.Pod) {}, "release ns/p@8"},
		"without the finalizer": {running, func(p *corev1.Pod) { p.Finalizers, p.DeletionTimestamp = nil, &now }, ""},
		"Job of somebody else":  {func(j *batchv1.Job) { j.Spec.ManagedBy = nil }, func(p *corev1.Pod) { p.DeletionTimestamp = &now }, ""},
		"in another namespace":  {running, func(p *corev1.Pod) { p.Namespace, p.DeletionTimestamp = "elsewhere", &now }, ""},
	} {
		f := newFakeCluster(t, nil)
		job := ourJob(1)
		c.job(job)
		f.addJob(job)
		f.addPods(madePod("p"))
		lost := strayPod("p")
		c.pod(lost)
		lost.ResourceVersion = "8"
		f.addPods(lost)
		if _, err := f.engine.Sync(t.Context(), "uid"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		writes := slices.DeleteFunc(f.calls, func(c string) bool { return !strings.Contains(c, "/p@") })
		assert.Equal(t, strings.Join(writes, " "), c.want, name)
	}
}

// TRK-20: a failed release is not retried in the same sync.
func TestLostPodIsNotReleased(t *testing.T) {
	f := newFakeCluster(t, nil)
	f.addJob(ourJob(1))
	f.addPods(madePod("p"))
	lost := strayPod("p")
	lost.ResourceVersion, lost.Labels = "8", nil
	f.addPods(lost)
	f.fail = func(reconcile.PodRef) error { return errors.New("timeout") }
	if _, err := f.engine.Sync(t.Context(), "uid"); err == nil || f.did("release ns/p@8") != 1 {
		t.Errorf("%v, calls %q", err, f.calls)
	}
}

// TRK-20: a failed release is retried: after a growing wait, or soon if the pod changed.
func TestOrphansAreRetried(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		fails bool
	}{"error": {errors.New("timeout"), true}, "another adopts it": {conflict("p"), false}} {
		f := newFakeCluster(t, nil)
		f.getErr = jobNotFound("train")
		f.addPods(strayPod("p"))
		f.fail = func(reconcile.PodRef) error { return c.err }
		result, err := f.engine.Sync(t.Context(), "uid")
		if (err != nil) != c.fails || result.Done || !c.fails && result.After != f.engine.config.RetryMin {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		f.fail = func(reconcile.PodRef) error { return nil }
		if result, err := f.engine.Sync(t.Context(), "uid"); err != nil || !result.Done || len(f.cache.Orphans("uid")) > 0 {
			t.Errorf("%s, again: %+v, %v", name, result, err)
		}
	}
}

// TRK-23: the Job in a pod's labels counts only if it is the pod's own Job.
func TestOrphansOfOneUIDSayDifferentThings(t *testing.T) {
	f := newFakeCluster(t, nil)
	f.live = ourJob(1)
	liar := strayPod("liar")
	liar.Namespace, liar.Labels[batchv1.JobNameLabel] = "elsewhere", "train"
	f.addPods(madePod("honest"), liar)
	f.getErr = nil
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || !slices.Equal(f.calls, []string{"get ns/train", "get elsewhere/train"}) {
		t.Errorf("%v, calls %q", err, f.calls)
	}
	// The Job is ours, and gone: the pod in another namespace never belonged to it.
	job := ourJob(1)
	f.engine.Own(job)
	f.calls = nil
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || !slices.Equal(f.calls, []string{"release ns/honest@"}) {
		t.Errorf("%v, calls %q", err, f.calls)
	}
}

// TRK-22: at startup, pods of a Job that no watch will ever report lead to a sync of that Job.
func TestOrphansAreDispatched(t *testing.T) {
	for name, pod := range map[string]*corev1.Pod{"owned": madePod("p"), "orphaned": strayPod("p")} {
		q := &fakeQueue{}
		_, cache := NewDispatcher(Config{}, q)
		_ = cache.JobStore("").Replace(nil, "9")
		_ = cache.PodStore("").Replace([]any{pod}, "9")
		if len(q.added) != 1 || q.added[0] != "uid" {
			t.Errorf("%s: syncs of %q", name, q.added)
		}
	}
}

// TRK-22: once a read has not found a Job, a watch that shows it may be late. The Job is left alone until another read
// finds it, as after a restore of etcd.
func TestAbsentJobIsReadAgain(t *testing.T) {
	f := newFakeCluster(t, nil)
	f.getErr = jobNotFound("train")
	f.addPods(madePod("p"))
	job := ourJob(1)
	const read, freed = "get ns/train", "release ns/p@"
	for _, step := range []struct {
		shown bool
		err   error
		fails bool
		calls []string
	}{
		{false, jobNotFound("train"), false, []string{read, freed}},
		{true, jobNotFound("train"), false, []string{read}},
		{true, errors.New("timeout"), true, []string{read}},
		{true, nil, false, []string{read, "delete p", "create", "status"}},
		{true, errors.New("timeout"), false, nil},
	} {
		f.calls = nil
		if step.shown {
			f.addJob(job)
		}
		f.getErr = step.err
		result, err := f.engine.Sync(t.Context(), job.UID)
		if !slices.Equal(f.calls, step.calls) || (err != nil) != step.fails {
			t.Errorf("%+v: calls %q, %+v, %v", step, f.calls, result, err)
		}
	}
}
