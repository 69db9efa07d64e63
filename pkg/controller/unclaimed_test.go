package controller

import (
	"errors"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// manualJob returns a Job with a manual selector.
func manualJob(change func(*batchv1.Job)) *batchv1.Job {
	job := ourJob(1)
	job.Spec.ManualSelector = ptr.To(true)
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "train"}}
	job.Spec.Template.Labels = map[string]string{"app": "train"}
	change(job)
	return job
}

// unclaimedPod returns a pod that such a Job left when it was deleted.
func unclaimedPod(name string) *corev1.Pod {
	pod := strayPod(name)
	pod.Labels, pod.Annotations = map[string]string{"app": "train"}, nil
	return pod
}

func replaceBuiltin(f *fakeCluster) {
	f.engine.config.ReplaceBuiltin = true
	f.cache.OrphansOfAll()
}

// TRK-20, TRK-22: if we replace the built-in controller, a pod that has no controller and does not name its former Job
// is released, on condition that it has not changed, unless a Job may adopt it that is in the cache, or that only a
// read past the cache finds.
func TestUnclaimedPodsAreReleased(t *testing.T) {
	const list, freed = "list jobs of ns", "release ns/p@7"
	now := metav1.Time{Time: testTime}
	same, others := func(*batchv1.Job) {}, func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To("example.com/other") }
	finished := func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	}
	config := Config{}.WithDefaults()
	soon, late, done := Result{After: config.RetryMin}, Result{After: config.RetryMax}, Result{Done: true}
	for name, c := range map[string]struct {
		cached, live *batchv1.Job
		pod          func(*corev1.Pod)
		calls        []string
		result       Result
	}{
		"no Job":                            {nil, nil, nil, []string{list, freed}, done},
		"selected by a Job of ours":         {manualJob(same), nil, nil, nil, late},
		"by one of another controller":      {manualJob(others), nil, nil, nil, late},
		"by one that has finished":          {manualJob(finished), manualJob(finished), nil, []string{list, freed}, done},
		"by another's that has finished":    {manualJob(func(j *batchv1.Job) { finished(j); others(j) }), nil, nil, []string{list, freed}, done},
		"by one that is being deleted":      {manualJob(func(j *batchv1.Job) { j.DeletionTimestamp = &now }), nil, nil, []string{list, freed}, done},
		"by one that the cache lacks":       {nil, manualJob(same), nil, []string{list}, soon},
		"by none that there is":             {ourJob(1), ourJob(1), nil, []string{list, freed}, done},
		"by one in another namespace":       {manualJob(func(j *batchv1.Job) { j.Namespace = "elsewhere" }), nil, nil, []string{list, freed}, done},
		"selected, and being deleted":       {manualJob(same), manualJob(same), func(p *corev1.Pod) { p.DeletionTimestamp = &now }, []string{list, freed}, done},
		"with the UID of a Job and no name": {nil, nil, func(p *corev1.Pod) { p.Labels[batchv1.ControllerUidLabel] = "gone" }, []string{list, freed}, done},
		"without the finalizer":             {nil, nil, func(p *corev1.Pod) { p.Finalizers = nil }, nil, done},
	} {
		f := newFakeCluster(t, nil)
		replaceBuiltin(f)
		if c.cached != nil {
			f.addJob(c.cached)
		}
		f.live, f.getErr = c.live, notFound("train")
		pod := unclaimedPod("p")
		if c.pod != nil {
			c.pod(pod)
		}
		f.addPods(pod)
		result, err := f.engine.Sync(t.Context(), observe.UnknownJob("ns"))
		if err != nil || result != c.result || !slices.Equal(f.calls, c.calls) {
			t.Errorf("%s: %+v, %v, calls %q", name, result, err, f.calls)
		}
	}
}

// TRK-23: beside the built-in controller, such a pod is left to that controller.
func TestUnclaimedPodsAreLeft(t *testing.T) {
	q := &fakeQueue{}
	_, cache := NewDispatcher(Config{}, q)
	_ = cache.PodStore("").Replace([]any{unclaimedPod("p")}, "9")
	if len(q.added) > 0 || len(cache.Orphans(observe.UnknownJob("ns"))) > 0 {
		t.Errorf("syncs of %q", q.added)
	}
}

