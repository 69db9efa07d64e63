package reconcile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// uncounted sets the UIDs of stored status.uncountedTerminatedPods.
func uncounted(succeeded, failed []types.UID) func(*batchv1.Job) {
	return stored(func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	})
}

func counters(succeeded, failed int32) func(*batchv1.Job) {
	return stored(func(s *batchv1.JobStatus) { s.Succeeded, s.Failed = succeeded, failed })
}

func beingDeleted(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: now} }

func unselected(p *Pod) { p.Unselected = true }

// TRK-02: record, release, count: three stages, each of which can be lost and repeated.
func TestPodsAreRecordedThenReleasedThenCounted(t *testing.T) {
	job := func() *observed {
		return observeJob(sized(4, 2), stored(func(s *batchv1.JobStatus) { s.Active = 2 })).
			with("s", succeededPod(time.Minute)).with("f", failedPod(1, time.Hour)).with("a").with("b")
	}
	stages := []string{
		`status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s] [f]`,
		"release f s",
		`status active 2 terminating 0 succeeded 1 failed 1 completedIndexes ""`,
	}
	job().wantStages(t, stages...)
	// A restart forgets everything that is not stored.
	o := job()
	for _, want := range stages {
		o.Backoff.Failures, o.Skip = 0, nil
		o.carryOut(t, o.want(t, want))
	}
	// A finalizer that stays keeps only its own pod uncounted.
	o = job()
	o.carryOut(t, o.compute())
	o.carryOut(t, o.skip("s").want(t, "release f"))
	o.carryOut(t, o.want(t, `status active 2 terminating 0 succeeded 0 failed 1 completedIndexes "" uncounted [s] []`))
	o.Skip = nil
	o.wantStages(t, "release s", `status active 2 terminating 0 succeeded 1 failed 1 completedIndexes ""`)
	// Indexed: the index represents the pod, and every pod of the index.
	o = observeJob(indexed(2, 2)).with("s", index(0), succeededPod(time.Minute)).with("again", index(0), succeededPod(time.Hour)).with("b", index(1))
	plan := o.want(t, `status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0"`)
	assert.Equal(t, len(plan.Findings.RecordedFailed), 0, "failed")
	o.carryOut(t, plan).wantStages(t, "release again s")
}

