package reconcile

import (
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-34: a condition that is added or changed has the controller's time in both its times (the transition only when
// the status changes); an equal condition is not changed, and neither are other conditions.
func TestConditionsHaveTheControllersTime(t *testing.T) {
	before, later := metav1.NewTime(begun), metav1.NewTime(now)
	custom := batchv1.JobCondition{Type: "Custom", Status: corev1.ConditionTrue, Reason: "Theirs", LastProbeTime: before, LastTransitionTime: before}
	was := func(status corev1.ConditionStatus, reason, message string) batchv1.JobCondition {
		return batchv1.JobCondition{Type: batchv1.JobSuspended, Status: status, Reason: reason, Message: message, LastProbeTime: before, LastTransitionTime: before}
	}
	type set struct {
		status          corev1.ConditionStatus
		reason, message string
	}
	for name, test := range map[string]struct {
		stored []batchv1.JobCondition
		set    set
		// probe and transition are the condition's times afterward.
		probe, transition metav1.Time
	}{
		"added":           {nil, set{"True", "r", "m"}, later, later},
		"added as False":  {nil, set{"False", "r", "m"}, later, later},
		"added to others": {[]batchv1.JobCondition{custom}, set{"True", "r", "m"}, later, later},
		"the same":        {[]batchv1.JobCondition{was("True", "r", "m"), custom}, set{"True", "r", "m"}, before, before},
		"the same, False": {[]batchv1.JobCondition{custom, was("False", "r", "m")}, set{"False", "r", "m"}, before, before},
		"other status":    {[]batchv1.JobCondition{was("True", "r", "m"), custom}, set{"False", "r", "m"}, later, later},
		"True again":      {[]batchv1.JobCondition{custom, was("False", "r", "m")}, set{"True", "r", "m"}, later, later},
		"other reason":    {[]batchv1.JobCondition{custom, was("True", "r", "m")}, set{"True", "s", "m"}, later, before},
		"other message":   {[]batchv1.JobCondition{custom, was("True", "r", "m")}, set{"True", "r", "n"}, later, before},
	} {
		t.Run(name, func(t *testing.T) {
			o := observeJob(stored(func(s *batchv1.JobStatus) { s.Conditions = test.stored }))
			next := o.Job.Status.DeepCopy()
			setCondition(next, o.Now, batchv1.JobSuspended, test.set.status, test.set.reason, test.set.message)
			want := batchv1.JobCondition{
				Type: batchv1.JobSuspended, Status: test.set.status, Reason: test.set.reason, Message: test.set.message,
				LastProbeTime: test.probe, LastTransitionTime: test.transition,
			}
			found := 0
			for _, c := range next.Conditions {
				switch c.Type {
				case batchv1.JobSuspended:
					found++
					assert.Equal(t, c, want)
				default:
					assert.Equal(t, c, custom, "touched")
				}
			}
			if found != 1 || len(next.Conditions) < len(test.stored) {
				t.Errorf("%+v", next.Conditions)
			}
		})
	}
}

// JOB-34, JOB-33: conditions from Compute have the time of the decision, and a Job whose conditions are up to date gets
// no status, however much later it is computed.
func TestUnchangedConditionsAreNotWritten(t *testing.T) {
	for name, o := range map[string]*observed{
		"suspended": observeJob(suspend), "fails": observeJob(backoffLimit(-1)), "complete": observeJob(counters(1, 0)),
		"resumed": observeJob(sized(1, 0), noStart, suspended(corev1.ConditionTrue)),
	} {
		at := map[batchv1.JobConditionType]time.Time{}
		if o.Job.Status.Conditions != nil {
			at[batchv1.JobSuspended] = begun
		}
		for step := range 3 {
			o.Now = now.Add(time.Duration(step) * time.Minute)
			plan := o.compute()
			if plan.Status == nil {
				break
			}
			o.carryOut(t, plan)
			for _, c := range o.Job.Status.Conditions {
				if at[c.Type].IsZero() || c.Status == corev1.ConditionFalse {
					at[c.Type] = o.Now
				}
				if !c.LastProbeTime.Time.Equal(at[c.Type]) || !c.LastTransitionTime.Time.Equal(at[c.Type]) {
					t.Errorf("%s, step %d: %+v", name, step, c)
				}
			}
		}
		if len(o.Job.Status.Conditions) == 0 {
			t.Errorf("%s: no condition", name)
		}
		o.Now = now.Add(24 * time.Hour)
		o.want(t, "")
	}
}

// JOB-29: neither a finished Job nor a Job with a decided outcome is suspended or resumed; it ends normally.
func TestSuspendComesTooLate(t *testing.T) {
	type change = func(*batchv1.Job)
	for terminal, target := range map[batchv1.JobConditionType]batchv1.JobConditionType{batchv1.JobComplete: criteriaMet, batchv1.JobFailed: failureTarget} {
		for name, suspension := range map[string]change{
			"suspended": suspend,
			"suspended after a resume": func(j *batchv1.Job) {
				suspend(j)
				condition(batchv1.JobSuspended, corev1.ConditionFalse, reasonResumed, messageResumed)(j)
			},
		} {
			observeJob(interim(target), interim(terminal), suspension).want(t, "")
			o := observeJob(interim(target), suspension).with("r", ready).with("t", deletedPod(time.Minute), untracked)
			before := o.Job.Status.Conditions
			o.carryOut(t, o.compute()) // deletes what runs
			for _, step := range []func(){func() {}, func() { ended(o.pod(t, "r"), corev1.PodFailed) }} {
				step()
				o.settle(t)
				assert.DeepEqual(t, o.Job.Status.Conditions, before, terminal, name, statusText(&o.Job.Status))
			}
			o.Pods = nil
			o.settle(t)
			if got := o.Job.Status.Conditions; len(got) != len(before)+1 || got[len(before)].Type != terminal || !reflect.DeepEqual(got[:len(before)], before) {
				t.Errorf("%s, %s: %s", terminal, name, statusText(&o.Job.Status))
			}
			if start := o.Job.Status.StartTime; start == nil || !start.Time.Equal(begun) {
				t.Errorf("%s, %s: startTime %v", terminal, name, start)
			}
		}
	}
	// An outcome found in the same sync takes precedence over the suspension.
	plan := observeJob(suspend, backoffLimit(0)).with("f", failedPod(1, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [f] FailureTarget=True/BackoffLimitExceeded`)
	if plan.Status.StartTime == nil {
		t.Error("startTime is cleared")
	}
}

// JOB-31: a suspension that no sync observed has no effect.
func TestSuspendedAndResumedUnseen(t *testing.T) {
	for _, status := range []func(*batchv1.Job){
		func(*batchv1.Job) {}, condition(batchv1.JobSuspended, corev1.ConditionFalse, reasonResumed, messageResumed),
	} {
		o := observeJob(sized(2, 2), status, stored(func(s *batchv1.JobStatus) { s.Active = 2 })).with("a").with("b")
		o.Job.Generation += 2
		o.want(t, "")
	}
}
