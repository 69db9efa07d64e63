package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// TRK-03: another client that releases a pod may have recorded it first. The Job is read before another pod is created.
func TestReleasedPodIsNotReplacedUnread(t *testing.T) {
	f := newFakeCluster(t, nil)
	job := ourJob(1)
	f.addTrusted(job)
	const read = "get ns/train"
	f.getErr = errors.New("timeout")
	f.engine.Released(job.UID)
	if _, err := f.engine.Sync(t.Context(), job.UID); err == nil || !slices.Equal(f.calls, []string{read}) {
		t.Fatalf("not readable: calls %q, %v", f.calls, err)
	}
	f.calls, f.getErr = nil, nil
	done := job.DeepCopy()
	done.ResourceVersion = "200"
	done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	f.live = done
	if _, err := f.engine.Sync(t.Context(), job.UID); err != nil || !slices.Equal(f.calls, []string{read}) {
		t.Errorf("recorded: calls %q, %v", f.calls, err)
	}
}

// TRK-03: the same if a list past the cache shows the release, so that the watch has nothing new to report.
func TestListedReleaseIsNotReplacedUnread(t *testing.T) {
	released := func(pod *corev1.Pod) []corev1.Pod {
		freed := pod.DeepCopy()
		freed.ResourceVersion, freed.Finalizers, freed.Status.Phase = "150", nil, corev1.PodSucceeded
		return []corev1.Pod{*freed}
	}
	for name, c := range map[string]struct {
		list func(*corev1.Pod) []corev1.Pod
		want []string
	}{
		"released":     {released, []string{"list", "get ns/train"}},
		"gone":         {func(*corev1.Pod) []corev1.Pod { return []corev1.Pod{} }, []string{"list", "list all", "get ns/train"}},
		"still active": {func(pod *corev1.Pod) []corev1.Pod { return []corev1.Pod{*pod} }, []string{"list", "create"}},
	} {
		f := newFakeCluster(t, nil)
		job := ourJob(2)
		job.Status = batchv1.JobStatus{Active: 1, Ready: ptr.To[int32](0), Terminating: ptr.To[int32](0), StartTime: &metav1.Time{Time: testTime}, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
		f.addJob(job)
		pod := runningPod("p", job)
		f.addPods(pod)
		f.listed = c.list(pod)
		done := job.DeepCopy()
		done.ResourceVersion = "200"
		done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		f.live = done
		_, err := f.engine.Sync(t.Context(), job.UID)
		if calls := f.calls[:min(len(c.want), len(f.calls))]; err != nil || !slices.Equal(calls, c.want) {
			t.Errorf("%s: calls %q, want %q first, %v", name, f.calls, c.want, err)
		}
	}
}

// TRK-05: a pod that another leader has recorded may have lost its labels since, before our watch shows it: its absence
// from a list by labels does not prove that it is gone.
func TestRecordedPodWithoutLabelsIsNotGone(t *testing.T) {
	for name, c := range map[string]struct {
		status batchv1.UncountedTerminatedPods
		want   []string
	}{
		"failed":    {batchv1.UncountedTerminatedPods{Failed: []types.UID{"uid-p"}}, []string{"list", "list all"}},
		"succeeded": {batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"uid-p"}}, []string{"list", "list all"}},
		"neither":   {batchv1.UncountedTerminatedPods{}, []string{"list"}},
		"listed":    {batchv1.UncountedTerminatedPods{Failed: []types.UID{"uid-q"}}, []string{"list"}},
	} {
		f := newFakeCluster(t, nil)
		job := ourJob(1)
		job.Status.UncountedTerminatedPods = &c.status
		job.Status.StartTime = &metav1.Time{Time: testTime}
		f.addJob(job)
		q := runningPod("q", job)
		f.pods[q.UID], f.listed = q, []corev1.Pod{*q}
		f.syncs()
		lists := slices.DeleteFunc(f.calls, func(call string) bool { return !strings.HasPrefix(call, "list") })
		assert.SlicesEqual(t, lists, c.want, name)
	}
}

// TRK-03: a released pod counts as recorded by another client unless the status contains it.
func TestUnrecordedReleaseIsNoted(t *testing.T) {
	tracked := &reconcile.Pod{UID: "p", Index: 1, Finalizer: true, Phase: corev1.PodSucceeded}
	freed := ptr.To(*tracked)
	freed.Finalizer = false
	for name, c := range map[string]struct {
		status   batchv1.JobStatus
		old, new *reconcile.Pod
		want     bool
	}{
		"released":              {batchv1.JobStatus{}, tracked, freed, true},
		"gone":                  {batchv1.JobStatus{}, tracked, nil, true},
		"released before":       {batchv1.JobStatus{}, freed, nil, false},
		"still tracked":         {batchv1.JobStatus{}, tracked, tracked, false},
		"new":                   {batchv1.JobStatus{}, nil, freed, false},
		"recorded":              {batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"p"}}}, tracked, freed, false},
		"recorded as failed":    {batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"p"}}}, tracked, nil, false},
		"another is recorded":   {batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"q"}}}, tracked, nil, true},
		"its index is done":     {batchv1.JobStatus{CompletedIndexes: "0,1"}, tracked, freed, false},
		"another index is done": {batchv1.JobStatus{CompletedIndexes: "0"}, tracked, freed, true},
	} {
		d, cache := NewDispatcher(Config{Clock: clocktesting.NewFakeClock(testTime)}, &fakeQueue{})
		noted := false
		d.OnReleased(func(types.UID) { noted = true })
		job := ourJob(2)
		job.Status = c.status
		assert.NoError(t, cache.JobStore("").Add(job))
		d.PodChanged(observe.PodChange{Job: job.UID, Old: c.old, New: c.new})
		assert.Equalf(t, noted, c.want, "%s: noted", name)
	}
}