// TRK-22: at startup, and later, such a pod leads to a sync for its namespace.
func TestUnclaimedPodsAreDispatched(t *testing.T) {
	q := &fakeQueue{}
	_, cache := NewDispatcher(Config{ReplaceBuiltin: true}, q)
	_ = cache.JobStore("").Replace(nil, "9")
	_ = cache.PodStore("").Replace([]any{unclaimedPod("p")}, "9")
	bare := unclaimedPod("bare")
	bare.Finalizers = nil
	_ = cache.PodStore("").Add(bare)
	if len(q.added) != 1 || q.added[0] != observe.UnknownJob("ns") {
		t.Fatalf("syncs of %q", q.added)
	}
	held := unclaimedPod("bare")
	held.ResourceVersion = "12"
	_ = cache.PodStore("").Update(held)
	if len(q.added) != 2 || q.added[1] != observe.UnknownJob("ns") {
		t.Errorf("when one gets the finalizer: syncs of %q", q.added)
	}
}

// TRK-20, REG-30: a failed release is retried: after a growing wait, or soon if the pod changed, as it does when a Job
// adopts it.
func TestUnclaimedPodsAreRetried(t *testing.T) {
	key := observe.UnknownJob("ns")
	for name, c := range map[string]struct {
		list, patch error
		fails       bool
	}{
		"the list fails": {list: errors.New("timeout"), fails: true}, "the patch fails": {patch: errors.New("timeout"), fails: true},
		"the pod changed": {patch: conflict("p")},
	} {
		f := newFakeCluster(t, nil)
		replaceBuiltin(f)
		f.addPods(unclaimedPod("p"))
		f.getErr, f.fail = c.list, func(reconcile.PodRef) error { return c.patch }
		result, err := f.engine.Sync(t.Context(), key)
		if (err != nil) != c.fails || result.Done || !c.fails && result.After != f.engine.config.RetryMin {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		f.getErr, f.fail = nil, func(reconcile.PodRef) error { return nil }
		if result, err := f.engine.Sync(t.Context(), key); err != nil || !result.Done || len(f.cache.Orphans(key)) > 0 {
			t.Errorf("%s, again: %+v, %v", name, result, err)
		}
		if len(f.engine.memory.jobs) > 0 {
			t.Errorf("%s: remembers %v", name, f.engine.memory.jobs)
		}
	}
}

// TRK-33: many pods are released in several syncs, and pods that are left to a Job do not delay the others.
func TestManyUnclaimedPodsTakeSeveralSyncs(t *testing.T) {
	f := newFakeCluster(t, func(c *Config) { c.Limits.MaxPodChanges = 2 })
	replaceBuiltin(f)
	f.addJob(manualJob(func(*batchv1.Job) {}))
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		pod := unclaimedPod(name)
		if name > "c" {
			pod.Labels = nil
		}
		f.addPods(pod)
	}
	for sync, want := range []Result{{Soon: true}, {After: f.engine.config.RetryMax}, {After: f.engine.config.RetryMax}} {
		if result, err := f.engine.Sync(t.Context(), observe.UnknownJob("ns")); err != nil || result != want {
			t.Errorf("sync %d: %+v, %v", sync, result, err)
		}
	}
	if slices.Sort(f.calls); !slices.Equal(f.calls, []string{"list jobs of ns", "list jobs of ns", "release ns/d@7", "release ns/e@7", "release ns/f@7"}) {
		t.Errorf("calls %q", f.calls)
	}
}

// TRK-20: a pod that names its former Job, and that another Job may now adopt, is left to the other Job.
func TestOrphanIsAdoptable(t *testing.T) {
	f := newFakeCluster(t, nil)
	job := manualJob(func(j *batchv1.Job) { j.UID, j.Spec.ManagedBy = "other", nil })
	f.addJob(job)
	f.getErr = jobNotFound("train")
	pod := strayPod("p")
	pod.Labels["app"] = "train"
	f.addPods(pod)
	if result, err := f.engine.Sync(t.Context(), "uid"); err != nil || result.After != f.engine.config.RetryMax || len(f.calls) > 0 {
		t.Errorf("%+v, %v, calls %q", result, err, f.calls)
	}
	_ = f.cache.JobStore("").Delete(job)
	if result, err := f.engine.Sync(t.Context(), "uid"); err != nil || !result.Done || f.did("release ns/p@7") != 1 {
		t.Errorf("when that Job is gone: %+v, %v, calls %q", result, err, f.calls)
	}
}