// TRK-02, TRK-05: a recorded pod that the Job has lost for a while still has its finalizer: it is not counted before
// the finalizer is gone too.
func TestLostPodIsCountedOnceItsFinalizerIsGone(t *testing.T) {
	// A user removed the owner. The pod is adopted again, and counted once.
	o := observeJob(sized(3, 1), uncounted([]types.UID{"s"}, nil)).stray("s", succeededPod(time.Minute)).with("other", succeededPod(time.Minute))
	o.carryOut(t, o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s other] []; adopt s`))
	o.settle(t)
	assert.Equal(t, o.Job.Status.Succeeded, 2, "succeeded")
	// A user changed the labels, the finalizer could not be removed, and the labels were restored.
	o = observeJob(sized(3, 0), uncounted(nil, []types.UID{"f"})).with("f", failedPod(1, time.Hour), unselected)
	o.carryOut(t, o.skip("f").want(t, ""))
	o.Skip = nil
	o.pod(t, "f").Unselected = false
	o.settle(t)
	assert.Equal(t, o.Job.Status.Failed, 1, "failed")
	// Once it is released, it counts.
	observeJob(sized(3, 0), uncounted(nil, []types.UID{"f"})).with("f", failedPod(1, time.Hour), unselected).
		wantStages(t, "disown f", `status active 0 terminating 0 succeeded 0 failed 1 completedIndexes ""`)
}

// TRK-04: decisions count pods in the counters, recorded pods, and pods that have ended since.
func TestDecisionsCountWhatIsNotRecordedYet(t *testing.T) {
	for name, test := range map[string]struct {
		o                 *observed
		failed, succeeded int32
	}{
		"counters":  {observeJob(counters(1, 2)), 2, 1},
		"recorded":  {observeJob(counters(1, 2), uncounted([]types.UID{"a"}, []types.UID{"b", "c"})), 4, 2},
		"in both":   {observeJob(uncounted([]types.UID{"a"}, []types.UID{"a"})), 1, 0},
		"ended now": {observeJob(counters(1, 2)).with("s", succeededPod(0)).with("f", failedPod(1, 0)), 3, 2},
		"recorded, with finalizer": {observeJob(uncounted([]types.UID{"s"}, []types.UID{"f"})).
			with("s", succeededPod(0)).with("f", failedPod(1, 0)), 1, 1},
		"without finalizer": {observeJob().with("s", succeededPod(0), untracked).with("f", failedPod(1, 0), untracked), 0, 0},
		"terminating":       {observeJob().with("t", deletedPod(0)), 1, 0},
		"terminating, policy Failed": {observeJob(replacing(batchv1.Failed)).
			with("t", deletedPod(0)), 0, 0},
		"ignored": {observeJob(failurePolicy(onExit("Ignore", 1))).with("f", failedPod(1, 0)), 0, 0},
		"indexes": {observeJob(indexed(5, 5), counters(2, 1), stored(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0,1" })).
			with("again", index(1), succeededPod(0)).with("s", index(2), succeededPod(0)).with("t", index(2), succeededPod(0)).
			with("out", index(5), succeededPod(0)).with("none", succeededPod(0)).
			with("f", index(3), failedPod(1, 0)).with("fout", index(9), failedPod(1, 0)), 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Job.Spec.BackoffLimit = new(int32)
			plan := test.o.compute()
			assert.Equal(t, plan.Findings.BackoffLimit.Failures, test.failed, "failures")
			if _, reason, _ := fateOf(plan); (reason == "BackoffLimitExceeded") != (test.failed > 0) {
				t.Errorf("outcome %s", reason)
			}
			// Without a limit, the successes determine how many pods are wanted.
			test.o.Job.Spec.BackoffLimit, test.o.Job.Spec.PodReplacementPolicy = nil, nil
			test.o.Job.Spec.PodFailurePolicy = nil
			if test.o.Job.Spec.CompletionMode != nil && *test.o.Job.Spec.CompletionMode == batchv1.NonIndexedCompletion {
				sized(9, 9)(test.o.Job)
			}
			test.o.Now = now.Add(time.Hour)
			wantActive := min(*test.o.Job.Spec.Completions, *test.o.Job.Spec.Parallelism) - test.succeeded
			assert.Equal(t, int32(len(test.o.compute().Create)), wantActive, "created")
		})
	}
}

// TRK-05: the built-in controller's "past and new finished pods".
func TestPastAndNewFinishedPodsAreCounted(t *testing.T) {
	o := observeJob(sized(9, 1), counters(2, 3), uncounted([]types.UID{"a", "e"}, []types.UID{"b", "f"}), stored(func(s *batchv1.JobStatus) { s.Active = 1 })).
		with("e", succeededPod(time.Minute), untracked).with("x", failedPod(1, time.Minute), untracked).with("y", inPhase(corev1.PodPending)).
		with("a", succeededPod(time.Minute)).with("b", failedPod(1, time.Minute)).
		with("c", succeededPod(time.Minute)).with("d", failedPod(1, time.Minute))
	plan := o.want(t, `status active 1 terminating 0 succeeded 3 failed 4 completedIndexes "" uncounted [a c] [b d]; release a b`)
	o.carryOut(t, plan).wantStages(t, "release c d", `status active 1 terminating 0 succeeded 5 failed 6 completedIndexes ""`)
}

// TRK-06: one status records at most 500 pods; the rest, and the end of the Job, wait.
func TestStatusRecordsAtMost500Pods(t *testing.T) {
	for _, mode := range []func(*batchv1.Job){sized(501, 501), indexed(501, 501)} {
		o := observeJob(mode)
		for i := range 501 {
			how := succeededPod(time.Duration(501-i) * time.Second)
			o.with(fmt.Sprintf("p%03d", i), index(int32(i)), how)
		}
		plan := o.compute()
		isIndexed := *o.Job.Spec.CompletionMode == batchv1.IndexedCompletion
		recorded := len(plan.Status.UncountedTerminatedPods.Succeeded)
		if isIndexed {
			recorded = int(plan.Status.Succeeded)
			assert.Equal(t, plan.Status.CompletedIndexes, "0-499", "completedIndexes")
		}
		assert.Equal(t, recorded, 500, "recorded")
		assert.Equal(t, plan.Findings.Unrecorded, 1, "not recorded")
		o.carryOut(t, plan)
		for stage := 0; !IsFinished(o.Job); stage++ {
			if plan = o.compute(); plan.IsEmpty() || stage > 9 {
				t.Fatalf("stage %d: %s", stage, statusText(&o.Job.Status))
			}
			o.carryOut(t, plan)
		}
		if s := o.Job.Status; s.Succeeded != 501 || s.Failed != 0 {
			t.Errorf("%s", statusText(&s))
		}
	}
	// Failures come first: they may be the reason that the Job ends. Recorded pods take room too.
	o := observeJob(sized(9, 9), uncounted([]types.UID{"old"}, nil))
	o.config.MaxUncounted = 3
	o.with("old", succeededPod(time.Hour)).with("s", succeededPod(time.Hour)).with("f1", failedPod(1, time.Minute)).with("f2", failedPod(1, time.Minute))
	o.HoldCreation = true
	plan := o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [old] [f1 f2]; release old`)
	assert.Equal(t, plan.Findings.Unrecorded, 1, "not recorded")
	o.carryOut(t, plan).want(t, `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "" uncounted [s] [f1 f2]; release f1 f2`)
	// Among failures, pods that have ended come first; and the condition is not delayed.
	o = observeJob(sized(3, 3), failurePolicy(onExit("FailJob", 42)))
	o.config.MaxUncounted = 1
	o.with("a").with("b", deletedPod(time.Hour)).with("p", failedPod(42, time.Minute)).
		want(t, `status active 0 terminating 2 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/PodFailurePolicy_0`)
}

