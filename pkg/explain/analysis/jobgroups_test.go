package analysis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// fleet returns a night's Jobs: many failed for the same cause, and several are refused by the same quota.
func fleet() []explain.Report {
	var all []explain.Report
	add := func(name string, change func(*batchv1.Job), pods []*input.Pod, events ...input.Event) {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Name = name
			change(j)
		}), pods...)
		f.Events = events
		all = append(all, explaintest.Report(f))
	}
	for i := range 14 {
		name := fmt.Sprintf("report-%02d", i)
		code, after := int32(137), time.Duration(20-i)*time.Minute
		add(name, func(j *batchv1.Job) {
			j.Status.Failed, j.Spec.BackoffLimit = 1, ptr.To[int32](0)
			explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
			j.Status.Conditions[len(j.Status.Conditions)-1].LastTransitionTime = explaintest.Ago(after)
		}, []*input.Pod{explaintest.PodOf(name+"-x7b2q", explaintest.Exits(code, "OOMKilled", after))})
	}
	for i := range 5 {
		name := fmt.Sprintf("etl-%d", i)
		add(name, func(*batchv1.Job) {}, nil, explaintest.JobEvent("FailedCreate", `Error creating: pods "`+name+`-zz9lm" is forbidden: exceeded quota: team, requested: pods=1, used: pods=`+fmt.Sprint(i), 3, time.Minute))
	}
	add("nope", func(*batchv1.Job) {}, nil, explaintest.JobEvent("FailedCreate", `Error creating: pods "nope-zz9lm" is forbidden: no PriorityClass with name nope was found`, 3, time.Minute))
	add("retries", func(*batchv1.Job) {}, []*input.Pod{explaintest.PodOf("retries-x7b2q", explaintest.Exits(1, "Error", time.Minute)), explaintest.PodOf("retries-zz9lm", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })})
	add("well", func(*batchv1.Job) {}, []*input.Pod{explaintest.PodOf("well-x7b2q", nil)})
	return all
}

// Many Jobs are ranked by cause, with one list of advice for each (CLI-04, CLI-06).
func TestJobsAreGroupedByCause(t *testing.T) {
	list := analysis.List(fleet())
	type group struct {
		state explain.GroupState
		count int32
		first string
	}
	var got []group
	for _, g := range list.Groups {
		got = append(got, group{g.State, g.Count, g.Jobs[0]})
		if int(g.Count) != len(g.Jobs) || len(g.Advice) == 0 || g.Text == "" {
			t.Errorf("%+v", g)
		}
	}
	want := []group{{explain.GroupFailed, 14, "report-13"}, {explain.GroupStalled, 5, "etl-0"}, {explain.GroupStalled, 1, "nope"}, {explain.GroupRunning, 1, "retries"}}
	assert.SlicesEqual(t, got, want)
	data, err := json.Marshal(list)
	if err != nil || !strings.Contains(string(data), `"groups":[{"state":"Failed","text":"BackoffLimitExceeded: container main exited with code 137 (OOMKilled)","jobs":["report-13",`) {
		t.Errorf("%v: %.300s", err, data)
	}
	for _, width := range []int{80, 160} {
		var out bytes.Buffer
		assert.NoError(t, text.Explanations(&out, list, text.Options{Width: width}))
		golden(t, fmt.Sprintf("../groups/fleet.%d.txt", width), recorded.Trim(out.Bytes()))
	}
}

// Every Job with a problem is in exactly one group (CLI-04).
func TestEveryRecordedJobIsInOneGroup(t *testing.T) {
	var reports []explain.Report
	seen := map[string]bool{}
	for _, c := range cases(t) {
		last := c.Inputs[len(c.Inputs)-1] // some are of the same Job, earlier
		if key := last.Job.Namespace + "/" + last.Job.Name; !seen[key] {
			seen[key] = true
			reports = append(reports, analysis.Explain(last, explain.Options{}))
		}
	}
	list := analysis.List(reports)
	grouped := map[string]int{}
	for _, g := range list.Groups {
		for _, name := range g.Jobs {
			grouped[name]++
		}
	}
	for i := range reports {
		r := &reports[i]
		bad := r.Verdict.Stalled || r.Verdict.Outcome.Fails()
		if n := grouped[r.Job.Namespace+"/"+r.Job.Name]; n > 1 || bad && n == 0 || r.Verdict.Outcome == reconcile.OutcomeComplete && n > 0 {
			t.Errorf("%s/%s is in %d groups: %s", r.Job.Namespace, r.Job.Name, n, explaintest.Verdict(*r))
		}
	}
	for i, g := range list.Groups {
		if strings.TrimSpace(g.Text) == "" || i > 0 && g.State == explain.GroupFailed && list.Groups[i-1].State == explain.GroupRunning {
			t.Errorf("%d: %+v", i, g)
		}
	}
}

