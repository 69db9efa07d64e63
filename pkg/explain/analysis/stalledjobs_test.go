package analysis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// tracked adds the tracking finalizer to an ended pod, which is then not counted yet.
func tracked(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
}

// Issue 6: the verdict on a Job that is not finished has the numbers of the pods, which are shown beside it, and not the
// older numbers of the status.
func TestVerdictGoesByThePods(t *testing.T) {
	stale := func(j *batchv1.Job) { j.Status.Active = 5 }
	f := factsOf(indexedJob(5, stale),
		podOf("a", onIndex(0, 1, tracked(exits(0, "Completed", time.Second)))), podOf("b", onIndex(1, 1, tracked(exits(0, "Completed", time.Second)))), podOf("c", onIndex(2, 1, nil)))
	r := report(f)
	if want := "The Job is running: 2 of 5 indexes succeeded, 1 pod is active."; verdict(r) != want || r.Indexes.CompletedCount != 2 {
		t.Errorf("%s (%d completed), want %s", verdict(r), r.Indexes.CompletedCount, want)
	}
	if r.Counts.Active != 5 || r.Counts.Succeeded != 0 {
		t.Errorf("the counts are no more those of the status: %+v", r.Counts)
	}
	f.PodsRead, f.Pods = false, nil
	assert.Equal(t, verdict(report(f)), "The Job is running: 0 of 5 indexes succeeded, 5 pods are active.", "without pods")
	queue := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Status.Active, j.Status.Succeeded = nil, 3, 1
		j.Status.UncountedTerminatedPods.Succeeded = []types.UID{"uid-b", "uid-gone"}
	}), podOf("a", exits(0, "Completed", time.Minute)), podOf("b", tracked(exits(0, "Completed", time.Second))), podOf("c", tracked(exits(0, "Completed", time.Second))), podOf("d", nil))
	if want := "The Job is running: 4 pods succeeded, 1 pod is active."; verdict(report(queue)) != want {
		t.Errorf("a work queue: %s, want one counted, two recorded, one of neither: %s", verdict(report(queue)), want)
	}
}

// Issue 6: a sentence has one total of failures, and the number of them that are counted.
func TestFailuresHaveOneTotal(t *testing.T) {
	f := factsOf(indexedJob(8, func(j *batchv1.Job) { j.Status.Failed, j.Spec.BackoffLimit = 3, ptr.To[int32](99) }))
	for i := range int32(4) {
		f.Pods = append(f.Pods, podOf(fmt.Sprint("new-", i), onIndex(i, 1, tracked(exits(1, "Error", time.Second)))))
	}
	f.Pods = append(f.Pods, podOf("old", onIndex(5, 1, exits(2, "Error", time.Minute))))
	r := report(f)
	assert.Contains(t, verdict(r), "7 failed; mostly (4 of the 5 with a known cause) container main exited with code 1")
	if r.FailuresWithoutPod != 2 || r.Counts.AwaitReplacement != 4 {
		t.Errorf("%d without a pod of 3 that are counted and 1 that is there; %d wait", r.FailuresWithoutPod, r.Counts.AwaitReplacement)
	}
	// A failure that only events show is no pod that waits for its replacement.
	f.Events = []input.Event{failedEvent(exited(1), "gone", 2, time.Minute)}
	if r = report(f); r.FailuresWithoutPod != 0 || r.Causes[0].Count != 6 {
		t.Errorf("%d without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	f.Events, f.Pods = nil, f.Pods[4:]
	if r = report(f); !strings.Contains(verdict(r), "3 failed; container") || strings.Contains(verdict(r), "counted") {
		t.Errorf("all are counted: %s", verdict(r))
	}
}

// BLI-22, issue 6: an index waits for its back-off whether or not there is room for a pod.
func TestIndexWaitsForItsBackoffWithoutRoom(t *testing.T) {
	full := func(j *batchv1.Job) {
		j.Spec.Parallelism = ptr.To[int32](1)
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{9}},
		}}}
	}
	f := factsOf(indexedJob(6, full), podOf("runs", onIndex(0, 1, nil)),
		podOf("one", onIndex(1, 1, tracked(exits(1, "Error", 9*time.Second)))), podOf("over", onIndex(2, 1, tracked(exits(1, "Error", 10*time.Second)))),
		podOf("third", onIndex(3, 3, tracked(exits(1, "Error", 39*time.Second)))), podOf("ignored", onIndex(4, 1, tracked(exits(9, "Error", 2*time.Second)))))
	r := report(f)
	if x := r.Indexes; x.BackingOff != "1,3,4" || x.Pending != "2,5" || x.Active != "0" {
		t.Errorf("in back-off %q, pending %q, active %q", x.BackingOff, x.Pending, x.Active)
	}
	if x := r.Indexes; x.Retrying != "2" || x.NotStarted != "5" || x.WillNotComplete != "" {
		t.Errorf("waits to retry %q, not started %q, will not complete %q", x.Retrying, x.NotStarted, x.WillNotComplete)
	}
	left := map[int32]time.Duration{1: time.Second, 3: time.Second, 4: 8 * time.Second}
	for _, info := range r.Indexes.Details {
		until, waits := left[info.Index]
		switch {
		case waits != (info.Until != nil) || waits != (info.State == explain.IndexBackingOff):
			t.Errorf("%+v", info)
		case waits && info.Until.Sub(noon) != until:
			t.Errorf("index %d waits for %s, want %s", info.Index, info.Until.Sub(noon), until)
		case info.Index == 2 && (info.State != explain.IndexPending || info.Failures != 1 || info.Attempt != 1):
			t.Errorf("its back-off has ended, and there is no room: %+v", info)
		}
	}
	assert.Contains(t, verdict(r), "3 indexes are in back-off, the first may be retried in 1s")
	if w := r.Waits[0]; w.Kind != explain.WaitIndexBackoff || w.Indexes != "1,3,4" || !strings.Contains(w.Text, "if parallelism allows it") {
		t.Errorf("%+v", w)
	}
	f.Job.Spec.Parallelism = ptr.To[int32](2)
	r = report(f)
	if x := r.Indexes; x.BackingOff != "1,3,4" || strings.Contains(r.Waits[0].Text, "parallelism") || !strings.Contains(verdict(r), "the first is retried in 1s") {
		t.Errorf("with room: in back-off %q, %s, %+v", x.BackingOff, verdict(r), r.Waits)
	}
	f.Job.Spec.Suspend = ptr.To(true)
	for _, w := range report(f).Waits {
		if w.Kind == explain.WaitIndexBackoff {
			t.Errorf("suspended: %+v", w)
		}
	}
}