// TRK-06: failures that do not fit into the status with which the Job succeeds are recorded by the next status (SUC-14:
// pods already considered failed count).
func TestFailuresBeyondTheLimitAreRecordedNext(t *testing.T) {
	o := observeJob(func(j *batchv1.Job) { sized(0, 4)(j); j.Spec.Completions = nil }).with("s", succeededPod(time.Minute))
	for _, name := range []string{"a", "b", "c"} { // a user deleted the other workers
		o.with(name, deletedPod(time.Minute))
	}
	o.config.MaxUncounted = 2
	o.carryOut(t, o.want(t, `status active 0 terminating 3 succeeded 0 failed 0 completedIndexes "" uncounted [] [a b]`))
	o.settle(t)
	o.Pods = slices.DeleteFunc(o.Pods, func(p *Pod) bool { return p.IsTerminating() && !p.Finalizer })
	o.settle(t)
	o.wantStatusText(t, `active 0 terminating 0 succeeded 1 failed 3 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
}

// TRK-07: successes of an Indexed Job take one status write, successes of a NonIndexed Job two.
func TestIndexedSuccessTakesOneWrite(t *testing.T) {
	active := stored(func(s *batchv1.JobStatus) { s.Active = 1 })
	observeJob(indexed(2, 2), active).with("s", index(0), succeededPod(time.Minute)).with("r", index(1)).
		wantStages(t, `status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0"`, "release s")
	observeJob(sized(2, 2), active).with("s", succeededPod(time.Minute)).with("r").
		wantStages(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s] []`, "release s",
			`status active 1 terminating 0 succeeded 1 failed 0 completedIndexes ""`)
}

// TRK-12 (D-21): finished pods without the finalizer need no further work, and may be replaced.
func TestFinishedPodWithoutFinalizerIsReplaced(t *testing.T) {
	for _, how := range []func(*Pod){failedPod(1, time.Hour), succeededPod(time.Hour), func(p *Pod) { deletedPod(time.Hour)(p); p.Phase = corev1.PodFailed }} {
		observeJob(sized(2, 2)).with("p", untracked, how).want(t, "create; create")
		observeJob(indexed(2, 2)).with("p", untracked, index(0), how).want(t, "create 0; create 1")
		observeJob(backoffLimit(0)).with("p", untracked, how).want(t, "create")
	}
	// Policies are not evaluated on it.
	plan := observeJob(failurePolicy(onExit("FailJob", 1))).with("p", untracked, failedPod(1, time.Hour)).want(t, "create")
	assert.Equal(t, len(plan.Findings.Verdicts), 0, "verdicts")
}

// TRK-16: a pod recorded as failed stays failed.
func TestRecordedStaysFailed(t *testing.T) {
	observeJob(uncounted(nil, []types.UID{"p"})).with("p", succeededPod(time.Minute)).with("r").
		wantStages(t, "release p", `status active 1 terminating 0 succeeded 0 failed 1 completedIndexes ""`)
	o := observeJob(indexed(1, 1), uncounted(nil, []types.UID{"p"})).with("p", index(0), succeededPod(time.Minute))
	o.want(t, "create 0; release p")
	// In both lists: the failure was first.
	observeJob(uncounted([]types.UID{"p"}, []types.UID{"p"})).with("p", succeededPod(time.Minute)).with("r").
		wantStages(t, "release p", `status active 1 terminating 0 succeeded 0 failed 1 completedIndexes ""`)
}

// SUC-14: a pod that we delete because the Job succeeded is not a failure, even if it was never ready: its finish time
// is then the time it stopped being ready, long before (BLI-26).
func TestUnreadyPodDoesNotFail(t *testing.T) {
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		observeJob(indexed(2, 2), replacing(policy), endedIndexes("0", 1, ""), noFailedIndexes,
			condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "SuccessPolicy", "message"),
			stored(func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](1) })).
			with("p", index(1), inPhase(corev1.PodPending), func(p *Pod) { p.Deleting, p.FinishedAt = true, begun.Add(-time.Minute) }).
			want(t, "release p")
	}
}

// TRK-24: "deleted job" and "deleting job" of the built-in controller: nothing is created or deleted, ended pods count,
// and running pods are released and do not count.
func TestDeletedJobReleasesRunningPods(t *testing.T) {
	active := func(n int32) func(*batchv1.Job) { return stored(func(s *batchv1.JobStatus) { s.Active = n }) }
	o := observeJob(sized(5, 3), beingDeleted, active(1)).
		with("a", succeededPod(time.Minute)).with("b", failedPod(1, time.Minute)).with("r")
	plan := o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [a] [b]; release r`)
	assert.Equal(t, plan.Release[0].ResourceVersion, "1", "a running pod may end at this moment")
	o.carryOut(t, plan).wantStages(t, "release a b", `status active 1 terminating 0 succeeded 1 failed 1 completedIndexes ""`)

	observeJob(sized(5, 2), beingDeleted, active(2)).with("p", inPhase(corev1.PodPending)).with("r").with("s", succeededPod(time.Minute)).
		wantStages(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s] []; release p r`, "release s",
			`status active 2 terminating 0 succeeded 1 failed 0 completedIndexes ""`)

	// Whatever the policies and the suspension of the Job. A terminating pod has failed, unless the Job waits for its
	// end (PRP-05, PRP-06).
	for name, test := range map[string]struct {
		option   func(*batchv1.Job)
		recorded []types.UID
	}{
		"suspend":    {suspend, []types.UID{"f", "t"}},
		"Failed":     {replacing(batchv1.Failed), []types.UID{"f"}},
		"perIndex":   {func(j *batchv1.Job) { indexed(9, 9)(j); perIndex(5)(j) }, []types.UID{"f", "t"}},
		"Count":      {failurePolicy(onExit("Count", 1)), []types.UID{"f"}},
		"finalizers": {func(*batchv1.Job) {}, []types.UID{"f", "t"}},
	} {
		o := deletedJob(test.option)
		plan := o.compute()
		if plan.Status == nil || len(plan.Create)+len(plan.Delete) > 0 || len(plan.Status.Conditions) != len(o.Job.Status.Conditions) ||
			!slices.Equal(plan.Status.UncountedTerminatedPods.Failed, test.recorded) {
			t.Errorf("%s: %s", name, planText(plan))
		}
		o.settle(t)
		if int(o.Job.Status.Failed) != len(test.recorded) || o.holders() > 0 {
			t.Errorf("%s: failed %d, %d pods with finalizer", name, o.Job.Status.Failed, o.holders())
		}
	}
}

// deletedJob has a failed pod, a running pod, a terminating pod, and two pods out of range.
func deletedJob(option func(*batchv1.Job)) *observed {
	return observeJob(sized(5, 5), beingDeleted, option).
		with("f", index(0), failedPod(1, time.Minute)).with("r", index(1)).with("t", index(2), deletedPod(time.Minute)).
		with("x", index(30), untracked).with("y", index(30))
}

func (o *observed) holders() (n int) {
	for _, p := range o.Pods {
		if p.Finalizer {
			n++
		}
	}
	return n
}

// TRK-24, JOB-01: a reason that ends a Job also ends a Job that is being deleted, which another finalizer may keep
// until then. All its pods end with it.
func TestDeletedJobEnds(t *testing.T) {
	for name, test := range map[string]struct {
		option func(*batchv1.Job)
		reason string
		failed int32
	}{
		"limit":    {backoffLimit(0), "BackoffLimitExceeded", 4},
		"deadline": {deadline(1), "DeadlineExceeded", 4},
		"FailJob":  {failurePolicy(onExit("FailJob", 1)), "PodFailurePolicy_0", 4},
		"target":   {condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "Reason", "message"), "Reason", 4},
		"criteria": {condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "Reason", "message"), "Reason", 1},
	} {
		o := deletedJob(test.option)
		o.settle(t)
		for _, p := range o.Pods {
			if !p.Deleting && !p.IsTerminal() {
				t.Errorf("%s: %s runs on", name, p.Name)
			}
		}
		o.Pods = nil
		o.settle(t)
		c := o.Job.Status.Conditions
		if !IsFinished(o.Job) || c[len(c)-1].Reason != test.reason || o.Job.Status.Failed != test.failed {
			t.Errorf("%s: %s", name, statusText(&o.Job.Status))
		}
	}
	// Its pods were released, and one of them was counted: that is sufficient.
	o := observeJob(sized(1, 1), beingDeleted, stored(func(s *batchv1.JobStatus) { s.Active = 1 })).with("p")
	o.wantStages(t, "release p")
	o.Pods = nil
	o.settle(t)
	if IsFinished(o.Job) {
		t.Error("complete without a success")
	}
	o = observeJob(sized(1, 1), beingDeleted).with("p", succeededPod(time.Minute))
	o.settle(t)
	if TrueCondition(o.Job, batchv1.JobComplete) == nil || o.Job.Status.Succeeded != 1 {
		t.Errorf("%s", statusText(&o.Job.Status))
	}
}

// TRK-25: strays are adopted before pods are created; pods that the selector no longer matches are released in one
// write, and replaced.
func TestStraysAreAdoptedBeforePodsAreCreated(t *testing.T) {
	o := observeJob(sized(3, 3)).stray("s", untracked).stray("e", succeededPod(time.Minute)).with("r")
	plan := o.want(t, "adopt e s")
	o.carryOut(t, plan).wantStages(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [e] []`, "release e",
		`status active 2 terminating 0 succeeded 1 failed 0 completedIndexes ""`)
	// A pod that has ended without the finalizer was counted, or did not have to be.
	observeJob().stray("e", succeededPod(time.Minute), untracked).want(t, "create")
	// A pod that cannot be adopted in this sync may be adopted later: it needs room.
	observeJob(sized(2, 2)).stray("s").skip("s").want(t, "")

	o = observeJob(sized(2, 2)).with("u", unselected).with("r")
	o.want(t, "disown u")
	// Its successor is created when the pod is gone: if the write fails, the pod may stay.
	o.skip("u").want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
	observeJob(replacing(batchv1.Failed)).with("u", unselected, deletedPod(time.Minute)).want(t, "disown u")
	observeJob(backoffLimit(0)).with("u", unselected, failedPod(1, time.Hour)).want(t, "disown u")

	// Nothing of this happens while the Job is being deleted, has finished, or has an unknown mode.
	for name, option := range map[string]func(*batchv1.Job){
		"deleted":  beingDeleted,
		"finished": condition(batchv1.JobFailed, corev1.ConditionTrue, "Reason", "message"),
		"mode":     func(j *batchv1.Job) { *j.Spec.CompletionMode = "Weird" },
	} {
		plan := observeJob(option).stray("s").with("u", unselected).compute()
		if len(plan.Adopt)+len(plan.Disown) > 0 {
			t.Errorf("%s: %s", name, planText(plan))
		}
	}
	observeJob(beingDeleted, stored(func(s *batchv1.JobStatus) { s.Active = 1 })).with("u", unselected).want(t, "release u")
	// A Job is not complete while pods are being adopted, and its terminal condition is not written.
	observeJob(counters(1, 0)).stray("s").want(t, "adopt s")
	plan = observeJob(condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "Reason", "message")).stray("s").want(t, "adopt s")
	if plan.Findings.WaitFinish == nil {
		t.Error("no finding")
	}
}

