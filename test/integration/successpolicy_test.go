package integration

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// What the API server takes for a successPolicy, and the controller may rely on.
func TestSuccessPoliciesThatAreRejected_SUC_01_SUC_02(t *testing.T) {
	t.Parallel()
	s := newIdleJobs(t)
	const policy, rules, rule = "spec.successPolicy", "spec.successPolicy.rules", "spec.successPolicy.rules[0]"
	with := func(indexes string, count int32) batchv1.SuccessPolicyRule {
		return batchv1.SuccessPolicyRule{SucceededIndexes: &indexes, SucceededCount: &count}
	}
	for what, c := range map[string]struct {
		field string
		rules []batchv1.SuccessPolicyRule
	}{
		"no rule":                    {rules, nil},
		"20 rules":                   {"", slices.Repeat([]batchv1.SuccessPolicyRule{countSucceeds(1)}, 20)},
		"21 rules":                   {rules, slices.Repeat([]batchv1.SuccessPolicyRule{countSucceeds(1)}, 21)},
		"neither field":              {rule, []batchv1.SuccessPolicyRule{{}}},
		"indexes":                    {"", []batchv1.SuccessPolicyRule{indexesSucceed("0,2-4")}},
		"indexes that touch":         {"", []batchv1.SuccessPolicyRule{indexesSucceed("1,2,3")}},
		"no index":                   {"", []batchv1.SuccessPolicyRule{indexesSucceed("")}},
		"indexes beyond":             {rule + ".succeededIndexes", []batchv1.SuccessPolicyRule{indexesSucceed("0,5")}},
		"indexes out of order":       {rule + ".succeededIndexes", []batchv1.SuccessPolicyRule{indexesSucceed("3,1")}},
		"overlapping":                {rule + ".succeededIndexes", []batchv1.SuccessPolicyRule{indexesSucceed("0-2,2")}},
		"no numbers":                 {rule + ".succeededIndexes", []batchv1.SuccessPolicyRule{indexesSucceed("a")}},
		"more than 64 Ki":            {rule + ".succeededIndexes", []batchv1.SuccessPolicyRule{indexesSucceed(strings.Repeat("0", 64<<10) + "1")}},
		"64 Ki":                      {"", []batchv1.SuccessPolicyRule{indexesSucceed(strings.Repeat("0", 64<<10-1) + "1")}},
		"count 0":                    {"", []batchv1.SuccessPolicyRule{countSucceeds(0)}},
		"count below 0":              {rule + ".succeededCount", []batchv1.SuccessPolicyRule{countSucceeds(-1)}},
		"count of all":               {"", []batchv1.SuccessPolicyRule{countSucceeds(5)}},
		"count above completions":    {rule + ".succeededCount", []batchv1.SuccessPolicyRule{countSucceeds(6)}},
		"count of listed":            {"", []batchv1.SuccessPolicyRule{with("1-3", 3)}},
		"count above what is listed": {rule + ".succeededCount", []batchv1.SuccessPolicyRule{with("1-3", 4)}},
		"the second rule is the one": {rules + "[1]", []batchv1.SuccessPolicyRule{countSucceeds(1), {}}},
	} {
		s.rejects(what, c.field, indexed(5), successPolicy(c.rules...))
	}
	s.rejects("NonIndexed", policy, completions(5), successPolicy(countSucceeds(1)))

	stored, none := s.store("with", indexed(5), successPolicy(countSucceeds(1)), suspended), s.store("none", indexed(5), suspended)
	s.rejectsEdit("another rule", policy, stored, map[string]any{"successPolicy": map[string]any{"rules": []any{countSucceeds(2)}}})
	s.rejectsEdit("one more rule", policy, stored, map[string]any{"successPolicy": map[string]any{"rules": []any{countSucceeds(1), countSucceeds(2)}}})
	s.rejectsEdit("no policy anymore", policy, stored, map[string]any{"successPolicy": nil})
	s.rejectsEdit("a new policy", policy, none, map[string]any{"successPolicy": map[string]any{"rules": []any{countSucceeds(1)}}})
	s.rejectsEdit("something else", "", stored, map[string]any{"backoffLimit": 2})
}

