package analysis_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// CLI-04: attempts "2 of 4", by index; ignored failures count separately.
func TestAttemptsAreCountedPerIndex(t *testing.T) {
	job := indexedJob(6, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = rules(1)
		j.Spec.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionIgnore // of exit code 1
		j.Status.CompletedIndexes, j.Status.FailedIndexes = "0", ptr.To("3,5")
	})
	r := report(factsOf(job,
		podOf("train-1-a", onIndex(1, 2, nil)),
		podOf("train-2-a", onIndex(2, 1, exits(1, "Error", time.Minute))),
		podOf("train-3-a", onIndex(3, 4, exits(2, "Error", time.Minute)))))
	x := r.Indexes
	if x.Completed != "0" || x.Failed != "3,5" || x.Active != "1" || x.CompletedCount+x.FailedCount+x.ActiveCount+x.TerminatingCount+x.BackingOffCount+x.PendingCount != 6 {
		t.Errorf("%+v", x)
	}
	details := map[int32]explain.IndexInfo{}
	for _, d := range x.Details {
		details[d.Index] = d
	}
	if d := details[1]; d.State != explain.IndexActive || d.Attempt != 2 || d.Attempts != 4 || d.Failures != 1 || d.Pod != "train-1-a" {
		t.Errorf("index 1: %+v", d)
	}
	if d := details[2]; d.Ignored != 1 || d.Failures != 0 || d.Cause == "" {
		t.Errorf("index 2: %+v", d)
	}
	if d := details[3]; d.State != explain.IndexFailed || d.Attempt != 4 || d.Attempts != 4 || d.Failures != 4 || !strings.Contains(d.Cause, "code 2") {
		t.Errorf("index 3: %+v", d)
	}
	if d := details[5]; d.State != explain.IndexFailed || d.Attempts != 4 || d.Pod != "" {
		t.Errorf("index 5, whose pods are gone: %+v", d)
	}
	assert.Equal(t, r.Counts.IgnoredFailures, 1, r.Counts)
	var text string
	for _, e := range r.Evidence {
		text += e.Text + "\n"
	}
	if !strings.Contains(text, "index 3, attempt 4 of 4") && !strings.Contains(text, "index 2, attempt 1 of 4") {
		t.Errorf("no attempt in %q", text)
	}
}

// CLI-04: the row of an index is about its latest pod. For a completed index that is the pod that succeeded, or none if it
// no longer exists; the last failure stays.
func TestRowOfAnIndexShowsTheAttemptThatSucceeded(t *testing.T) {
	job := indexedJob(4, func(j *batchv1.Job) { j.Status.CompletedIndexes, j.Status.Succeeded, j.Status.Failed = "0-1", 2, 3 })
	r := report(factsOf(job,
		podOf("train-0-a", onIndex(0, 1, exits(1, "Error", 2*time.Minute))),
		podOf("train-0-b", onIndex(0, 2, exits(0, "Completed", time.Minute))),
		podOf("train-1-a", onIndex(1, 1, exits(1, "Error", 2*time.Minute))),
		podOf("train-2-a", onIndex(2, 1, exits(1, "Error", 2*time.Minute))),
		podOf("train-2-b", onIndex(2, 2, nil))))
	want := map[int32]explain.IndexInfo{
		0: {State: explain.IndexCompleted, Attempt: 2, Pod: "train-0-b"}, 1: {State: explain.IndexCompleted},
		2: {State: explain.IndexActive, Attempt: 2, Pod: "train-2-b"},
	}
	for _, got := range r.Indexes.Details {
		if w := want[got.Index]; got.State != w.State || got.Attempt != w.Attempt || got.Pod != w.Pod || got.Failures != 1 || !strings.Contains(got.Cause, "code 1") {
			t.Errorf("index %d: %+v, want %+v", got.Index, got, w)
		}
	}
	assert.Equal(t, len(r.Indexes.Details), len(want), r.Indexes.Details)
}

