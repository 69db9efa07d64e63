package jobproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// A Job that an interrupted retry --in-place left suspended says so, and how to continue.
// Requirements: RTY-48
func TestInterruptedRaiseOfMemoryIsExplained(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(true)
		j.Annotations = map[string]string{"batchjob.dev/raise-memory": `{"memory":{"main":{"limit":"2Gi"}},"resume":true}`}
	})))
	explaintest.WantText(t, r, "the Job is suspended until its memory is raised (retry --in-place)", "kubectl batchjob retry train --in-place")
}

// CLI-06: with parallelism 0, no pods are created.
func TestParallelismZeroAsksForNothing(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) })))
	if explaintest.Problem(t, r, explain.ProblemNoParallelism); !r.Verdict.Stalled {
		t.Errorf("%+v", r.Verdict)
	}
	explaintest.WantText(t, r, "parallelism is 0, so no pods are created", `kubectl patch job train --type merge -p '{"spec":{"parallelism":1}}' -n ns`, "nothing happens until this changes")
}

// CLI-06: the manager that suspended the Job, by the fields of the spec that it owns.
func TestReportNamesWhoSuspended(t *testing.T) {
	suspend := `{"f:spec":{"f:suspend":{}}}`
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		text   string
	}{
		"nobody knows": {func(*batchv1.Job) {}, "the Job is suspended (spec.suspend)"},
		"the last one": {func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{explaintest.Wrote("old", "", suspend, time.Hour), explaintest.Wrote("queue-operator", "", suspend, time.Minute), explaintest.Wrote("newer", "", `{"f:spec":{"f:parallelism":{}}}`, time.Second), explaintest.Wrote("status", "status", suspend, 0)}
		}, "spec.suspend, set by queue-operator"},
		"without a time": {func(j *batchv1.Job) {
			e := explaintest.Wrote("timeless", "", suspend, 0)
			e.Time = nil
			j.ManagedFields = []metav1.ManagedFieldsEntry{e}
		}, "spec.suspend, set by timeless"},
		"Kueue": {func(j *batchv1.Job) { j.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "gpu"} }, "Kueue keeps the Job suspended (queue gpu)"},
		"an owner": {func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", Controller: ptr.To(true)}}
		}, "which its owner JobSet set controls"},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Suspend = ptr.To(true)
			explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", time.Minute)
			tc.change(j)
		})))
		if p := explaintest.Problem(t, r, explain.ProblemSuspended); !strings.Contains(p.Text, tc.text) || !p.Since.Equal(ptr.To(explaintest.Ago(time.Minute))) {
			t.Errorf("%s: %+v", name, p)
		}
		if r.Verdict.Status != "Suspended" || !r.Verdict.Stalled || len(r.Next) != 1 || !strings.Contains(r.Next[0].Text, "nothing") {
			t.Errorf("%s: %+v, next %+v", name, r.Verdict, r.Next)
		}
	}
}

// PFN-16..22: invalid names are reported, each with its error.
// Requirements: CLI-05
func TestInvalidNamesAreReported(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Spec.ManagedBy = explaintest.Rules(2), ptr.To(recorded.OurName)
		j.Annotations = map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=Same;1=Same"}
	})
	r := explaintest.Report(explaintest.InputOf(job))
	p := explaintest.Problem(t, r, explain.ProblemInvalidRuleNames)
	if p.Blocks || len(p.Details) != 1 || !strings.Contains(p.Details[0], "same name") || len(r.FailurePolicy.NameViolations) != 1 {
		t.Errorf("%+v, %+v", p, r.FailurePolicy)
	}
}