// Upstream's TestSuccessPolicy, as Jobs of one namespace. The first status with
// SuccessCriteriaMet has its evidence (SUC-08 on a real API server).
func TestSuccessPoliciesEndAsWithTheBuiltinController_SUC_08_SUC_10_SUC_17_SUC_18_SUC_24(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	f.startController(m.counts)
	succeeds := func(job string, index int32) { f.kubelet.succeed(f.indexOfJob(job, index)) }
	fails := func(job string, index int32) { f.kubelet.fail(f.indexOfJob(job, index)) }
	const met = batchv1.JobReasonSuccessPolicy
	for _, c := range []struct {
		job               *batchv1.Job
		play              func(job string)
		end               batchv1.JobConditionType
		reason, message   string
		succeeded, failed int32
		completed         string
	}{
		{
			named("all", newJob(indexed(1), successPolicy(indexesSucceed("0")))),
			func(job string) { succeeds(job, 0) }, batchv1.JobComplete, met, "Matched rules at index 0", 1, 0, "0",
		},
		{
			named("index", newJob(indexed(2), successPolicy(indexesSucceed("1")))),
			func(job string) { succeeds(job, 1) }, batchv1.JobComplete, met, "Matched rules at index 0", 1, 0, "1",
		},
		{
			named("count", newJob(indexed(2), successPolicy(countSucceeds(1)))),
			func(job string) { succeeds(job, 1) }, batchv1.JobComplete, met, "Matched rules at index 0", 1, 0, "1",
		},
		{
			named("second-rule", newJob(indexed(3), successPolicy(indexesSucceed("0"), countSucceeds(2)))),
			func(job string) { succeeds(job, 2); succeeds(job, 1) }, batchv1.JobComplete, met, "Matched rules at index 1", 2, 0, "1,2",
		},
		{
			named("no-rule-met", newJob(indexed(1), successPolicy(indexesSucceed("")))),
			func(job string) { succeeds(job, 0) }, batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", 1, 0, "0",
		},
		{
			named("plain", newJob(indexed(1))),
			func(job string) { succeeds(job, 0) }, batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", 1, 0, "0",
		},
		{
			// The failed index comes before the rule that is met.
			named("failed-index", newJob(indexed(2), perIndexLimit(0), successPolicy(countSucceeds(1)))),
			func(job string) { fails(job, 0); f.untilCounts(job, counts{active: 1, failed: 1}); succeeds(job, 1) },
			batchv1.JobFailed, batchv1.JobReasonFailedIndexes, "Job has failed indexes", 1, 1, "1",
		},
	} {
		name := f.create(c.job).Name
		c.play(name)
		if c.end == batchv1.JobComplete {
			if first := f.untilIs(name, batchv1.JobSuccessCriteriaMet); first.Status.CompletedIndexes != c.completed || first.Status.Succeeded != c.succeeded {
				t.Errorf("%s: the first status with SuccessCriteriaMet has the indexes %q and %d succeeded", name, first.Status.CompletedIndexes, first.Status.Succeeded)
			}
		}
		job := f.untilFinished(name, c.end, c.reason, c.succeeded, c.failed)
		f.wantMessage(job, c.end, c.message)
		if job.Status.CompletedIndexes != c.completed {
			t.Errorf("%s: completedIndexes is %q, want %q", name, job.Status.CompletedIndexes, c.completed)
		}
	}
	f.untilReleased()
	m.until(map[string]float64{
		"jobs_finished_total{completion_mode=Indexed,reason=SuccessPolicy,result=succeeded}":      4,
		"jobs_finished_total{completion_mode=Indexed,reason=CompletionsReached,result=succeeded}": 2,
		"jobs_finished_total{completion_mode=Indexed,reason=FailedIndexes,result=failed}":         1,
	}, "jobs_finished_total")
}

