package reconcile

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// replacing sets podReplacementPolicy.
func replacing(policy batchv1.PodReplacementPolicy) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = &policy }
}

func suspend(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }

func inPhase(phase corev1.PodPhase) func(*Pod) { return func(p *Pod) { p.Phase = phase } }

// ended makes a pod end now, whatever its state before.
func ended(p *Pod, phase corev1.PodPhase) { p.Phase, p.FinishedAt, p.Ready = phase, now, false }

// PRP-02: with any podFailurePolicy, even an empty one, pods are replaced only when they have failed, whatever
// podReplacementPolicy and its gate.
func TestFailurePolicyReplacesFailedOnly(t *testing.T) {
	empty := func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} }
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		o := observeJob(empty, replacing(policy)).with("p", deletedPod(time.Minute))
		plan := o.want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes ""`)
		assert.Equal(t, plan.Findings.WaitTerminating, 1, "waits")
		o.config.Features.PodReplacementPolicy = false
		o.want(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes ""`)
	}
	observeJob(replacing(batchv1.TerminatingOrFailed)).with("p", deletedPod(time.Minute)).
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; create`)
}

// PRP-03 (D-09): active and terminating pods, by phase and deletion.
func TestActiveAndTerminating(t *testing.T) {
	for _, test := range []struct {
		phase               corev1.PodPhase
		deleting            bool
		active, terminating int32
	}{
		{"", false, 1, 0},
		{corev1.PodPending, false, 1, 0},
		{corev1.PodRunning, false, 1, 0},
		{corev1.PodUnknown, false, 1, 0},
		{corev1.PodSucceeded, false, 0, 0},
		{corev1.PodFailed, false, 0, 0},
		{"", true, 0, 1},
		{corev1.PodPending, true, 0, 1},
		{corev1.PodRunning, true, 0, 1},
		{corev1.PodUnknown, true, 0, 1},
		{corev1.PodSucceeded, true, 0, 0},
		{corev1.PodFailed, true, 0, 0},
	} {
		o := observeJob(sized(10, 1), replacing(batchv1.Failed)).with("p", inPhase(test.phase), func(p *Pod) {
			p.Deleting = test.deleting
			if test.deleting || p.IsTerminal() {
				p.FinishedAt = now.Add(-time.Hour)
			}
		})
		o.HoldCreation = true
		p := o.Pods[0]
		if p.IsActive() != (test.active == 1) || p.IsTerminating() != (test.terminating == 1) {
			t.Errorf("%+v: active %v, terminating %v", test, p.IsActive(), p.IsTerminating())
		}
		plan := o.compute()
		if plan.Status == nil || plan.Status.Active != test.active || *plan.Status.Terminating != test.terminating {
			t.Errorf("%+v: %s", test, planText(plan))
		}
	}
}

// PRP-04: status.terminating is always a number, even 0, and counts the pods of the Job, tracked or not, of any index.
func TestTerminatingIsANumber(t *testing.T) {
	o := observeJob(sized(1, 0))
	o.Job.Status.Terminating = nil
	o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
	observeJob(indexed(2, 0), replacing(batchv1.Failed)).
		with("a", index(0), deletedPod(time.Minute)).with("b", index(1), deletedPod(time.Minute), untracked).
		with("c", index(7), deletedPod(time.Minute), untracked).with("d", deletedPod(time.Minute), untracked).
		with("e", index(0), failedPod(1, time.Hour), untracked, func(p *Pod) { p.Deleting = true }).
		want(t, `status active 0 terminating 4 succeeded 0 failed 0 completedIndexes ""`)
}

// PRP-05: under TerminatingOrFailed, a pod is counted and replaced as soon as it terminates; its result has no effect.
func TestTerminatingCountsAtOnce(t *testing.T) {
	o := observeJob().with("p", deletedPod(time.Minute))
	o.Job.Status.Active = 1
	plan := o.want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; create`)
	if plan.CreateReason != RecreateTerminatingOrFailed || plan.Create[0].Attempt != 2 {
		t.Errorf("%q %+v", plan.CreateReason, plan.Create)
	}
	o.carryOut(t, plan)
	ended(o.pod(t, "p"), corev1.PodSucceeded)
	o.wantStages(t, "release p", `status active 1 terminating 0 succeeded 0 failed 1 completedIndexes ""`)

	o = observeJob(indexed(1, 1)).with("p", index(0), deletedPod(time.Minute))
	o.carryOut(t, o.compute())
	ended(o.pod(t, "p"), corev1.PodSucceeded)
	o.wantStages(t, "release p", `status active 1 terminating 0 succeeded 0 failed 1 completedIndexes ""`)
}