// Jobs form a group only if their causes and fixes are the same, and no sentence about one of them is printed for the others. A
// second cause is named. Jobs whose cause is unknown get no advice that fits one of them.
// Requirements: CLI-77
func TestGroupsSayOnlyWhatHoldsForAllTheirJobs(t *testing.T) {
	named := func(name string, limit int32, pods ...*input.Pod) explain.Report {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Name, j.Spec.BackoffLimit, j.Status.Failed = name, ptr.To(limit), limit+1
			explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
		})
		return explaintest.Report(explaintest.InputOf(job, pods...))
	}
	list := analysis.List([]explain.Report{
		named("gone-a", 0), named("gone-b", 1),
		named("big", 2, explaintest.PodOf("big-1", explaintest.Exits(137, "OOMKilled", time.Minute)), explaintest.PodOf("big-2", explaintest.Exits(137, "OOMKilled", time.Minute)), explaintest.PodOf("big-3", explaintest.Exits(3, "Error", time.Minute))),
		named("say-a", 0, explaintest.PodOf("say-a-1", saying("tile 1 is missing", explaintest.Exits(4, "Error", time.Minute)))),
		named("say-b", 0, explaintest.PodOf("say-b-1", saying("tile 2 is missing", explaintest.Exits(4, "Error", time.Minute)))),
	})
	var out bytes.Buffer
	assert.NoError(t, text.Explanations(&out, list, text.Options{Width: 120}))
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"gone, and nothing recorded why they failed ✗", "OOMKilled", "; also exit 3", "2 Jobs failed: say-a, say-b Container main exited with code 4 Logs"} {
		assert.Contains(t, got, want)
	}
	for _, not := range []string{"tile", "allows 1 retry", "restartPolicy"} {
		assert.NotContains(t, got, not)
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// CLI-04: several Jobs: "412 failures, 3 causes" over all of them.
func TestCausesAreGroupedOverJobs(t *testing.T) {
	job := func(namespace, name string, codes ...int32) explain.Report {
		j := explaintest.JobWith(func(j *batchv1.Job) { j.Namespace, j.Name, j.Status.Failed = namespace, name, int32(len(codes)) })
		f := explaintest.InputOf(j)
		for i, code := range codes {
			f.Pods = append(f.Pods, explaintest.PodOf(name+"-"+string(rune('a'+i)), explaintest.Exits(code, "Error", time.Duration(i+1)*time.Minute)))
		}
		return explaintest.Report(f)
	}
	list := analysis.List([]explain.Report{job("ns", "one", 1, 1, 2), job("ns", "two", 2, 2, 2), job("ns", "three", 3)})
	if list.Kind != "JobExplanationList" || list.APIVersion != "batchjob.dev/v1alpha1" || len(list.Items) != 3 || len(list.Causes) != 3 {
		t.Fatalf("%s, %d items, %d causes", list.Kind, len(list.Items), len(list.Causes))
	}
	c := list.Causes[0]
	if c.Count != 4 || strings.Join(c.Jobs, " ") != "one two" || strings.Join(c.Pods, " ") != "one-c two-a two-b" || !c.First.Equal(ptr.To(explaintest.Ago(3*time.Minute))) || !c.Last.Equal(ptr.To(explaintest.Ago(time.Minute))) {
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
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Name, j.Status.Failed, j.Spec.PodFailurePolicy = name, 1, explaintest.Rules(2)
			j.Spec.PodFailurePolicy.Rules[0].OnExitCodes.Values = []int32{first}
		}), explaintest.PodOf(name, explaintest.Exits(2, "Error", time.Minute)))
		return explaintest.Report(f)
	}
	list := analysis.List([]explain.Report{with("one", 1), with("two", 2)})
	assert.Equalf(t, len(list.Causes), 2, "one rule stands for both: %+v", list.Causes)
}