// Issue 17: the reason why an index has no pod: it never had one, it waits for the back-off of the Job, or it gets none anymore. The index
// whose pod decided that the Job failed is failed, also without backoffLimitPerIndex.
// Requirements: CLI-78, CLI-04
func TestPendingIndexesAreToldApart(t *testing.T) {
	jobOf := func(change func(*batchv1.Job)) *batchv1.Job {
		return indexedJob(4, func(j *batchv1.Job) {
			j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes, j.Status.Failed = nil, nil, 1
			if change != nil {
				change(j)
			}
		})
	}
	for name, c := range map[string]struct {
		job                                   *batchv1.Job
		notStarted, retrying, willNotComplete string
	}{
		"runs":    {jobOf(nil), "2,3", "1", ""},
		"fails":   {jobOf(func(j *batchv1.Job) { condition(j, batchv1.JobFailureTarget, "BackoffLimitExceeded", "", time.Second) }), "", "", "2,3"},
		"failed":  {jobOf(func(j *batchv1.Job) { ended(j, "BackoffLimitExceeded", "") }), "", "", "2,3"},
		"is held": {jobOf(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), "2,3", "1", ""},
	} {
		r := report(factsOf(c.job, podOf("train-0-a", onIndex(0, 1, nil)), podOf("train-1-a", onIndex(1, 1, exits(1, "Error", time.Second)))))
		x := r.Indexes
		if x.NotStarted != c.notStarted || x.Retrying != c.retrying || x.WillNotComplete != c.willNotComplete || x.Failed+x.Retrying != "1" {
			t.Errorf("%s: not started %q, waiting to retry %q, will not complete %q, failed %q", name, x.NotStarted, x.Retrying, x.WillNotComplete, x.Failed)
		}
	}
}

// A controller that does not number its pods also runs the next pod of an index.
func TestRowOfAnIndexShowsTheRunningPod(t *testing.T) {
	unnumbered := func(change func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			onIndex(0, 1, change)(p)
			p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}
		}
	}
	job := indexedJob(1, func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes, j.Status.Failed = nil, nil, 1
	})
	r := report(factsOf(job, podOf("train-0-a", unnumbered(exits(1, "Error", time.Minute))), podOf("train-0-b", unnumbered(nil))))
	if d := r.Indexes.Details; len(d) != 1 || d[0].State != explain.IndexActive || d[0].Pod != "train-0-b" || d[0].Failures != 1 {
		t.Errorf("%+v", d)
	}
}

// SUC: progress of each rule, and rules that can no longer be met, or never could.
// Requirements: CLI-04
func TestProgressOfSuccessRulesIsShown(t *testing.T) {
	job := func(rules ...batchv1.SuccessPolicyRule) *batchv1.Job {
		return indexedJob(10, func(j *batchv1.Job) {
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules}
			j.Status.CompletedIndexes, j.Status.Succeeded, j.Status.FailedIndexes, j.Status.Active = "1-3", 3, ptr.To("0,9"), 2
		})
	}
	rule := func(indexes string, count int32) batchv1.SuccessPolicyRule {
		r := batchv1.SuccessPolicyRule{}
		if indexes != "-" {
			r.SucceededIndexes = &indexes
		}
		if count > 0 {
			r.SucceededCount = &count
		}
		return r
	}
	for _, tc := range []struct {
		rule            batchv1.SuccessPolicyRule
		have, need      int32
		met, impossible bool
		text            string
	}{
		{rule("1-9", 5), 3, 5, false, false, "3 of 5 (indexes 1-9)"},
		{rule("4", 0), 0, 1, false, false, "0 of 1 (index 4)"},
		{rule("-", 4), 3, 4, false, false, "3 of 4 (any indexes)"},
		{rule("0", 0), 0, 1, false, true, "0 of 1 (index 0)"},
		{rule("0,4,9", 2), 0, 2, false, true, "0 of 2 (indexes 0,4,9)"},
		{rule("-", 9), 3, 9, false, true, "3 of 9 (any indexes)"},
		{rule("-", 8), 3, 8, false, false, "3 of 8 (any indexes)"},
	} {
		r := report(factsOf(job(tc.rule)))
		got := r.SuccessPolicy.Rules[0]
		if got.Have != tc.have || got.Need != tc.need || got.Met != tc.met || got.Impossible != tc.impossible || got.Text != tc.text {
			t.Errorf("%+v, want %+v", got, tc)
		}
		assert.Equalf(t, hasProblem(r, explain.ProblemSuccessImpossible), tc.impossible, "%s: %+v", tc.text, r.Problems)
	}
	if r := report(factsOf(job(rule("0", 0), rule("4", 0)))); hasProblem(r, explain.ProblemSuccessImpossible) {
		t.Error("one of two rules can be met")
	}
}