// PRP-06: under Failed, the Job waits for the end of a terminating pod, and uses its result.
func TestTerminatingPodWaitsForItsEnd(t *testing.T) {
	for _, mode := range []func(*batchv1.Job){sized(2, 2), indexed(2, 2)} {
		job := func() *observed {
			o := observeJob(mode, replacing(batchv1.Failed)).with("p", index(0), deletedPod(time.Minute)).with("q", index(1))
			o.wantStages(t, `status active 1 terminating 1 succeeded 0 failed 0 completedIndexes ""`)
			return o
		}
		o := job()
		ended(o.pod(t, "p"), corev1.PodFailed)
		o.pod(t, "p").FinishedAt = now.Add(-10 * time.Second)
		plan := o.compute()
		if len(plan.Create) != 1 || plan.CreateReason != RecreateFailed || plan.Create[0].Index > 0 {
			t.Errorf("failed: %s for %q", planText(plan), plan.CreateReason)
		}
		o.settle(t)
		if s := o.Job.Status; s.Failed != 1 || s.Succeeded != 0 || s.Active != 2 {
			t.Errorf("failed: %s", statusText(&s))
		}
		o = job()
		ended(o.pod(t, "p"), corev1.PodSucceeded)
		o.settle(t)
		if s := o.Job.Status; s.Failed != 0 || s.Succeeded != 1 || s.Active != 1 || *s.Terminating != 0 {
			t.Errorf("succeeded: %s", statusText(&s))
		}
	}
}

// PRP-07: under Failed, terminating pods take the place of new pods, in every mode, and never cost an active pod its
// place.
func TestTerminatingTakesRoom(t *testing.T) {
	for _, test := range []struct {
		completions, parallelism int32
		active, terminating      int
		mode                     batchv1.CompletionMode
		want                     string
	}{
		{5, 5, 1, 2, batchv1.NonIndexedCompletion, "create; create"},
		{5, 5, 1, 2, batchv1.IndexedCompletion, "create 3; create 4"},
		{5, 3, 1, 2, batchv1.NonIndexedCompletion, ""},
		{5, 3, 1, 2, batchv1.IndexedCompletion, ""},
		{5, 3, 1, 4, batchv1.NonIndexedCompletion, ""},
		{5, 2, 2, 2, batchv1.NonIndexedCompletion, ""},
		{1, 1, 2, 4, batchv1.NonIndexedCompletion, "release p0"},
	} {
		o := observeJob(sized(test.completions, test.parallelism), replacing(batchv1.Failed))
		o.Job.Spec.CompletionMode = &test.mode
		for i := range test.active + test.terminating {
			o.with("p"+string(rune('0'+i)), index(int32(i)))
			if i >= test.active {
				deletedPod(time.Minute)(o.Pods[i])
			} else if i == 1 {
				ready(o.Pods[i])
			}
		}
		o.Job.Status.Active, o.Job.Status.Terminating = int32(test.active), ptr.To(int32(test.terminating))
		o.Job.Status.Ready = ptr.To(int32(min(1, test.active-1)))
		plan := o.want(t, test.want)
		waits := 0
		if short := int(min(test.completions, test.parallelism)) > test.active; short {
			waits = test.terminating
		}
		assert.Equal(t, int(plan.Findings.WaitTerminating), waits, test)
	}
	// "more terminating pods than parallelism", to the end, with and without a policy.
	for _, empty := range []bool{false, true} {
		o := observeJob(replacing(batchv1.Failed))
		if empty {
			o.Job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
			o.config.Features.PodReplacementPolicy = false
		}
		o.with("a").with("b", ready)
		for _, name := range []string{"t1", "t2", "t3", "t4"} {
			o.with(name, deletedPod(time.Minute))
		}
		number := "5"
		if empty {
			number = "nil"
		}
		o.wantStages(t, "release a", "delete a", `status active 1 terminating `+number+` succeeded 0 failed 0 completedIndexes ""`)
	}
}

// PRP-07, BLI-13: a terminating pod takes the place of a failed index before the place of an index that can still run:
// here index 4 is out of range, and 1 has failed.
func TestTerminatingTakesPlaceOfFailedIndex(t *testing.T) {
	job := func(parallelism int32) *observed {
		return observeJob(indexed(4, parallelism), perIndex(1), replacing(batchv1.Failed), endedIndexes("0,2", 2, "1"), stored(func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](1) })).
			with("t", index(4), deletedPod(time.Second), untracked)
	}
	job(3).want(t, "create 3(0,0)")
	job(2).want(t, "create 3(0,0)")
	// Beyond parallelism, the index is not run (PRP-24).
	job(1).want(t, "")
}

