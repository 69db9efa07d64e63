package analysis_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Issue 6, point 1: a row of the list has the data of the Job alone.
func TestOutlineHasTheDataOfTheJob(t *testing.T) {
	job := explaintest.IndexedJob(10, func(j *batchv1.Job) {
		j.Spec.ManagedBy, j.Spec.PodFailurePolicy = ptr.To("batchjob.dev/controller"), explaintest.Rules(2)
		j.Annotations = map[string]string{rulename.Annotation: "1=OutOfMemory"}
		j.Status.Active, j.Status.Succeeded, j.Status.Failed = 1, 2, 5
		j.Status.Ready, j.Status.Terminating, j.Status.FailedIndexes = ptr.To[int32](1), ptr.To[int32](3), ptr.To("1,4-6")
		explaintest.FailJob(j, "PodFailurePolicy_OutOfMemory", "Container main for pod ns/train-1-abcde failed with exit code 2 matching FailJob rule at index 1")
	})
	want := explain.Outline{
		Namespace: "ns", Name: "train", UID: "job-uid", Status: "Failed", Outcome: reconcile.OutcomeFailed, Indexed: true,
		Completions: ptr.To[int32](10), Parallelism: ptr.To[int32](2), Active: 1, Ready: ptr.To[int32](1), Terminating: ptr.To[int32](3), Succeeded: 2, Failed: 5,
		FailedIndexes: ptr.To("1,4-6"), FailedIndexCount: 4, Reason: "PodFailurePolicy_OutOfMemory", EndedBy: explain.EndedByRule, Rule: ptr.To[int32](1), RuleName: "OutOfMemory",
		ManagedBy: "batchjob.dev/controller", Created: ptr.To(explaintest.Ago(time.Hour)), Started: ptr.To(explaintest.Ago(time.Hour)), Finished: ptr.To(explaintest.Ago(9 * time.Minute)),
	}
	assert.DeepEqual(t, analysis.OutlineOf(job, nil, explaintest.Noon), want)
}

// The reason belongs to the condition behind the word, and the rule to the outcome, even if another word hides it.
func TestOutlineReasonIsThatOfItsCondition(t *testing.T) {
	const byRule = "PodFailurePolicy_1"
	failing := func(j *batchv1.Job) { explaintest.AddCondition(j, batchv1.JobFailureTarget, byRule, "", time.Minute) }
	for _, tc := range []struct {
		name                 string
		change               func(*batchv1.Job)
		status, reason, rule string
	}{
		{"running", func(*batchv1.Job) {}, "Running", "", "none"},
		{"failing by a rule", failing, "FailureTarget", byRule, "1"},
		{"and deleted", func(j *batchv1.Job) { failing(j); j.DeletionTimestamp = ptr.To(explaintest.Ago(0)) }, "Terminating", "", "1"},
		{"and suspended", func(j *batchv1.Job) {
			failing(j)
			explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", time.Minute)
		}, "Suspended", "JobSuspended", "1"},
		{"failed", func(j *batchv1.Job) { explaintest.FailJob(j, "BackoffLimitExceeded", "") }, "Failed", "BackoffLimitExceeded", "none"},
		{"succeeding", func(j *batchv1.Job) {
			explaintest.AddCondition(j, batchv1.JobSuccessCriteriaMet, "SuccessPolicy", "", time.Minute)
		}, "SuccessCriteriaMet", "SuccessPolicy", "none"},
		{"complete", func(j *batchv1.Job) {
			explaintest.AddCondition(j, batchv1.JobComplete, "CompletionsReached", "", time.Minute)
		}, "Complete", "CompletionsReached", "none"},
		{"a condition that is False", func(j *batchv1.Job) { failing(j); j.Status.Conditions[0].Status = "False" }, "Running", "", "none"},
	} {
		o := analysis.OutlineOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.PodFailurePolicy = explaintest.Rules(2); tc.change(j) }), nil, explaintest.Noon)
		rule := "none"
		if o.Rule != nil {
			rule = fmt.Sprint(*o.Rule)
		}
		if o.Status != tc.status || o.Reason != tc.reason || rule != tc.rule {
			t.Errorf("%s: status %q, reason %q, rule %s", tc.name, o.Status, o.Reason, rule)
		}
	}
}

