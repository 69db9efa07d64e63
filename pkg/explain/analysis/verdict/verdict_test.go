package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Issue 6: the verdict on a Job that is not finished has the numbers of the pods, which are shown beside it, and not the
// older numbers of the status.
func TestVerdictGoesByThePods(t *testing.T) {
	stale := func(j *batchv1.Job) { j.Status.Active = 5 }
	f := explaintest.InputOf(explaintest.IndexedJob(5, stale),
		explaintest.PodOf("a", explaintest.OnIndex(0, 1, explaintest.Tracked(explaintest.Exits(0, "Completed", time.Second)))), explaintest.PodOf("b", explaintest.OnIndex(1, 1, explaintest.Tracked(explaintest.Exits(0, "Completed", time.Second)))), explaintest.PodOf("c", explaintest.OnIndex(2, 1, nil)))
	r := explaintest.Report(f)
	if want := "The Job is running: 2 of 5 indexes succeeded, 1 pod is active."; explaintest.Verdict(r) != want || r.Indexes.CompletedCount != 2 {
		t.Errorf("%s (%d completed), want %s", explaintest.Verdict(r), r.Indexes.CompletedCount, want)
	}
	if r.Counts.Active != 5 || r.Counts.Succeeded != 0 {
		t.Errorf("the counts are no more those of the status: %+v", r.Counts)
	}
	f.PodsRead, f.Pods = false, nil
	assert.Equal(t, explaintest.Verdict(explaintest.Report(f)), "The Job is running: 0 of 5 indexes succeeded, 5 pods are active.", "without pods")
	queue := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Status.Active, j.Status.Succeeded = nil, 3, 1
		j.Status.UncountedTerminatedPods.Succeeded = []types.UID{"uid-b", "uid-gone"}
	}), explaintest.PodOf("a", explaintest.Exits(0, "Completed", time.Minute)), explaintest.PodOf("b", explaintest.Tracked(explaintest.Exits(0, "Completed", time.Second))), explaintest.PodOf("c", explaintest.Tracked(explaintest.Exits(0, "Completed", time.Second))), explaintest.PodOf("d", nil))
	if want := "The Job is running: 4 pods succeeded, 1 pod is active."; explaintest.Verdict(explaintest.Report(queue)) != want {
		t.Errorf("a work queue: %s, want one counted, two recorded, one of neither: %s", explaintest.Verdict(explaintest.Report(queue)), want)
	}
}

// Issue 6: a sentence has one total of failures, and the number of them that are counted.
func TestFailuresHaveOneTotal(t *testing.T) {
	f := explaintest.InputOf(explaintest.IndexedJob(8, func(j *batchv1.Job) { j.Status.Failed, j.Spec.BackoffLimit = 3, ptr.To[int32](99) }))
	for i := range int32(4) {
		f.Pods = append(f.Pods, explaintest.PodOf(fmt.Sprint("new-", i), explaintest.OnIndex(i, 1, explaintest.Tracked(explaintest.Exits(1, "Error", time.Second)))))
	}
	f.Pods = append(f.Pods, explaintest.PodOf("old", explaintest.OnIndex(5, 1, explaintest.Exits(2, "Error", time.Minute))))
	r := explaintest.Report(f)
	assert.Contains(t, explaintest.Verdict(r), "7 pods failed: mostly (4 of the 5 with a known cause) container main exited with code 1")
	if r.FailuresWithoutPod != 2 || r.Counts.AwaitReplacement != 4 {
		t.Errorf("%d without a pod of 3 that are counted and 1 that is there; %d wait", r.FailuresWithoutPod, r.Counts.AwaitReplacement)
	}
	// A failure that only events show is no pod that waits for its replacement.
	f.Events = []input.Event{explaintest.FailedEvent(explaintest.Exited(1), "gone", 2, time.Minute)}
	if r = explaintest.Report(f); r.FailuresWithoutPod != 0 || r.Causes[0].Count != 6 {
		t.Errorf("%d without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	f.Events, f.Pods = nil, f.Pods[4:]
	if r = explaintest.Report(f); !strings.Contains(explaintest.Verdict(r), "3 pods failed (3 of 99 retries used): container") || strings.Contains(explaintest.Verdict(r), "counted") {
		t.Errorf("all are counted: %s", explaintest.Verdict(r))
	}
}

// Issue 17: a limit that was raised after it had failed the Job is not attributed to restarts, which do not count with
// restartPolicy Never.
// Requirements: CLI-04
func TestLimitThatWasRaisedSince(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](4), 2
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
	})))
	assert.Equal(t, explaintest.Verdict(r), "The Job failed: its failures exceeded backoffLimit, which is 4 now.")
}

// Half of the failures are not most of them.
// Requirements: CLI-04
func TestMostlyIsMoreThanHalf(t *testing.T) {
	pods := func(codes ...int32) []*input.Pod {
		var all []*input.Pod
		for i, code := range codes {
			all = append(all, explaintest.PodOf(string(rune('a'+i)), explaintest.Exits(code, "Error", time.Minute)))
		}
		return all
	}
	for want, codes := range map[string][]int32{"1 of 2: ": {1, 2}, "mostly (2 of 3) ": {1, 1, 2}, "2 of 4: ": {1, 1, 2, 3}} {
		job := explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = int32(len(codes)) })
		explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, pods(codes...)...)), want)
	}
}

// The verdict on a failed Job includes the successes.
// Requirements: CLI-04
func TestFailedJobNamesWhatSucceeded(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(6, func(j *batchv1.Job) {
		j.Status.CompletedIndexes, j.Status.Succeeded, j.Status.FailedIndexes, j.Status.Failed = "0-3", 4, ptr.To("4,5"), 2
		explaintest.FailJob(j, batchv1.JobReasonFailedIndexes, "")
	})))
	if want := "2 of its 6 indexes failed; 4 of 6 indexes succeeded."; !strings.HasSuffix(explaintest.Verdict(r), want) || r.Verdict.Why+"." != "FailedIndexes: "+want {
		t.Errorf("%s, why %s", explaintest.Verdict(r), r.Verdict.Why)
	}
}

// Requirements: CLI-04
func TestCompleteJobWithoutPodsNamesWhoTookThem(t *testing.T) {
	f := explaintest.InputOf(explaintest.CompleteJob(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](1) }))
	explaintest.WantText(t, explaintest.Report(f), "its pod is gone, and its log with it")
	f.Events = []input.Event{explaintest.AboutPod("a", "Normal", "cluster-autoscaler", "ScaleDown", "deleting pod for node scale down")}
	explaintest.WantText(t, explaintest.Report(f), "its pod is gone, and its log with it (1 pod evicted by the cluster autoscaler)", "collect them outside of the pods")
	f.Job.Annotations, f.Job.Status.StartTime = map[string]string{"helm.sh/hook": "pre-upgrade"}, ptr.To(explaintest.Ago(4*time.Hour))
	explaintest.WantText(t, explaintest.Report(f), "so it may have given up before", "give it a --timeout above")
}