// PRP-08: under Failed, an index that has a terminating pod is not pending.
func TestTerminatingIndexIsTaken(t *testing.T) {
	o := observeJob(indexed(3, 2), replacing(batchv1.Failed)).with("p", index(0), deletedPod(time.Minute))
	o.want(t, "create 1")
	observeJob(indexed(3, 2), replacing(batchv1.Failed)).with("p", index(0), deletedPod(time.Minute), untracked).want(t, "create 1")
	// Under TerminatingOrFailed, the index is replaced at once.
	observeJob(indexed(3, 2)).with("p", index(0), deletedPod(time.Minute), untracked).want(t, "create 0; create 1")
}

// PRP-09: pods that a plan deletes count as terminating in its status, and neither as active nor as ready.
func TestOwnDeletionsAreTerminating(t *testing.T) {
	o := observeJob(sized(2, 2), suspend).with("a", ready).with("b", ready)
	o.Job.Status.Active, o.Job.Status.Ready = 2, ptr.To[int32](2)
	o.wantStages(t, "release a b", "delete a b",
		`status active 0 terminating 2 succeeded 0 failed 0 completedIndexes "" Suspended=True/JobSuspended`)
	assert.Equal(t, *o.Job.Status.Ready, 0, "ready")
	// A status that is written along with a deletion shows it as done.
	plan := observeJob(sized(3, 3)).with("a", ready, untracked).with("b", ready).with("c", succeededPod(time.Minute)).
		want(t, `status active 1 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [c] []; delete a`)
	assert.Equal(t, *plan.Status.Ready, 1, "ready")
	// So does the interim condition, right before the deletions; there is no other write.
	o = observeJob(sized(2, 2), backoffLimit(0)).with("a", ready).with("b", failedPod(1, time.Minute))
	o.Job.Status.Active, o.Job.Status.Ready = 2, ptr.To[int32](2)
	plan = o.want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [b a] FailureTarget=True/BackoffLimitExceeded`)
	assert.Equal(t, *plan.Status.Ready, 0, "ready")
	o.carryOut(t, plan).want(t, "delete a; release b")
}

// PRP-10: a change in the number of terminating pods leads to a write.
func TestChangeOfTerminatingIsWritten(t *testing.T) {
	o := observeJob(replacing(batchv1.Failed)).with("p", ready)
	o.Job.Status.Active, o.Job.Status.Ready, o.Job.Status.Terminating = 1, ptr.To[int32](1), ptr.To[int32](1)
	plan := o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
	if plan.Urgent {
		t.Error("urgent")
	}
	o.carryOut(t, plan).want(t, "")
	o.Job.Status.Terminating = nil
	o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
}

// PRP-12: the back-off starts at the deletion under TerminatingOrFailed, and at the failure under Failed.
func TestBackoffStartsAtTheDeletionOrTheFailure(t *testing.T) {
	plan := observeJob().with("p", deletedPod(4*time.Second)).
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; after 6s`)
	if f := plan.Findings.Backoff; f == nil || f.Failures != 1 {
		t.Errorf("%+v", f)
	}
	if plan.Backoff.Failures != 1 || !plan.Backoff.LastFailure.Equal(now.Add(-4*time.Second)) {
		t.Errorf("%+v", plan.Backoff)
	}
	o := observeJob(replacing(batchv1.Failed)).with("p", deletedPod(time.Minute))
	plan = o.want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes ""`)
	assert.Equal(t, plan.Backoff.Failures, 0, plan.Backoff)
	observeJob(replacing(batchv1.Failed)).with("p", failedPod(1, 4*time.Second), func(p *Pod) { p.Deleting = true }).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; after 6s`)
	// Failures whose pods are gone are remembered, and each new failure is added once.
	o = observeJob(counters(0, 1)).with("p", failedPod(1, 4*time.Second))
	o.Backoff = backoff.Record{Failures: 1, LastFailure: now.Add(-time.Minute)}
	plan = o.want(t, `status active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" uncounted [] [p]; after 16s`)
	assert.Equal(t, plan.Backoff.Failures, 2, plan.Backoff)
	o.carryOut(t, plan).want(t, "release p; after 16s")
}