// Rule names from the API server take precedence over the annotation (PFN-28).
func TestServedNamesWinInTheOutline(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = explaintest.Rules(2)
		explaintest.FailJob(j, "PodFailurePolicy", "Container main for pod ns/p failed with exit code 2 matching FailJob rule at index 1")
	})
	if o := analysis.OutlineOf(job, []string{"", "Served"}, explaintest.Noon); o.RuleName != "Served" || o.Rule == nil || *o.Rule != 1 {
		t.Errorf("%+v", o)
	}
}

// MGB-12: a Job without any status has no controller; any status shows one.
func TestOutlineReportsJobsOfNobody(t *testing.T) {
	blank := explaintest.JobWith(func(j *batchv1.Job) { j.Status = batchv1.JobStatus{} })
	if !analysis.OutlineOf(blank, nil, explaintest.Noon).Neglected {
		t.Error("an hour without any status")
	}
	for name, change := range map[string]func(*batchv1.Job){
		"young":     func(j *batchv1.Job) { j.CreationTimestamp = explaintest.Ago(time.Second) },
		"started":   func(j *batchv1.Job) { j.Status.StartTime = ptr.To(explaintest.Ago(time.Hour)) },
		"suspended": func(j *batchv1.Job) { explaintest.AddCondition(j, batchv1.JobSuspended, "", "", time.Hour) },
		"active":    func(j *batchv1.Job) { j.Status.Active = 1 },
		"touched":   func(j *batchv1.Job) { j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{} },
		"deleted":   func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(explaintest.Ago(0)) },
		"no time":   func(j *batchv1.Job) { j.CreationTimestamp = metav1.Time{} },
	} {
		job := blank.DeepCopy()
		change(job)
		if analysis.OutlineOf(job, nil, explaintest.Noon).Neglected {
			t.Errorf("%s: neglected", name)
		}
	}
}

// For any Job, its row agrees with its Report.
func TestOutlineAgreesWithTheReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := dice{t}.facts()
		f.PodsRead, f.Pods = false, nil
		before := f.Job.DeepCopy()
		o, r := analysis.OutlineOf(f.Job, f.RuleNames, f.Now), explaintest.Report(f)
		v := &r.Verdict
		if !reflect.DeepEqual(before, f.Job) {
			t.Error("the Job has changed")
		}
		if o.Status != v.Status || o.Outcome != v.Outcome || !ptr.Equal(o.Rule, v.Rule) || o.RuleName != v.RuleName || o.Status != analysis.Status(f.Job) {
			t.Errorf("%+v, and the report has %+v", o, v)
		}
		if o.Reason != v.Reason && o.Status != "Terminating" && o.Status != "Suspended" && o.Status != "FailureTarget" {
			t.Errorf("reason %q, and the report has %q", o.Reason, v.Reason)
		}
		if o.Finished != r.Job.Finished || o.ManagedBy != r.Job.ManagedBy || o.Indexed != (r.Indexes != nil) {
			t.Errorf("%+v, and the report has %+v", o, r.Job)
		}
		// The report lists no index twice, so it may have fewer.
		if x := r.Indexes; x != nil && (o.FailedIndexCount < x.FailedCount || x.CompletedCount == 0 && o.FailedIndexCount != x.FailedCount) {
			t.Errorf("%d failed indexes, and the report has %d", o.FailedIndexCount, x.FailedCount)
		}
		if o.Neglected != analysis.IsNeglected(f.Job, f.Now) {
			t.Errorf("neglected is %v", o.Neglected)
		}
	})
}

// Texts of the cluster stay verbatim: the code that prints them escapes them.
func TestOutlineKeepsTextsAsTheyAre(t *testing.T) {
	o := analysis.OutlineOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Name, j.Spec.ManagedBy = explaintest.Hostile, ptr.To(explaintest.Hostile)
		explaintest.FailJob(j, explaintest.Hostile, explaintest.Hostile)
	}), nil, explaintest.Noon)
	if o.Name != explaintest.Hostile || o.ManagedBy != explaintest.Hostile || o.Reason != explaintest.Hostile {
		t.Errorf("%+v", o)
	}
}

