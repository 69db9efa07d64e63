package jobprinter

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func tableOf(t *testing.T, table Table, jobs []*unstructured.Unstructured) string {
	t.Helper()
	var out bytes.Buffer
	stalls := &feed.Stalls{Timing: feed.Timing{Now: clitest.Now}}
	for i, object := range jobs {
		job, err := cmdutil.ToJob(object)
		assert.NoError(t, err)
		outline := stalls.Outline(job, nil, clitest.Now())
		if jobs[i], err = Marked(object, &outline); err != nil {
			t.Fatal(err)
		}
	}
	assert.NoError(t, NewTablePrinter(&out, table, cmdutil.Display{}, true, false, clitest.Now).Snapshot(jobs, false))
	return out.String()
}

// Whole tables, one Job per phase.
// Requirements: CLI-01, CLI-03
func TestTableHasARowForEachPhase(t *testing.T) {
	jobs := clitest.LoadJobs(t)
	for name, table := range map[string]Table{
		"status.golden":      {},
		"status-all.golden":  {Namespaces: true},
		"status-wide.golden": {Wide: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := tableOf(t, table, jobs)
			if safe := sanitize.Text(got); safe != got || strings.Contains(got, "\t") {
				t.Errorf("unsafe text in the table: %q", got)
			}
			assert.Equal(t, strings.Count(got, "\n"), len(jobs)+1, len(jobs), "lines")
			clitest.Golden(t, name, got)
		})
	}
}

// MGB-12: the table shows the controller of a Job, and reports if it has not worked on the Job.
func TestTableShowsWhoseAJobIs(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		want   string
	}{
		"nobody worked on it":   {func(*batchv1.Job) {}, "batchjob.dev/controler (no controller)"},
		"nor the built-in":      {func(j *batchv1.Job) { j.Spec.ManagedBy = nil }, "built-in (no controller)"},
		"is new":                {func(j *batchv1.Job) { j.CreationTimestamp = metav1.NewTime(clitest.Now().Add(-9 * time.Second)) }, "batchjob.dev/controler"},
		"somebody did":          {func(j *batchv1.Job) { j.Status.Ready = ptr.To[int32](0) }, "batchjob.dev/controler"},
		"is being deleted":      {func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: clitest.Now()} }, "batchjob.dev/controler"},
		"has no creation time?": {func(j *batchv1.Job) { j.CreationTimestamp = metav1.Time{} }, "batchjob.dev/controler"},
	} {
		job := &batchv1.Job{Spec: batchv1.JobSpec{ManagedBy: ptr.To("batchjob.dev/controler")}}
		job.CreationTimestamp = metav1.NewTime(clitest.Now().Add(-10 * time.Second))
		tc.change(job)
		assert.Equal(t, (Row{Job: job, Now: clitest.Now()}).ManagedBy(), tc.want, name)
	}
}

func conditions(kinds ...batchv1.JobConditionType) []batchv1.JobCondition {
	var all []batchv1.JobCondition
	for _, k := range kinds {
		all = append(all, batchv1.JobCondition{Type: k, Status: corev1.ConditionTrue, Reason: "R" + string(k)})
	}
	return all
}

// Requirements: CLI-03
func TestConditionsDecideThePhase(t *testing.T) {
	all := []batchv1.JobConditionType{
		batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget, batchv1.JobSuspended, batchv1.JobFailed, batchv1.JobComplete,
	}
	for _, tc := range []struct {
		conditions []batchv1.JobConditionType
		deleting   bool
		status     string
		reason     string
	}{
		{all, true, "Complete", "RComplete"},
		{all[:4], true, "Failed", "RFailed"},
		{all[:3], true, "Terminating", "RSuspended"},
		{nil, true, "Terminating", "-"},
		{all[:3], false, "Suspended", "RSuspended"},
		{all[:2], false, "Failing", "RFailureTarget"},
		{all[:1], false, "Succeeding", "RSuccessCriteriaMet"},
		{nil, false, "Running", "-"},
	} {
		job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: conditions(tc.conditions...)}}
		if tc.deleting {
			job.DeletionTimestamp = ptr.To(metav1.NewTime(clitest.Now()))
		}
		v := Row{Job: job, Now: clitest.Now()}
		assert.Equal(t, v.Status(), tc.status, tc.conditions, tc.deleting, "status")
		assert.Equal(t, reasonCell(&v), tc.reason, tc.conditions, tc.deleting, "reason")
	}
	untrue := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}}}}
	assert.Equal(t, analysis.Status(untrue), "Running", "a condition that is False counts")
}