// PRP-15: the terminal condition waits for terminating pods, even with the gate off.
func TestTerminalConditionWaitsForTerminatingPodsWithoutTheGate(t *testing.T) {
	for _, c := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		o := observeJob(condition(c, corev1.ConditionTrue, "Reason", "message")).with("p", deletedPod(time.Minute), untracked)
		o.config.Features = Features{ManagedBy: true}
		plan := o.want(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes "" `+string(c)+`=True/Reason`)
		assert.Equal(t, *plan.Findings.WaitFinish, WaitFinish{Terminating: 1}, "waits for")
		o.carryOut(t, plan).want(t, "")
	}
}

// PRP-16: in a Job that fails, all pods that have not ended count as failed in the same write as the condition, even
// under policy Failed; ignored failures do not.
func TestAllFailWithTheJob(t *testing.T) {
	o := observeJob(sized(3, 3), backoffLimit(0), replacing(batchv1.Failed)).
		with("f", failedPod(1, time.Minute)).with("r").with("t", deletedPod(time.Minute)).with("u", deletedPod(time.Minute), untracked).with("v", untracked)
	plan := o.want(t, `status active 0 terminating 4 succeeded 0 failed 0 completedIndexes "" uncounted [] [f r t] FailureTarget=True/BackoffLimitExceeded`)
	assert.Equal(t, len(plan.Findings.RecordedFailed), 3)
	o.carryOut(t, plan)
	// The results of the other pods change nothing.
	ended(o.pod(t, "r"), corev1.PodSucceeded)
	o.wantStages(t, "delete v; release f r t",
		`status active 0 terminating 3 succeeded 0 failed 3 completedIndexes "" FailureTarget=True/BackoffLimitExceeded`)
	o.Pods = nil
	o.wantStages(t, `status active 0 terminating 0 succeeded 0 failed 3 completedIndexes "" FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded`)

	observeJob(sized(3, 3), failurePolicy(onExit("FailJob", 42), onExit("Ignore", 1))).
		with("f", failedPod(42, time.Minute)).with("i", failedPod(1, time.Minute)).with("r").with("t", deletedPod(time.Minute)).
		want(t, `status active 0 terminating 2 succeeded 0 failed 0 completedIndexes "" uncounted [] [f r t] FailureTarget=True/PodFailurePolicy_0; release i`)
	// A terminating pod that is not recorded yet is recorded before it is released.
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		observeJob(replacing(policy), condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "Reason", "message")).with("t", deletedPod(time.Minute)).
			wantStages(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [t] FailureTarget=True/Reason`, "release t",
				`status active 0 terminating 1 succeeded 0 failed 1 completedIndexes "" FailureTarget=True/Reason`)
	}
	// Pods without an index of the Job never count (TRK-29).
	observeJob(indexed(2, 2), backoffLimit(0)).
		with("f", index(0), failedPod(1, time.Minute)).with("x", index(5)).with("y").with("z", index(1)).
		want(t, `status active 0 terminating 3 succeeded 0 failed 0 completedIndexes "" uncounted [] [f z] FailureTarget=True/BackoffLimitExceeded`)
}

// PRP-18: with the gate off, every Job without a podFailurePolicy is TerminatingOrFailed, status.terminating is unset,
// and pods are created as new ones.
func TestGateOffReplacesTerminatingPods(t *testing.T) {
	o := observeJob(replacing(batchv1.Failed)).with("p", deletedPod(time.Minute))
	o.config.Features.PodReplacementPolicy = false
	plan := o.want(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; create`)
	assert.Equal(t, plan.CreateReason, CreateNew)
	assert.Equal(t, *o.Job.Spec.PodReplacementPolicy, batchv1.Failed, "the spec was changed")
	o = observeJob(failurePolicy()).with("p", deletedPod(time.Minute))
	o.config.Features.PodReplacementPolicy = false
	o.want(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes ""`)
	// An idle Job loses the field on the next sync.
	o = observeJob().with("p")
	o.Job.Status.Active = 1
	o.want(t, "")
	o.config.Features.PodReplacementPolicy = false
	o.want(t, `status active 1 terminating nil succeeded 0 failed 0 completedIndexes ""`)
}