// One index has failed and is not retried yet, one runs, and one meets the rule.
func TestRuleIsMetWhilePodsRun_SUC_14_SUC_15(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(neverRetry)
	f.create(newJob(indexed(3), onNode, successPolicy(indexesSucceed("2"))))
	f.untilActive(3)
	failing, running, succeeding := f.indexOfJob("a", 0), f.indexOfJob("a", 1), f.indexOfJob("a", 2)
	f.kubelet.run(failing, running)
	f.untilCounts("a", counts{active: 3, ready: 2})
	f.kubelet.fail(failing)
	f.untilCounts("a", counts{active: 2, ready: 1, failed: 1})
	f.kubelet.succeed(succeeding)

	job := f.untilCounts("a", counts{terminating: 1, succeeded: 1, failed: 1})
	criteria := history.Condition(job, batchv1.JobSuccessCriteriaMet)
	if criteria == nil || criteria.Message != "Matched rules at index 0" {
		t.Fatalf("the conditions are %v", job.Status.Conditions)
	}
	if held := f.untilPods(1, "terminating", history.IsTerminating)[0]; held.UID != running.UID {
		t.Errorf("pod %s is deleted", held.Name)
	}
	f.untilReleased()
	if now := f.history.job("a"); history.IsFinished(now) || now.Status.CompletionTime != nil {
		t.Errorf("a pod still runs, and the Job is %s", jobLine(now))
	}
	// However the pod ends now, it is neither a failure nor a success.
	f.kubelet.terminate(running)
	job = f.untilFinished("a", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 1, 1)
	f.wantMessage(job, batchv1.JobComplete, criteria.Message)
	if at := history.Condition(job, batchv1.JobComplete).LastTransitionTime; !job.Status.CompletionTime.Equal(&at) {
		t.Errorf("completionTime is %v, and the Job is Complete since %v", job.Status.CompletionTime, at)
	}
	f.wantPodsEver(3)
}

// Without the gate nobody looks at the rules: the Job completes with its last index.
func TestSuccessPolicyIsSwitchedOff_SUC_19(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	f.startController(gateOff(controller.JobSuccessPolicy), m.counts)
	f.create(newJob(indexed(2), successPolicy(indexesSucceed("0"))))
	f.untilActive(2)
	f.kubelet.succeed(f.indexOfJob("a", 0))
	f.untilCounts("a", counts{active: 1, succeeded: 1})
	f.kubelet.run(f.indexOfJob("a", 1))
	if job := f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 1}); len(job.Status.Conditions) > 0 {
		t.Errorf("the conditions are %v", job.Status.Conditions)
	}
	f.kubelet.succeed(f.indexOfJob("a", 1))
	f.untilFinished("a", batchv1.JobComplete, "", 2, 0)
	f.wantPodsEver(2)
	m.until(map[string]float64{"jobs_finished_total{completion_mode=Indexed,reason=,result=succeeded}": 1}, "jobs_finished_total")
}

// Upstream's TestSuccessPolicy_ReEnabling, and a Job that has finished before.
func TestSuccessPolicyIsSwitchedOnAgain_SUC_20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(named("done", newJob(indexed(2), successPolicy(countSucceeds(1)))))
	f.kubelet.succeed(f.indexOfJob("done", 1))
	done := f.untilFinished("done", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 1, 0)
	f.create(newJob(indexed(5), successPolicy(countSucceeds(3))))
	for i, gate := range [][]func(*controller.Config){nil, {gateOff(controller.JobSuccessPolicy)}, {}} {
		if i > 0 {
			p.stop()
			p = f.startController(gate...)
		}
		f.kubelet.succeed(f.indexOfJob("a", int32(i)))
		if i < 2 {
			f.untilCounts("a", counts{active: 4 - int32(i), succeeded: int32(i) + 1})
		}
	}
	job := f.untilFinished("a", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 3, 0)
	if job.Status.CompletedIndexes != "0-2" {
		t.Errorf("completedIndexes is %q", job.Status.CompletedIndexes)
	}
	f.untilPods(0, "active", history.IsActive)
	f.wantPodsEver(7)
	f.wantUnwritten(done)
}
