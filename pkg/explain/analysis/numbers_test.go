package analysis_test

import (
	"encoding/json"
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

// Issue 17: a report has a time in whole seconds, as the API has: elapsed and remaining time add up.
// Requirements: CLI-04
func TestReportIsOfAWholeSecond(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		limit := int64(3610)
		j.Spec.ActiveDeadlineSeconds = &limit
	}))
	f.Now = explaintest.Noon.Add(700 * time.Millisecond)
	r := explaintest.Report(f)
	if len(r.Waits) != 1 || *r.Job.DurationSeconds+int64(r.Waits[0].Until.Sub(r.ObservedAt.Time)/time.Second) != 3610 {
		t.Errorf("%d seconds have passed at %v: %+v", *r.Job.DurationSeconds, r.ObservedAt, r.Waits)
	}
}

// Issue 17: successes that are not in the status yet are counted once, the same in all outputs.
// Requirements: CLI-01, CLI-04
func TestCompletionsAreCountedOnce(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Status.Succeeded, j.Status.UncountedTerminatedPods.Succeeded = 1, []types.UID{"uid-train-b"}
	})
	ends := explaintest.Tracked(explaintest.Exits(0, "Completed", 2*time.Second))
	r := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("train-a", explaintest.Exits(0, "Completed", time.Hour)), explaintest.PodOf("train-b", ends), explaintest.PodOf("train-c", ends)))
	if r.Counts.Completed != 3 || !strings.Contains(explaintest.Verdict(r), "3 of 3 pods succeeded") {
		t.Errorf("%+v: %s", r.Counts, explaintest.Verdict(r))
	}
}

// Without permission to read pods, the report does not claim that pods no longer exist, nor describe them.
// Requirements: CLI-08
func TestUnreadPodsAreNotGone(t *testing.T) {
	f := explaintest.InputOf(explaintest.IndexedJob(4, func(j *batchv1.Job) {
		j.Status.Active, j.Status.Failed, j.Status.Ready = 2, 3, ptr.To[int32](2)
		j.Spec.PodFailurePolicy = explaintest.Rules(1)
		j.Status.Conditions = nil
	}))
	f.PodsRead, f.Gaps = false, []input.Gap{{What: "pods", Text: "pods could not be read"}}
	f.Events = []input.Event{explaintest.JobEvent("FailedCreate", "exceeded quota", 1, time.Minute)}
	r := explaintest.Report(f)
	if r.Counts.Pods != nil || r.Counts.FailedPods != nil || r.Counts.Finalizers != nil {
		t.Errorf("%+v", r.Counts)
	}
	data, err := json.Marshal(r)
	assert.NoError(t, err)
	for _, claim := range []string{"gone", "let nothing delete", "is missing"} {
		if strings.Contains(string(data), claim) {
			t.Errorf("it says %q: %s", claim, data)
		}
	}
	if r.Indexes.PendingCount == 4 {
		t.Error("it says that all four indexes are to come, while two pods are active")
	}
	if r.Verdict.Stalled {
		t.Errorf("it says that the Job does not go on, while two pods are ready: %s", explaintest.Verdict(r))
	}
	f = explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Status.Failed = explaintest.Rules(2), 1
		explaintest.FailJob(j, "PodFailurePolicy", "Container main for pod ns/train-x failed with exit code 2 matching FailJob rule at index 1")
	}))
	f.PodsRead = false
	if data, _ := json.Marshal(explaintest.Report(f)); strings.Contains(string(data), "gone") || !strings.Contains(string(data), "pod train-x could not be read") {
		t.Errorf("%s", data)
	}
}

// A failed Job ends with its Failed condition: it has a duration, which does not grow.
// Requirements: CLI-01
func TestDurationOfAFailedJobEndsWithFailed(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, "X", "") })))
	if !r.Job.Finished.Equal(ptr.To(explaintest.Ago(9*time.Minute))) || *r.Job.DurationSeconds != 51*60 {
		t.Errorf("%v, %v seconds", r.Job.Finished, *r.Job.DurationSeconds)
	}
	if r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(nil))); *r.Job.DurationSeconds != 3600 || r.Job.Finished != nil {
		t.Errorf("%v", r.Job)
	}
}