// PRP-19: the numbers of the built-in controller's test: on, off, and on again.
func TestGateOffAndOnLeadsToTheBuiltinCounts(t *testing.T) {
	for _, mode := range []func(*batchv1.Job){sized(2, 2), indexed(2, 2)} {
		o := observeJob(mode, replacing(batchv1.Failed)).with("a", index(0), deletedPod(time.Minute)).with("b", index(1), deletedPod(time.Minute))
		o.settle(t)
		o.wantStatusText(t, `active 0 terminating 2 succeeded 0 failed 0 completedIndexes ""`)
		o.config.Features.PodReplacementPolicy = false
		o.settle(t)
		o.wantStatusText(t, `active 2 terminating nil succeeded 0 failed 2 completedIndexes ""`)
		o.Pods = o.Pods[2:] // a and b lost their finalizer, and are gone
		o.config.Features.PodReplacementPolicy = true
		o.settle(t)
		o.wantStatusText(t, `active 2 terminating 0 succeeded 0 failed 2 completedIndexes ""`)
		for _, p := range o.Pods {
			deletedPod(0)(o.pod(t, p.Name))
		}
		o.settle(t)
		o.wantStatusText(t, `active 0 terminating 2 succeeded 0 failed 2 completedIndexes ""`)
	}
	// A pod that was recorded as failed while the gate was off stays failed.
	o := observeJob(replacing(batchv1.Failed)).with("a", deletedPod(time.Minute))
	o.Job.Status.UncountedTerminatedPods.Failed = append(o.Job.Status.UncountedTerminatedPods.Failed, "a")
	o.settle(t)
	o.wantStatusText(t, `active 0 terminating 1 succeeded 0 failed 1 completedIndexes ""`)
}

// D-11: the reasons for which pods are created.
// Requirements: PRP-17
func TestCreationsHaveTheirReason(t *testing.T) {
	for _, test := range []struct {
		policy batchv1.PodReplacementPolicy
		on     bool
		pod    func(*Pod)
		failed int32
		want   CreateReason
	}{
		{batchv1.TerminatingOrFailed, true, nil, 0, CreateNew},
		{batchv1.TerminatingOrFailed, true, nil, 1, RecreateTerminatingOrFailed},
		{batchv1.TerminatingOrFailed, true, failedPod(1, time.Hour), 0, RecreateTerminatingOrFailed},
		{batchv1.TerminatingOrFailed, true, func(p *Pod) { deletedPod(time.Hour)(p); untracked(p) }, 0, RecreateTerminatingOrFailed},
		{batchv1.Failed, true, nil, 0, CreateNew},
		{batchv1.Failed, true, func(p *Pod) { deletedPod(time.Hour)(p); untracked(p) }, 0, CreateNew},
		{batchv1.Failed, true, failedPod(1, time.Hour), 0, RecreateFailed},
		{batchv1.Failed, true, nil, 1, RecreateFailed},
		{batchv1.Failed, false, nil, 1, CreateNew},
		{batchv1.TerminatingOrFailed, false, failedPod(1, time.Hour), 1, CreateNew},
	} {
		o := observeJob(sized(3, 3), replacing(test.policy))
		o.config.Features.PodReplacementPolicy = test.on
		o.Job.Status.Failed = test.failed
		if test.pod != nil {
			o.with("p", test.pod)
		}
		if plan := o.compute(); len(plan.Create) == 0 || plan.CreateReason != test.want {
			t.Errorf("%+v: %s for %q", test, planText(plan), plan.CreateReason)
		}
	}
}

// PRP-16: of the pods that have not ended when the Job fails, pods whose failure a rule ignores do not count; they are
// deleted and released like the others.
func TestIgnoredFailuresDoNotCountWhenTheJobFails(t *testing.T) {
	disrupted := func(p *Pod) {
		p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	exited := func(code int32) func(*Pod) {
		return func(p *Pod) { p.Terminated = []failurepolicy.Container{{Name: "helper", ExitCode: code}} }
	}
	o := observeJob(sized(6, 6), backoffLimit(0), failurePolicy(onCondition("Ignore", corev1.DisruptionTarget), onExit("Ignore", 7), onExit("FailJob", 8))).
		with("f", failedPod(1, time.Minute)).with("r").with("d", disrupted).with("e", exited(7)).with("j", exited(8)).
		with("t", deletedPod(time.Minute), disrupted)
	plan := o.want(t, `status active 0 terminating 5 succeeded 0 failed 0 completedIndexes "" uncounted [] [f j r] FailureTarget=True/BackoffLimitExceeded`)
	for _, f := range plan.Findings.NotCounted {
		if f.Why != IgnoredByRule || !strings.Contains("d e t", f.Pod.Name) {
			t.Errorf("%s is not counted: %s", f.Pod.Name, f.Why)
		}
	}
	o.carryOut(t, plan).wantStages(t, "delete d e j r; release f t", "release d e j r",
		`status active 0 terminating 5 succeeded 0 failed 3 completedIndexes "" FailureTarget=True/BackoffLimitExceeded`)
	o.Pods = nil
	o.settle(t)
	if !IsFinished(o.Job) || o.Job.Status.Failed != 3 {
		t.Error(statusText(&o.Job.Status))
	}
}
