package reconcile

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// REG-20: if only the number of terminating pods changes, there is one write.
func TestTerminatingAloneIsWritten(t *testing.T) {
	for name, option := range map[string]func(*batchv1.Job){
		"scaled down": sized(3, 0), "suspended": func(j *batchv1.Job) { suspend(j); noStart(j); suspended(corev1.ConditionTrue)(j) },
		"fails": interim(failureTarget), "succeeds": interim(criteriaMet), "policy Failed": func(j *batchv1.Job) { sized(3, 1)(j); replacing(batchv1.Failed)(j) },
	} {
		for n := range 3 {
			o := observeJob(option, stored(func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](2) }))
			for i := range n {
				o.with(fmt.Sprintf("t%d", i), deletedPod(time.Minute), untracked)
			}
			if n == 0 {
				o.with("t", deletedPod(time.Minute), untracked)
				o.Job.Status.Terminating = ptr.To[int32](0)
			}
			plan := o.compute()
			if s := plan.Status; n == 2 && s != nil || n < 2 && (s == nil || *s.Terminating != 1 || plan.Urgent) || plan.changesPods() {
				t.Errorf("%s, %d terminate: %s", name, n, planText(plan))
			}
			o.carryOut(t, plan).want(t, "")
		}
	}
}

// REG-21: pods that are deleted because the Job fails, is suspended or scaled down count as terminating, and no longer
// as active, in the status that reports it.
func TestOwnDeletionsInTheSameWrite(t *testing.T) {
	running := func(options ...func(*batchv1.Job)) *observed {
		return observeJob(append([]func(*batchv1.Job){sized(3, 3), stored(func(s *batchv1.JobStatus) { s.Active, s.Ready = 3, ptr.To[int32](3) })}, options...)...).
			with("a", ready).with("b", ready).with("c", ready)
	}
	for name, test := range map[string]struct {
		o                   *observed
		active, terminating int32
	}{
		"fails":                     {running(deadline(1)), 0, 3},
		"fails, policy Failed":      {running(deadline(1), replacing(batchv1.Failed)), 0, 3},
		"suspended":                 {running(suspend), 0, 3},
		"suspended, policy Failed":  {running(suspend, replacing(batchv1.Failed)), 0, 3},
		"scaled down":               {running(sized(3, 1)), 1, 2},
		"scaled down to 0":          {running(sized(3, 0)), 0, 3},
		"indexes taken away":        {running(indexed(1, 1)).indexed(), 1, 2},
		"untracked":                 {running(sized(3, 0)).with("d", untracked), 0, 4},
		"beside one that went away": {running(suspend).with("d", deletedPod(time.Minute), untracked), 0, 4},
	} {
		before := test.o.Job.Status
		for stage := 0; ; stage++ {
			if stage == 5 {
				t.Fatalf("%s: no status", name)
			}
			plan := test.o.compute()
			test.o.carryOut(t, plan)
			if plan.Status == nil || plan.Merge {
				continue
			}
			if s := plan.Status; s.Active != test.active || *s.Terminating != test.terminating || *s.Ready != test.active {
				t.Errorf("%s: from %s\nto %s, ready %d", name, statusText(&before), statusText(s), *s.Ready)
			}
			break
		}
	}
}

// indexed gives the pods the indexes 0, 1, 2…
func (o *observed) indexed() *observed {
	for i, p := range o.Pods {
		p.Index = int32(i)
	}
	return o
}

// REG-22: the terminal condition waits for pods in their grace period; the interim condition does not.
func TestInterimConditionFirst(t *testing.T) {
	for name, option := range map[string]func(*batchv1.Job){
		"Failed": deadline(1), "Complete": func(j *batchv1.Job) { counters(1, 0)(j); sized(1, 1)(j) },
	} {
		o := observeJob(sized(3, 3), option).with("a").with("b", deletedPod(time.Second), untracked)
		if name == "Complete" {
			o.Pods = o.Pods[1:]
		}
		o.settle(t)
		if o.Job.Status.Conditions == nil || IsFinished(o.Job) || *o.Job.Status.Terminating == 0 {
			t.Errorf("%s: %s", name, statusText(&o.Job.Status))
		}
		for range 59 {
			o.Now = o.Now.Add(time.Second)
			o.want(t, "")
		}
		for i := range o.Pods {
			ended(o.pod(t, o.Pods[i].Name), corev1.PodFailed)
		}
		o.settle(t)
		if !IsFinished(o.Job) || *o.Job.Status.Terminating != 0 {
			t.Errorf("%s: %s", name, statusText(&o.Job.Status))
		}
	}
}

// REG-29: while creation waits for a back-off, active is the number of running pods: a status with more ready than
// active pods would be rejected, and so would every later status.
func TestBackoffBesideReadyPods(t *testing.T) {
	for name, option := range map[string]func(*batchv1.Job){
		"NonIndexed": sized(3, 3), "Indexed": indexed(3, 3),
		"per index": func(j *batchv1.Job) { indexed(3, 3)(j); perIndex(3)(j) },
		"ignored":   func(j *batchv1.Job) { sized(3, 3)(j); failurePolicy(onExit("Ignore", 1))(j) },
	} {
		o := observeJob(option, stored(func(s *batchv1.JobStatus) { s.Active, s.Ready = 3, ptr.To[int32](3) })).
			with("a", index(0), ready).with("b", index(1), ready).with("f", index(2), failedPod(1, time.Second))
		o.settle(t)
		plan := o.compute()
		if s := o.Job.Status; s.Active != 2 || *s.Ready != 2 || plan.RequeueAfter != 9*time.Second || len(plan.Create) != 0 {
			t.Errorf("%s: %s, ready %d, again after %v", name, statusText(&s), *s.Ready, plan.RequeueAfter)
		}
		// A sibling that becomes unready, or a new sibling, is still reported.
		o.pod(t, "b").Ready = false
		o.settle(t)
		if s := o.Job.Status; s.Active != 2 || *s.Ready != 1 {
			t.Errorf("%s: %s, ready %d", name, statusText(&s), *s.Ready)
		}
	}
}