// FAILED is beside WHY in a list. Both count a failed pod of an index before the status does, which waits for the next pod
// of the index.
// Requirements: CLI-30
func TestWhyAndFailedCountTheSameFailures(t *testing.T) {
	for counted, want := range map[int32]int32{0: 2, 1: 2, 2: 2, 5: 5} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Spec.Completions, j.Spec.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](4), ptr.To[int32](2)
			j.Spec.BackoffLimitPerIndex = ptr.To[int32](3)
			j.Status.Failed, j.Status.StartTime = counted, ptr.To(metav1.NewTime(explaintest.Noon.Add(-time.Hour)))
		}))
		f.Pods, f.PodsRead = []*input.Pod{explaintest.PodOf("a", explaintest.Exits(1, "Error", time.Second)), explaintest.PodOf("b", explaintest.Exits(1, "Error", time.Second))}, true
		o := analysis.OutlineOf(f.Job, nil, f.Now)
		o.Why = analysis.WhyOf(f)
		if o.Why == nil || o.Why.Text != "exit 1 ×2" || o.Failures() != want {
			t.Errorf("status.failed %d: %d failures, %+v, want %d", counted, o.Failures(), o.Why, want)
		}
	}
}

// A Job that fails stops its other pods. The status counts them, and a list, which reads no events about them, does not.
// Requirements: CLI-30
func TestFailedLeavesOutPodsThatTheJobStopped(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Status.Failed = ptr.To[int32](4), 3
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
	}))
	f.Pods, f.PodsRead, f.Listed = []*input.Pod{explaintest.PodOf("a", explaintest.Exits(1, "Error", time.Second))}, true, true
	o := analysis.OutlineOf(f.Job, nil, f.Now)
	if o.Why = analysis.WhyOf(f); o.Failures() != 1 {
		t.Errorf("%d failures, %+v", o.Failures(), o.Why)
	}

	// At a deadline, it stops all of them.
	f = explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Status.Failed = ptr.To[int32](4), 3
		explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "")
	}))
	f.PodsRead, f.Listed = true, true
	o = analysis.OutlineOf(f.Job, nil, f.Now)
	if o.Why = analysis.WhyOf(f); o.Failures() != 0 || words.Why(&o, f.Now, 30) != "deadline exceeded" {
		t.Errorf("%d failures, %+v", o.Failures(), o.Why)
	}
}

// A list looks at pods if a Job has failures, or a place that an index in back-off may have left.
// Requirements: CLI-30
func TestListsLookForFailuresThatTheStatusMayNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*batchv1.Job)
		want   bool
	}{
		"a free place":         {func(*batchv1.Job) {}, true},
		"all places are taken": {func(j *batchv1.Job) { j.Status.Active = 2 }, false},
		"a pod terminates":     {func(j *batchv1.Job) { j.Status.Active, j.Status.Terminating = 1, ptr.To[int32](1) }, false},
		"the last index runs":  {func(j *batchv1.Job) { j.Status.Succeeded, j.Status.Active = 3, 1 }, false},
		"suspended":            {func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }, false},
		"no limit per index":   {func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = nil }, false},
		"a failure is recorded": {func(j *batchv1.Job) {
			j.Status.Active, j.Status.UncountedTerminatedPods = 2, &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a"}}
		}, true},
		"failures, and it is over": {func(j *batchv1.Job) {
			j.Status.Failed, j.Status.Conditions = 1, []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
		}, false},
	} {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Spec.Completions, j.Spec.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](4), ptr.To[int32](2)
			j.Spec.BackoffLimitPerIndex, j.Status.StartTime = ptr.To[int32](3), ptr.To(metav1.NewTime(explaintest.Noon))
			c.change(j)
		})
		assert.Equal(t, analysis.HasFailures(job), c.want, name)
	}
}