// Requirements: CLI-01
func TestCellsShowTheFieldsOfTheJob(t *testing.T) {
	for _, tc := range []struct {
		name string
		cell func(*Row) string
		job  batchv1.Job
		want string
	}{
		{"completions", (*Row).Completions, batchv1.Job{Spec: batchv1.JobSpec{Completions: ptr.To[int32](7)}, Status: batchv1.JobStatus{Succeeded: 3}}, "3/7"},
		{"completions zero", (*Row).Completions, batchv1.Job{Spec: batchv1.JobSpec{Completions: ptr.To[int32](0), Parallelism: ptr.To[int32](4)}}, "0/0"},
		{"work queue", (*Row).Completions, batchv1.Job{Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](4)}}, "0/1 of 4"},
		{"single", (*Row).Completions, batchv1.Job{Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](1)}}, "0/1"},
		{"neither", (*Row).Completions, batchv1.Job{Status: batchv1.JobStatus{Succeeded: 1}}, "1/1"},
		{"ready", func(v *Row) string { return section.Active(v.outline()) }, batchv1.Job{Status: batchv1.JobStatus{Active: 3, Ready: ptr.To[int32](2)}}, "3(2)"},
		{"ready unknown", func(v *Row) string { return section.Active(v.outline()) }, batchv1.Job{Status: batchv1.JobStatus{Active: 3}}, "3"},
		{"built-in", (*Row).ManagedBy, batchv1.Job{}, "built-in"},
		{"built-in by name", (*Row).ManagedBy, batchv1.Job{Spec: batchv1.JobSpec{ManagedBy: ptr.To(batchv1.JobControllerName)}}, "kubernetes.io/job-controller"},
		{"failed indexes nil", failedIndexesCell, batchv1.Job{}, "-"},
		{"failed indexes empty", failedIndexesCell, batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: ptr.To("")}}, "none"},
		{"failed indexes", failedIndexesCell, batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: ptr.To("0,3-4")}}, "0,3-4"},
		{"completed indexes of a NonIndexed Job", completedIndexesCell, batchv1.Job{}, "-"},
		{"uncounted", uncountedCell, batchv1.Job{Status: batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{}}}}, "0+0"},
		{"age unknown", ageCell, batchv1.Job{}, "<unknown>"},
		{"no containers", func(v *Row) string { return containersCell(v, nil) }, batchv1.Job{}, "-"},
	} {
		assert.Equal(t, tc.cell(&Row{Job: &tc.job, Now: clitest.Now()}), tc.want, tc.name)
	}
}

// Requirements: CLI-01
func TestDurationEndsWithTheJob(t *testing.T) {
	at := func(ago time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(clitest.Now().Add(-ago))) }
	failed := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: *at(time.Hour)}
	for _, tc := range []struct {
		name   string
		status batchv1.JobStatus
		want   string
	}{
		{"not started", batchv1.JobStatus{}, "-"},
		{"running", batchv1.JobStatus{StartTime: at(90 * time.Second)}, "1m30s"},
		{"complete", batchv1.JobStatus{StartTime: at(3 * time.Hour), CompletionTime: at(2 * time.Hour)}, "1h"},
		{"failed ends with its transition", batchv1.JobStatus{StartTime: at(2 * time.Hour), Conditions: []batchv1.JobCondition{failed}}, "1h"},
		{"failed without a transition time", batchv1.JobStatus{StartTime: at(time.Minute), Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}, "1m"},
	} {
		assert.Equal(t, (Row{Job: &batchv1.Job{Status: tc.status}, Now: clitest.Now()}).Duration(), tc.want, tc.name)
	}
}

// Requirements: CLI-02
func TestIndexesAreCroppedAtAComma(t *testing.T) {
	long := &batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: ptr.To("0-1,4,6,11,13-16,18-19,41-49")}}
	assert.Equal(t, failedIndexesCell(&Row{Job: long}), "0-1,4,6,11,13-16,18-19,…", "cropped")
	assert.Equal(t, failedIndexesCell(&Row{Job: long, fullIndexes: true}), "0-1,4,6,11,13-16,18-19,41-49", "in full")
}

func TestSignatureIgnoresTime(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 1)
	now := clitest.Now()
	printer := NewTablePrinter(io.Discard, Table{Wide: true}, cmdutil.Display{}, true, false, func() time.Time { return now })
	signature := func(job *unstructured.Unstructured) string {
		signature, err := printer.Signature(job)
		assert.NoError(t, err)
		return signature
	}
	before := signature(job)
	now = now.Add(time.Hour)
	assert.Equal(t, signature(job), before, "the signature changes with time")
	changed := job.DeepCopy()
	assert.NoError(t, unstructured.SetNestedField(changed.Object, int64(2), "status", "succeeded"))
	if signature(changed) == before {
		t.Error("the signature does not change with the Job")
	}
}
