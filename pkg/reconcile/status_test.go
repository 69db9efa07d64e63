package reconcile

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const (
	criteriaMet   = batchv1.JobSuccessCriteriaMet
	failureTarget = batchv1.JobFailureTarget
)

// interim adds a stored interim condition.
func interim(c batchv1.JobConditionType) func(*batchv1.Job) {
	return condition(c, corev1.ConditionTrue, "Reason", "message")
}

func suspended(status corev1.ConditionStatus) func(*batchv1.Job) {
	return condition(batchv1.JobSuspended, status, reasonSuspended, messageSuspended)
}

func noStart(j *batchv1.Job) { j.Status.StartTime = nil }

// STV-10: completionTime is set only with Complete; a clock that went back does not put it before startTime.
func TestCompletionTimeComesWithComplete(t *testing.T) {
	const complete = `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" SuccessCriteriaMet=True/Reason Complete=True/Reason`
	o := observeJob(interim(criteriaMet))
	plan := o.want(t, complete)
	if at := plan.Status.CompletionTime; at == nil || !at.Time.Equal(now) || !at.Equal(&plan.Status.Conditions[1].LastTransitionTime) {
		t.Errorf("completionTime %v", at)
	}
	o.Now = begun.Add(-time.Minute)
	plan = o.want(t, complete)
	if at := plan.Status.CompletionTime; at == nil || !at.Time.Equal(begun) {
		t.Errorf("completionTime %v, startTime %v", at, begun)
	}
	o = observeJob(interim(criteriaMet), noStart)
	plan = o.want(t, complete)
	if at := plan.Status.CompletionTime; at == nil || plan.Status.StartTime == nil || at.Before(plan.Status.StartTime) {
		t.Errorf("completionTime %v, startTime %v", at, plan.Status.StartTime)
	}
	for _, option := range []func(*batchv1.Job){counters(1, 0), backoffLimit(-1), interim(failureTarget)} {
		if s := observeJob(option).compute().Status; s.CompletionTime != nil {
			t.Errorf("completionTime with %s", statusText(s))
		}
	}
}

