package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// SCL-11: the memory of a Job with nothing left to do is freed after a while, not earlier.
func TestMemoryIsFreed(t *testing.T) {
	m := newMemory()
	begin := time.Unix(1_000_000, 0)
	for _, uid := range []types.UID{"a", "b"} {
		m.update(uid, func(j *jobMemory) { j.ours = true; j.status = &batchv1.JobStatus{} })
	}
	m.retire("a", begin)
	if j := m.get("a"); !j.ours || j.status != nil {
		t.Errorf("right after the end: %+v", j)
	}
	m.retire("nobody", begin.Add(keepRetired))
	if len(m.jobs) != 1 || !m.get("b").ours {
		t.Errorf("later: %v", m.jobs)
	}
}

// SCL-11, MGB-01: nothing is kept about Jobs of other controllers.
func TestTrustOnlyOwnJobs(t *testing.T) {
	e := NewEngine(Config{}, observe.NewCache(nil, nil, nil), cluster.Cluster{})
	e.Trust(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "foreign"}})
	e.Trust(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "ours"}, Spec: batchv1.JobSpec{ManagedBy: ptr.To(DefaultManagedBy)}})
	if _, err := e.Sync(t.Context(), "unknown"); err != nil {
		t.Error(err)
	}
	if len(e.memory.jobs) != 1 || e.memory.get("ours").status == nil {
		t.Errorf("%v", e.memory.jobs)
	}
}

// The watch delivers a failure before the next sync sees it. Once the pod is released, the failure is forgotten after the
// hold.
// Requirements: JOB-53, BLI-26
func TestFailuresKeepTheTimeOfTheirFirstSight(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1_000_000, 0))
	e := NewEngine(Config{Clock: clock}, observe.NewCache(nil, nil, nil), cluster.Cluster{})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job"}}
	seen := func(pods ...*reconcile.Pod) string {
		since := e.memory.failures(job, pods, clock.Now(), e.config.Limits)
		var all []string
		for _, uid := range slices.Sorted(maps.Keys(since)) {
			all = append(all, fmt.Sprintf("%s %v ago", uid, clock.Since(since[uid])))
		}
		return strings.Join(all, ", ")
	}
	running := &reconcile.Pod{UID: "a", Phase: corev1.PodRunning, Finalizer: true}
	failed := &reconcile.Pod{UID: "a", Phase: corev1.PodFailed, Finalizer: true}
	terminating := &reconcile.Pod{UID: "b", Phase: corev1.PodRunning, Deleting: true, Finalizer: true}
	released := &reconcile.Pod{UID: "a", Phase: corev1.PodFailed}
	step := func(want, got string) {
		t.Helper()
		assert.Equal(t, got, want)
		clock.Step(400 * time.Millisecond)
	}

	step("", seen(running))
	e.PodEnded(job, observe.PodChange{Job: "job", Old: running, New: failed})
	clock.Step(300 * time.Millisecond)
	step("a 300ms ago, b 0s ago", seen(failed, terminating))
	e.PodEnded(job, observe.PodChange{Job: "job", Old: failed, New: released})
	step("a 700ms ago, b 400ms ago", seen(released, terminating))
	step("b 800ms ago", seen(released, terminating))

	// With podReplacementPolicy Failed, a terminating pod has not failed.
	job.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	step("", seen(released, terminating))
}