// TRK-12: a Job that fails counts running pods. If a client removes the finalizer and the owner of such a pod, it may
// have been counted; a pod that no controller created never was.
func TestFailingJobAdoptsNoPodThatItMayHaveCounted(t *testing.T) {
	made := func(p *Pod) { p.Made = true }
	failing := condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "Reason", "message")
	observeJob(failing).stray("s", untracked).want(t, "adopt s")
	observeJob(failing).stray("s", made).want(t, "adopt s")
	observeJob(failing).stray("s", untracked, made).want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" FailureTarget=True/Reason Failed=True/Reason`)
	observeJob().stray("s", untracked, made).want(t, "adopt s")
	observeJob(counters(1, 0), condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "Reason", "message")).stray("s", untracked, made).want(t, "adopt s")
}

// D-23: a Job is not suspended while pods are about to be adopted.
// Requirements: TRK-25
func TestSuspendWaitsForStrays(t *testing.T) {
	o := observeJob(suspend).stray("s")
	plan := o.want(t, "adopt s")
	o.carryOut(t, plan).wantStages(t, "release s", "delete s",
		`status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" Suspended=True/JobSuspended`)
}

// TRK-29: pods without a valid index lose their finalizer, and never count; the numbers are from the built-in
// controller's "indexed job with indexes outside of range".
func TestPodsOutOfRangeNeverCount(t *testing.T) {
	o := observeJob(indexed(5, 2)).
		with("p0", index(0), succeededPod(time.Minute)).with("p5", index(5)).with("p6", index(6), succeededPod(time.Minute)).
		with("p7", index(7), inPhase(corev1.PodPending)).with("p8", index(8), failedPod(1, time.Hour))
	plan := o.want(t, `status active 2 terminating 0 succeeded 1 failed 0 completedIndexes "0"; release p5 p6 p7 p8`)
	if f := plan.Findings.NotCounted; len(f) != 2 || f[0].Pod.Name != "p8" || f[1].Pod.Name != "p6" || f[0].Why != OutOfRange {
		t.Errorf("%+v", f)
	}
	assert.Equal(t, len(plan.Findings.Misfits), 2, "misfits")
	for _, r := range plan.Release {
		assert.Equal(t, r.ResourceVersion != "", r.Name == "p5" || r.Name == "p7", r)
	}
	plan = o.carryOut(t, plan).want(t, `delete p5 p7; release p0`)
	o.carryOut(t, plan)
	assert.Equal(t, statusText(&o.Job.Status), `active 2 terminating 0 succeeded 1 failed 0 completedIndexes "0"`)
	// Missing indexes, and terminating pods.
	observeJob(indexed(2, 2), backoffLimit(0)).with("f", failedPod(1, time.Hour)).with("s", succeededPod(time.Hour)).with("t", index(2), deletedPod(time.Hour)).
		want(t, "create 0; create 1; release f s t")
	// In a NonIndexed Job, an index has no meaning.
	observeJob().with("f", index(7), failedPod(1, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [f]; create`)
}

// TRK-29: pods that never count do not delay others either, before or after their finalizer is gone.
func TestOutOfRangeDelaysNothing(t *testing.T) {
	o := observeJob(indexed(2, 1)).with("p8", index(8), failedPod(1, time.Second))
	o.want(t, "create 0; release p8")
	observeJob(indexed(2, 1)).with("p8", index(8), failedPod(1, time.Second), untracked).want(t, "create 0")
}

// TRK-05: a recorded pod that a user took from the Job is counted once it has lost the finalizer: with other labels,
// the Job may adopt it again.
func TestLostPodStaysRecorded(t *testing.T) {
	o := observeJob(stored(func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"lost"}}
	}))
	o.Held = map[types.UID]bool{"lost": true}
	if plan := o.compute(); plan.Status != nil && plan.Status.Succeeded > 0 {
		t.Errorf("counted with its finalizer: %+v", plan.Status)
	}
	o.Held = nil
	if plan := o.compute(); plan.Status == nil || plan.Status.Succeeded != 1 {
		t.Errorf("not counted: %+v", plan.Status)
	}
}

// MGB-10, D-23: a pod about to be disowned or adopted still, or already, belongs to the Job if the write fails in this
// sync: the Job is then neither ended nor suspended.
// Requirements: TRK-25
func TestNothingEndsWhilePodsMove(t *testing.T) {
	failing := condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "Reason", "message")
	observeJob(failing).with("u", unselected).skip("u").want(t, "")
	observeJob(suspend).with("u", unselected).skip("u").want(t, "")
	observeJob(counters(1, 0)).stray("s").skip("s").want(t, "")
}