// Without permission to read pods, the report does not claim that pods no longer exist, nor describe them.
// Requirements: CLI-08
func TestUnreadPodsAreNotGone(t *testing.T) {
	f := factsOf(indexedJob(4, func(j *batchv1.Job) {
		j.Status.Active, j.Status.Failed, j.Status.Ready = 2, 3, ptr.To[int32](2)
		j.Spec.PodFailurePolicy = rules(1)
		j.Status.Conditions = nil
	}))
	f.PodsRead, f.Gaps = false, []input.Gap{{What: "pods", Text: "pods could not be read"}}
	f.Events = []input.Event{jobEvent("FailedCreate", "exceeded quota", 1, time.Minute)}
	r := report(f)
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
		t.Errorf("it says that the Job does not go on, while two pods are ready: %s", verdict(r))
	}
	f = factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Status.Failed = rules(2), 1
		ended(j, "PodFailurePolicy", exitMessage)
	}))
	f.PodsRead = false
	if data, _ := json.Marshal(report(f)); strings.Contains(string(data), "gone") || !strings.Contains(string(data), "pod train-x could not be read") {
		t.Errorf("%s", data)
	}
}

// Report.Causes: the most frequent first, whatever the source.
// Requirements: CLI-04
func TestCausesFromPodsAndEvents(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 14 }),
		podOf("a", exits(1, "Error", time.Minute)), podOf("b", exits(1, "Error", time.Minute)), podOf("c", exits(2, "Error", time.Minute)))
	f.Events = []input.Event{
		failedEvent(exited(2), "c", 4, time.Minute),
		failedEvent(exited(3), "long-gone", 7, time.Minute),
	}
	r := report(f)
	var got []string
	for _, c := range r.Causes {
		got = append(got, c.Text+" "+string(c.Source))
	}
	want := "Container main exited with code 3 Events, Container main exited with code 2 Pods, Container main exited with code 1 Pods"
	assert.Equal(t, strings.Join(got, ", "), want)
	assert.Equal(t, r.FailuresWithoutPod, 1, "failures that nothing tells: 14-7-4-2")
	assert.Contains(t, verdict(r), "mostly (7 of the 13 with a known cause)")
	for _, c := range r.Causes {
		if c.Source == explain.SourceEvents && (len(c.Pods) != 1 || c.Pods[0] != "long-gone") {
			t.Errorf("%+v", c)
		}
	}
}

// The event counts all pods of a cause, from before and after the outcome of the Job was decided.
// Requirements: CLI-04
func TestEventCountsConsequencesOnce(t *testing.T) {
	deleted := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			exits(143, "Error", d)(p)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(d-10*time.Second)), ptr.To[int64](30)
		}
	}
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Status.Failed = 2
		ended(j, "BackoffLimitExceeded", "")
	}), podOf("early", deleted(20*time.Minute)), podOf("late", deleted(9*time.Minute)))
	f.Events = []input.Event{failedEvent(killed(143), "early", 2, 9*time.Minute)}
	var sum int32
	r := report(f)
	for _, c := range r.Causes {
		sum += c.Count
	}
	if sum != 2 || len(r.Causes) != 2 || r.Causes[0].Consequence || !r.Causes[1].Consequence {
		t.Errorf("two failures are %d: %+v", sum, r.Causes)
	}
}

// CLI-04: several Jobs: "412 failures, 3 causes" over all of them.
func TestCausesAreGroupedOverJobs(t *testing.T) {
	job := func(namespace, name string, codes ...int32) explain.Report {
		j := jobWith(func(j *batchv1.Job) { j.Namespace, j.Name, j.Status.Failed = namespace, name, int32(len(codes)) })
		f := factsOf(j)
		for i, code := range codes {
			f.Pods = append(f.Pods, podOf(name+"-"+string(rune('a'+i)), exits(code, "Error", time.Duration(i+1)*time.Minute)))
		}
		return report(f)
	}
	list := analysis.List([]explain.Report{job("ns", "one", 1, 1, 2), job("ns", "two", 2, 2, 2), job("ns", "three", 3)})
	if list.Kind != "JobExplanationList" || list.APIVersion != "batchjob.dev/v1alpha1" || len(list.Items) != 3 || len(list.Causes) != 3 {
		t.Fatalf("%s, %d items, %d causes", list.Kind, len(list.Items), len(list.Causes))
	}
	c := list.Causes[0]
	if c.Count != 4 || strings.Join(c.Jobs, " ") != "one two" || strings.Join(c.Pods, " ") != "one-c two-a two-b" || !c.First.Equal(ptr.To(ago(3*time.Minute))) || !c.Last.Equal(ptr.To(ago(time.Minute))) {
		t.Errorf("%+v", c)
	}
	if list.Causes[1].Count != 2 || list.Causes[2].Count != 1 || list.Causes[2].Jobs[0] != "three" {
		t.Errorf("%+v", list.Causes)
	}
	assert.Equal(t, len(list.Items[0].Causes[1].Pods), 1, "pods in the report of one Job")
	if data, err := json.Marshal(analysis.List([]explain.Report{})); err != nil || !strings.Contains(string(data), `"items":[]`) {
		t.Errorf("%s, %v", data, err)
	}
	both := analysis.List([]explain.Report{job("ns1", "same", 1), job("ns2", "same", 1)}).Causes[0].Jobs
	if len(both) != 2 || both[0] == both[1] {
		t.Errorf("Jobs of two namespaces cannot be told apart: %q", both)
	}
}