// STV-14 (D-39): a suspended Job that ends gets a startTime with the interim condition, even if it has nothing to do:
// not every API server accepts such a Job without it.
func TestSuspendedJobThatEndsGetsAStartTime(t *testing.T) {
	for name, test := range map[string]struct {
		options []func(*batchv1.Job)
		reason  string
	}{
		"scaled down": {[]func(*batchv1.Job){indexed(1, 1), counters(1, 0), stored(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" })}, "CompletionsReached"},
		"limit":       {[]func(*batchv1.Job){sized(3, 3), backoffLimit(0), counters(0, 1)}, "BackoffLimitExceeded"},
		"indexes":     {[]func(*batchv1.Job){indexed(3, 3), perIndex(0), maxFailedIndexes(0), endedIndexes("", 0, "1")}, "MaxFailedIndexesExceeded"},
		"zero":        {[]func(*batchv1.Job){sized(0, 1)}, "CompletionsReached"},
	} {
		o := observeJob(append(test.options, suspend, noStart, suspended(corev1.ConditionTrue))...)
		plan := o.compute()
		if _, reason, _ := fateOf(plan); reason != test.reason || len(plan.Status.Conditions) != 2 || plan.Status.StartTime == nil {
			t.Errorf("%s: %s, startTime %v", name, planText(plan), plan.Status.StartTime)
		}
		o.settle(t)
		s := o.Job.Status
		if !IsFinished(o.Job) || s.StartTime == nil {
			t.Errorf("%s: %s, startTime %v", name, statusText(&s), s.StartTime)
		}
	}
	// An interim condition that a client stored without startTime.
	plan := observeJob(suspend, noStart, interim(failureTarget)).compute()
	if plan.Status.StartTime == nil || len(plan.Status.Conditions) != 2 {
		t.Errorf("%s, startTime %v", planText(plan), plan.Status.StartTime)
	}
	// Resumed between the two conditions.
	plan = observeJob(sized(0, 1), noStart, suspended(corev1.ConditionTrue), interim(criteriaMet)).compute()
	if plan.Status.StartTime == nil || len(plan.Status.Conditions) != 3 {
		t.Errorf("%s, startTime %v", planText(plan), plan.Status.StartTime)
	}
}

// STV-15: a startTime that is set stays, except for the writes that change Suspended.
func TestStartTimeStays(t *testing.T) {
	later := metav1.NewTime(now)
	start := metav1.NewTime(begun)
	for name, test := range map[string]struct {
		options []func(*batchv1.Job)
		want    *metav1.Time
		text    string
	}{
		"new":               {[]func(*batchv1.Job){noStart}, &later, ""},
		"running":           {nil, &start, ""},
		"new, suspended":    {[]func(*batchv1.Job){noStart, suspend}, nil, "Suspended=True/JobSuspended"},
		"suspended":         {[]func(*batchv1.Job){suspend}, nil, "Suspended=True/JobSuspended"},
		"suspended again":   {[]func(*batchv1.Job){suspend, suspended(corev1.ConditionFalse)}, nil, "Suspended=True/JobSuspended"},
		"stays suspended":   {[]func(*batchv1.Job){suspend, noStart, suspended(corev1.ConditionTrue)}, nil, "Suspended=True/JobSuspended"},
		"resumed":           {[]func(*batchv1.Job){noStart, suspended(corev1.ConditionTrue)}, &later, "Suspended=False/JobResumed"},
		"resumed, had time": {[]func(*batchv1.Job){suspended(corev1.ConditionTrue)}, &later, "Suspended=False/JobResumed"},
		"runs on":           {[]func(*batchv1.Job){condition(batchv1.JobSuspended, corev1.ConditionFalse, reasonResumed, messageResumed)}, &start, "Suspended=False/JobResumed"},
	} {
		o := observeJob(append(test.options, sized(1, 0), stored(func(s *batchv1.JobStatus) { s.Terminating = nil }))...)
		plan := o.compute()
		if plan.Status == nil || !plan.Status.StartTime.Equal(test.want) || !strings.HasSuffix(statusText(plan.Status), `completedIndexes ""`+strings.TrimRight(" "+test.text, " ")) {
			t.Errorf("%s: %s, startTime %v", name, planText(plan), plan.Status.StartTime)
		}
		o.carryOut(t, plan)
		o.Now = now.Add(time.Hour)
		o.want(t, "")
	}
	// Suspended means that no pod is active anymore: until then the time stays.
	o := observeJob(suspend).with("p")
	for _, want := range []string{"release p", "delete p"} {
		plan := o.want(t, want)
		o.carryOut(t, plan)
		if !o.Job.Status.StartTime.Equal(&start) {
			t.Error("startTime cleared early")
		}
	}
	// Nor while a pod cannot be stopped in this sync, or the Job is being deleted (JOB-28).
	active := stored(func(s *batchv1.JobStatus) { s.Active = 1 })
	observeJob(suspend, active).with("p").skip("p").want(t, "")
	observeJob(suspend, active).with("p", untracked).skip("p").want(t, "")
	observeJob(suspend, beingDeleted).want(t, "")
	// An outcome found on resume does not change Suspended, and sets the time once.
	plan := observeJob(noStart, suspended(corev1.ConditionTrue), backoffLimit(-1)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" Suspended=True/JobSuspended FailureTarget=True/BackoffLimitExceeded`)
	if !plan.Status.StartTime.Equal(&later) {
		t.Errorf("startTime %v", plan.Status.StartTime)
	}
}

// STV-16: ready never exceeds active, and active is the real number while creation is held.
func TestReadyNeverExceedsActive(t *testing.T) {
	o := observeJob(sized(3, 3)).with("a", ready).with("b", ready).with("f", failedPod(1, time.Second))
	o.Job.Status.Active, o.Job.Status.Ready = 3, ptr.To[int32](3)
	plan := o.want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [f]; after 9s`)
	assert.Equal(t, *plan.Status.Ready, 2, "ready")
	o = observeJob(indexed(3, 3), perIndex(3)).with("a", index(0), ready).with("b", index(1), ready).with("f", index(2), failedPod(1, time.Second))
	plan = o.want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""; after 9s`)
	assert.Equal(t, *plan.Status.Ready, 2, "ready")
	// Terminating and finished pods are not ready, whatever their condition says.
	plan = observeJob(sized(3, 3)).with("a", ready, deletedPod(0)).with("b", ready, succeededPod(0)).with("c", ready, untracked).with("d", ready).compute()
	if s := plan.Status; s.Active != 1 || *s.Ready != 1 || *s.Terminating != 2 {
		t.Errorf("%s, ready %d", statusText(s), *s.Ready)
	}
}

// STV-18: status.succeeded of an Indexed Job decreases only while completions equal parallelism; otherwise it stays,
// and a finding reports it.
func TestSucceededFallsInElasticJobsOnly(t *testing.T) {
	done := func(s *batchv1.JobStatus) { s.Succeeded, s.CompletedIndexes = 4, "0-3" }
	plan := observeJob(indexed(3, 3), stored(done)).
		want(t, `status active 0 terminating 0 succeeded 3 failed 0 completedIndexes "0-2" SuccessCriteriaMet=True/CompletionsReached`)
	if f := plan.Findings.CountKept; f != nil {
		t.Errorf("%+v", f)
	}
	o := observeJob(indexed(3, 2), stored(done))
	plan = o.want(t, `status active 0 terminating 0 succeeded 4 failed 0 completedIndexes "0-2" SuccessCriteriaMet=True/CompletionsReached`)
	assert.Equal(t, *plan.Findings.CountKept, CountKept{Succeeded: 4, Completed: 3}, "kept")
	o.wantStages(t, planText(plan), `status active 0 terminating 0 succeeded 4 failed 0 completedIndexes "0-2" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
	// The kept count has no effect on decisions.
	observeJob(indexed(5, 2), stored(func(s *batchv1.JobStatus) { s.Succeeded, s.CompletedIndexes = 5, "0,1,7-9" })).want(t, "create 2; create 3")
	// When it may decrease, it does.
	o = observeJob(indexed(5, 2), stored(func(s *batchv1.JobStatus) { s.Succeeded, s.CompletedIndexes, s.Active = 5, "0,1", 3 })).
		with("a", index(2)).with("b", index(3)).with("c", index(4))
	*o.Job.Spec.Parallelism = 5
	o.want(t, `status active 3 terminating 0 succeeded 2 failed 0 completedIndexes "0,1"`)
}

// STV-20: failedIndexes is set exactly while backoffLimitPerIndex is.
func TestFailedIndexesComeWithTheLimitPerIndex(t *testing.T) {
	done := stored(func(s *batchv1.JobStatus) { s.Active = 2 })
	observeJob(indexed(2, 2), done, stored(func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("1") })).with("a", index(0)).with("b", index(1)).
		want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
	observeJob(indexed(2, 2), perIndex(1), done, noFailedIndexes).with("a", index(0)).with("b", index(1)).
		want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""`)
	// Fragments that cannot be read, and indexes out of range, are removed.
	plan := observeJob(indexed(3, 2), perIndex(1), done, endedIndexes("", 0, "2,x,7-9")).with("a", index(0)).with("b", index(1)).
		want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "2"`)
	assert.Equal(t, plan.Findings.DamagedIndexes, 1, "damaged")
	// NonIndexed: neither list.
	observeJob(stored(func(s *batchv1.JobStatus) { s.Active, s.CompletedIndexes, s.FailedIndexes = 1, "0-4", ptr.To("") })).with("a").
		want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
}

func noFailedIndexes(j *batchv1.Job) { j.Status.FailedIndexes = nil }

// STV-21: an index in both stored lists has succeeded.
func TestIndexInBothListsSucceeded(t *testing.T) {
	observeJob(indexed(5, 5), perIndex(1), endedIndexes("0-2", 3, "2,3")).with("a", index(4)).
		want(t, `status active 1 terminating 0 succeeded 3 failed 0 completedIndexes "0-2" failedIndexes "3"`)
}

// JOB-65, TRK-06: a suspended Job all of whose work is done is complete, and never suspended, even if its results do
// not fit into one status.
func TestCompleteRatherThanSuspended(t *testing.T) {
	for _, limit := range []int{500, 1} {
		o := observeJob(sized(2, 2), suspend).with("a", succeededPod(time.Minute)).with("b", succeededPod(time.Minute))
		o.config.MaxUncounted = limit
		o.settle(t)
		o.wantStatusText(t, `active 0 terminating 0 succeeded 2 failed 0 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
		if start := o.Job.Status.StartTime; start == nil || !start.Time.Equal(begun) {
			t.Errorf("limit %d: startTime %v", limit, start)
		}
	}
}

// MGB-09: the interim and the terminal condition are two writes, even when no pod is left; the terminal condition
// copies reason and message from the interim one.
func TestTwoConditionsTwoWrites(t *testing.T) {
	for want, o := range map[string]*observed{
		"SuccessCriteriaMet Complete CompletionsReached":         observeJob(counters(1, 0)),
		"FailureTarget Failed BackoffLimitExceeded":              observeJob(backoffLimit(0), counters(0, 1)),
		"FailureTarget Failed DeadlineExceeded":                  observeJob(deadline(60)),
		"FailureTarget Failed MaxFailedIndexesExceeded":          observeJob(indexed(2, 2), perIndex(0), maxFailedIndexes(0), endedIndexes("", 0, "0")),
		"FailureTarget Failed FailedIndexes":                     observeJob(indexed(2, 2), perIndex(0), endedIndexes("1", 1, "0")),
		"SuccessCriteriaMet Complete SuccessPolicy":              observeJob(indexed(2, 2), successRules(onCount(1)), endedIndexes("1", 1, ""), noFailedIndexes),
		"SuccessCriteriaMet Complete CompletionsReached (zero)":  observeJob(sized(0, 0)),
		"SuccessCriteriaMet Complete CompletionsReached (queue)": observeJob(counters(1, 0), func(j *batchv1.Job) { j.Spec.Completions = nil }),
	} {
		words := strings.Fields(want)
		first := o.compute()
		if s := first.Status; s == nil || !first.Urgent || len(s.Conditions) != 1 || string(s.Conditions[0].Type) != words[0] || s.Conditions[0].Reason != words[2] || s.CompletionTime != nil {
			t.Errorf("%s: first %s", want, planText(first))
			continue
		}
		o.carryOut(t, first)
		o.Now = o.Now.Add(time.Second)
		second := o.compute()
		s := second.Status
		if s == nil || !second.Urgent || len(s.Conditions) != 2 || string(s.Conditions[1].Type) != words[1] || s.Conditions[0] != first.Status.Conditions[0] {
			t.Errorf("%s: second %s", want, planText(second))
			continue
		}
		if a, b := s.Conditions[0], s.Conditions[1]; a.Reason != b.Reason || a.Message != b.Message || a.Message == "" {
			t.Errorf("%s: %+v, and then %+v", want, a, b)
		}
		assert.Equal(t, *second.Findings.Outcome, InterimCondition{batchv1.JobConditionType(words[0]), words[2], s.Conditions[0].Message}, want)
		o.carryOut(t, second).want(t, "")
	}
}

// MGB-10: the terminal condition waits for every pod that runs, terminates, is uncounted
// or holds the finalizer.
func TestTerminalConditionWaitsForEveryPod(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*observed)
		waits  WaitFinish // of a Job that succeeds
	}{
		"active":      {func(o *observed) { o.with("p").skip("p") }, WaitFinish{Active: 1}},
		"untracked":   {func(o *observed) { o.with("p", untracked).skip("p") }, WaitFinish{Active: 1}},
		"terminating": {func(o *observed) { o.with("p", deletedPod(0), untracked) }, WaitFinish{Terminating: 1}},
		"recorded": {func(o *observed) {
			uncounted([]types.UID{"p"}, nil)(o.Job)
			o.with("p", succeededPod(0)).skip("p")
		}, WaitFinish{Ended: 1, Uncounted: 1}},
		"finished": {func(o *observed) { o.with("p", succeededPod(0)) }, WaitFinish{Ended: 1, Uncounted: 1}},
		"held":     {func(o *observed) { indexed(2, 2)(o.Job); o.with("p", index(7), succeededPod(0)).skip("p") }, WaitFinish{Ended: 1}},
	} {
		for _, c := range []batchv1.JobConditionType{criteriaMet, failureTarget} {
			o := observeJob(interim(c))
			test.change(o)
			plan := o.compute()
			if plan.Status != nil && len(plan.Status.Conditions) > 1 {
				t.Errorf("%s, %s: %s", name, c, planText(plan))
			}
			f := plan.Findings.WaitFinish
			if f == nil || f.Active != test.waits.Active || f.Terminating != test.waits.Terminating {
				t.Errorf("%s, %s: %+v", name, c, f)
			} else if c == criteriaMet && *f != test.waits {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	// A recorded pod without owner that could not be adopted in this sync.
	plan := observeJob(interim(failureTarget), uncounted(nil, []types.UID{"p"})).stray("p", failedPod(1, time.Hour)).skip("p").want(t, "")
	assert.Equal(t, *plan.Findings.WaitFinish, WaitFinish{Uncounted: 1}, "waits for")
	// Changes of the same plan also delay it: they may fail.
	plan = observeJob(interim(failureTarget)).with("p", unselected).want(t, "disown p")
	if plan.Findings.WaitFinish == nil {
		t.Error("no finding")
	}
	// Nothing is left.
	observeJob(interim(failureTarget), uncounted(nil, []types.UID{"gone"})).with("p", failedPod(1, time.Hour), untracked).
		want(t, `status active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" FailureTarget=True/Reason Failed=True/Reason`)
}

// MGB-11: conditions with status True do not change, and a finished Job is not changed anymore, whatever its spec
// becomes; remaining finalizers are removed.
func TestConditionsStay(t *testing.T) {
	for _, terminal := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		target := map[batchv1.JobConditionType]batchv1.JobConditionType{batchv1.JobComplete: criteriaMet, batchv1.JobFailed: failureTarget}[terminal]
		for name, option := range map[string]func(*batchv1.Job){
			"larger": sized(9, 9), "indexed": indexed(9, 9), "suspended": suspend, "zero": sized(0, 0), "limit": backoffLimit(0),
			"deadline": deadline(1), "policy": failurePolicy(onExit("FailJob", 1)), "mode": func(j *batchv1.Job) { *j.Spec.CompletionMode = "Weird" },
		} {
			o := observeJob(option, interim(target), interim(terminal)).
				with("r").with("f", failedPod(1, time.Hour)).with("t", deletedPod(0)).with("u", untracked).stray("s")
			plan := o.compute()
			assert.Equalf(t, planText(plan), "release f r t", "%s, %s", terminal, name)
			o.skip("f", "r", "t").want(t, "")
		}
	}
	// Interim: reasons for the other condition, or for Suspended, change nothing.
	custom := condition("Custom", corev1.ConditionTrue, "Theirs", "theirs")
	for _, c := range []batchv1.JobConditionType{criteriaMet, failureTarget} {
		o := observeJob(custom, interim(c), suspend, backoffLimit(0), deadline(1), counters(1, 7), failurePolicy(onExit("FailJob", 1))).
			with("f", failedPod(1, time.Hour)).with("s", succeededPod(time.Hour)).with("t", deletedPod(0), untracked)
		o.settle(t)
		assert.DeepEqual(t, o.Job.Status.Conditions, observeJob(custom, interim(c)).Job.Status.Conditions, c, statusText(&o.Job.Status))
	}
	// A condition that a client set to False has no effect, until it is needed.
	falseTarget := condition(failureTarget, corev1.ConditionFalse, "Theirs", "theirs")
	observeJob(falseTarget, stored(func(s *batchv1.JobStatus) { s.Active = 1 })).with("p").want(t, "")
	plan := observeJob(falseTarget, backoffLimit(0), counters(0, 1)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" FailureTarget=True/BackoffLimitExceeded`)
	if c := plan.Status.Conditions[0]; !c.LastTransitionTime.Time.Equal(now) {
		t.Errorf("%+v", c)
	}
}

// JOB-01: of two reasons to end a Job, the first in the list counts.
func TestFirstReasonToEndCounts(t *testing.T) {
	type cause struct {
		reason string
		apply  func(*observed)
	}
	failed3 := func(o *observed) { o.Job.Status.FailedIndexes = ptr.To("3") }
	completed := func(text string, n int32) func(*observed) {
		return func(o *observed) {
			if s := &o.Job.Status; s.Succeeded < n {
				s.CompletedIndexes, s.Succeeded = text, n
			}
		}
	}
	causes := []cause{
		{"Met", func(o *observed) { condition(criteriaMet, corev1.ConditionTrue, "Met", "stored")(o.Job) }},
		{"Target", func(o *observed) { condition(failureTarget, corev1.ConditionTrue, "Target", "stored")(o.Job) }},
		{"PodFailurePolicy_0", func(o *observed) { o.with("p", index(2), failedPod(42, time.Hour)) }},
		{"BackoffLimitExceeded", func(o *observed) { o.Job.Spec.BackoffLimit = ptr.To[int32](0); o.Job.Status.Failed = 1 }},
		{"DeadlineExceeded", func(o *observed) { deadline(60)(o.Job) }},
		{"MaxFailedIndexesExceeded", func(o *observed) { maxFailedIndexes(0)(o.Job); failed3(o) }},
		{"FailedIndexes", func(o *observed) { completed("0-2", 3)(o); failed3(o) }},
		{"SuccessPolicy", func(o *observed) { successRules(onIndexes("0"))(o.Job); completed("0", 1)(o) }},
		{"CompletionsReached", completed("0-3", 4)},
	}
	for i, first := range causes {
		for _, second := range causes[i+1:] {
			if second.reason == "CompletionsReached" && (first.reason == "MaxFailedIndexesExceeded" || first.reason == "FailedIndexes") || second.reason == "Target" {
				continue // an index that failed did not succeed; and both interim conditions cannot be
			}
			for _, order := range [][]cause{{first, second}, {second, first}} {
				o := observeJob(indexed(4, 4), perIndex(5), failurePolicy(onExit("FailJob", 42)))
				for _, c := range order {
					c.apply(o)
				}
				_, reason, _ := fateOf(o.compute())
				assert.Equal(t, reason, first.reason, "with", second.reason)
			}
		}
		// Each of them alone is a reason.
		o := observeJob(indexed(4, 4), perIndex(5), failurePolicy(onExit("FailJob", 42)))
		first.apply(o)
		if _, reason, _ := fateOf(o.compute()); reason != first.reason {
			t.Errorf("%s alone: %s", first.reason, reason)
		}
	}
	// Container restarts rank with failed pods, before the deadline.
	for restarts, want := range map[int32]string{0: "DeadlineExceeded", 2: "DeadlineExceeded", 3: "BackoffLimitExceeded"} {
		o := observeJob(backoffLimit(3), deadline(60), func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }).
			with("p", func(p *Pod) { p.Restarts = restarts })
		if _, reason, _ := fateOf(o.compute()); reason != want {
			t.Errorf("%d restarts: %s", restarts, reason)
		}
	}
	// A reason to fail takes precedence over the management of pods, which takes precedence over completions.
	observeJob(sized(1, 1), counters(1, 0), stored(func(s *batchv1.JobStatus) { s.Active = 1 })).with("p").want(t, "release p")
	observeJob(sized(3, 1), backoffLimit(0)).with("f", failedPod(1, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [f] FailureTarget=True/BackoffLimitExceeded`)
}

// JOB-22: the first plan sets startTime, which may be merged with the results of its creations, as other counts may.
// STV-16: no count includes a pod that is yet to be created.
func TestFirstStatusHasStartTime(t *testing.T) {
	o := observeJob(sized(3, 3), noStart)
	plan := o.compute()
	if s := plan.Status; s == nil || !plan.Merge || s.StartTime == nil || !s.StartTime.Time.Equal(now) || s.Active != 0 || len(plan.Create) != 3 {
		t.Errorf("begins: %s, merge %v", planText(plan), plan.Merge)
	}
	o.carryOut(t, plan).Pods = o.Pods[:2] // One creation was refused.
	plan = o.compute()
	if s := plan.Status; s == nil || !plan.Merge || s.Active != 2 || len(plan.Create) != 1 {
		t.Errorf("goes on: merge %v, %+v", plan.Merge, plan.Status)
	}
}

// Counts are written at once after all pods have ended: nothing follows before a back-off is over.
// Requirements: JOB-53
func TestCountsDoNotWaitForNothing(t *testing.T) {
	failed := failedPod(1, time.Second)
	for name, c := range map[string]struct {
		o      *observed
		urgent bool
	}{
		"all have failed":          {observeJob(sized(3, 2)).with("a", failed).with("b", failed), true},
		"one runs":                 {observeJob(sized(3, 2)).with("a", failed).with("b"), false},
		"one terminates":           {observeJob(sized(3, 2)).with("a", failed).with("b", untracked, deletedPod(0)), false},
		"the next ones are due":    {observeJob(sized(3, 2)).with("a", failedPod(1, time.Hour)), false},
		"all failures are counted": {observeJob(sized(3, 2), stored(func(s *batchv1.JobStatus) { s.Active = 1 })), false},
	} {
		plan := c.o.compute()
		if plan.Status == nil || plan.Urgent != c.urgent {
			t.Errorf("%s: %s, urgent %v", name, planText(plan), plan.Urgent)
		}
	}
}

// A Job that another client's finalizer keeps, and that is resumed after its deletion, does not start again.
// Requirements: JOB-22, JOB-27
func TestJobResumedAfterItsDeletionDoesNotStart(t *testing.T) {
	observeJob(sized(1, 1), beingDeleted, noStart, suspended(corev1.ConditionTrue)).want(t, "")
	// Otherwise, activeDeadlineSeconds counts, also while the Job is being deleted.
	if s := observeJob(sized(1, 1), beingDeleted, noStart).compute().Status; s == nil || s.StartTime == nil {
		t.Errorf("a Job that was not suspended has no startTime: %+v", s)
	}
}