// Causes of two Jobs that were matched by different rules without names stay separate.
// Requirements: CLI-04
func TestRulesOfSeveralJobsStayApart(t *testing.T) {
	with := func(name string, first int32) explain.Report {
		f := factsOf(jobWith(func(j *batchv1.Job) {
			j.Name, j.Status.Failed, j.Spec.PodFailurePolicy = name, 1, rules(2)
			j.Spec.PodFailurePolicy.Rules[0].OnExitCodes.Values = []int32{first}
		}), podOf(name, exits(2, "Error", time.Minute)))
		return report(f)
	}
	list := analysis.List([]explain.Report{with("one", 1), with("two", 2)})
	assert.Equalf(t, len(list.Causes), 2, "one rule stands for both: %+v", list.Causes)
}

// The event of a release that wrote no record is shown verbatim, and counts.
// Requirements: CLI-04
func TestEventOfAnOlderReleaseIsShownVerbatim(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 5 }), podOf("a", exits(1, "Error", time.Minute)))
	const message = "Container main exited with code 3; no rule of the podFailurePolicy matched. First in pod b"
	f.Events = []input.Event{jobEvent("PodFailed", message, 9, time.Minute)}
	r := report(f)
	if len(r.Causes) != 2 || r.FailuresWithoutPod != 0 {
		t.Fatalf("%d without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	if c := r.Causes[0]; c.Text != message || c.Failure != nil || c.ExitCode != nil || c.Count != 4 || c.Source != explain.SourceEvents {
		t.Errorf("%+v", c)
	}
}

// One event counts the causes without an event of their own.
// Requirements: CLI-04
func TestEventOfOtherCauses(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 5 }))
	e := failedEvent(exited(3), "b", 5, time.Minute)
	e.Failed.Others = true
	f.Events = []input.Event{e}
	if r := report(f); len(r.Causes) != 1 || r.Causes[0].Count != 5 || r.Causes[0].ExitCode != nil {
		t.Errorf("%+v", r.Causes)
	}
}

// A cause may begin with any character.
// Requirements: CLI-04
func TestCauseInAnyScript(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }))
	f.Events = []input.Event{jobEvent("PodFailed", "Ärger im Pod", 1, time.Minute)}
	assert.Contains(t, verdict(report(f)), "; ärger im Pod")
}

// CLI-04: a Job that failed because of failed indexes is explained by such an index, not by an index that failed once and
// then succeeded.
func TestEvidenceIsOfAFailedIndex(t *testing.T) {
	for _, reason := range []string{batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded} {
		r := report(factsOf(indexedJob(6, func(j *batchv1.Job) {
			j.Status.CompletedIndexes, j.Status.FailedIndexes, j.Status.Failed = "0-3,5", ptr.To("4"), 3
			ended(j, reason, "")
		}), podOf("train-1-a", onIndex(1, 1, exits(1, "Error", time.Minute))), podOf("train-2-a", onIndex(2, 1, exits(1, "Error", time.Minute))),
			podOf("train-4-a", onIndex(4, 1, exits(42, "Error", 2*time.Minute)))))
		known := ""
		for _, e := range r.Evidence {
			if e.Kind == explain.EvidencePod {
				known += e.Pod
			}
		}
		assert.Equalf(t, known, "train-4-a", "%s: the evidence is pod", reason)
	}
}

// Only pods show which rules matched: without them, the counts are unknown, and not 0.
// Requirements: CLI-04
func TestUnreadPodsLeaveMatchesUnknown(t *testing.T) {
	job := indexedJob(5, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Spec.BackoffLimitPerIndex = rules(2), ptr.To[int32](2)
	})
	facts := factsOf(job)
	if p := report(facts).FailurePolicy; p.Unmatched == nil || p.Rules[0].Matched == nil || p.Rules[1].Matched == nil {
		t.Errorf("no counts with pods: %+v", p)
	}
	job.Status.Failed = 3
	if p := report(facts).FailurePolicy; p.Unmatched != nil || p.Rules[0].Matched != nil || p.Rules[1].Matched != nil {
		t.Errorf("counts of pods that are gone: %+v", p)
	}
	facts.PodsRead = false
	if p := report(facts).FailurePolicy; p.Unmatched != nil || p.Rules[0].Matched != nil || p.Rules[1].Matched != nil {
		t.Errorf("counts without pods: %+v", p)
	}
}
