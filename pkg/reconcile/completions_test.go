package reconcile

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// surplus returns the findings about too many successes in all plans until nothing is left to do.
func (o *observed) surplus(t *testing.T) (all []TooManySucceeded) {
	t.Helper()
	for range 20 {
		plan := o.compute()
		if plan.IsEmpty() {
			return all
		}
		f := plan.Findings.TooManySucceeded
		if f != nil {
			all = append(all, *f)
		}
		if f != nil && (plan.Status == nil || TrueCondition(&batchv1.Job{Status: *plan.Status}, batchv1.JobComplete) == nil) {
			t.Errorf("told before the Job is complete: %s", planText(plan))
		}
		o.carryOut(t, plan)
	}
	t.Fatal("does not settle")
	return nil
}

// JOB-14: a NonIndexed Job with more successes than completions is complete; the finding, which causes an event, comes
// only with that plan.
func TestTooManySuccessesCompleteTheJob(t *testing.T) {
	three := func(options ...func(*batchv1.Job)) *observed {
		return observeJob(append([]func(*batchv1.Job){sized(2, 2)}, options...)...).
			with("a", succeededPod(time.Minute)).with("b", succeededPod(time.Minute)).with("c", succeededPod(time.Minute))
	}
	o := three()
	f := o.surplus(t)
	if len(f) != 1 || f[0] != (TooManySucceeded{Succeeded: 3, Completions: 2}) {
		t.Errorf("%+v", f)
	}
	o.wantStatusText(t, `active 0 terminating 0 succeeded 3 failed 0 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
	// An explanation of the finished Job has the same finding.
	if again := o.compute().Findings.TooManySucceeded; again == nil || *again != f[0] {
		t.Errorf("%+v", again)
	}
	// A pod that succeeds after SuccessCriteriaMet counts, and is reported once.
	o = observeJob(sized(1, 1), replacing(batchv1.Failed), counters(1, 0), interim(criteriaMet)).with("late", succeededPod(0))
	if f := o.surplus(t); len(f) != 1 || f[0] != (TooManySucceeded{Succeeded: 2, Completions: 1}) {
		t.Errorf("%+v", f)
	}

	for name, o := range map[string]*observed{
		"as many as asked for": observeJob(sized(3, 3)).with("a", succeededPod(0)).with("b", succeededPod(0)).with("c", succeededPod(0)),
		"a work queue":         three(func(j *batchv1.Job) { j.Spec.Completions = nil }),
		"indexed":              observeJob(indexed(1, 1)).with("a", index(0), succeededPod(0)).with("b", index(0), succeededPod(0)),
		"fails":                three(counters(0, 7)),
	} {
		if f := o.surplus(t); len(f) != 0 || !IsFinished(o.Job) {
			t.Errorf("%s: %+v, %s", name, f, statusText(&o.Job.Status))
		}
	}
	// An Indexed Job whose count was kept when it was scaled down (STV-18) has no excess pod.
	if f := observeJob(indexed(3, 2), stored(func(s *batchv1.JobStatus) { s.Succeeded, s.CompletedIndexes = 4, "0-3" })).surplus(t); len(f) != 0 {
		t.Errorf("%+v", f)
	}
}

// JOB-63: parallelism beyond completions starts no more pods than completions; active pods beyond the remaining
// completions are removed, and do not count.
func TestParallelismBeyondCompletionsStartsNoMore(t *testing.T) {
	active := func(n int32) func(*batchv1.Job) { return stored(func(s *batchv1.JobStatus) { s.Active = n }) }
	pods := func(o *observed, n int) *observed {
		for i := range n {
			o.with(fmt.Sprintf("p%d", i), index(int32(i)), func(p *Pod) { p.CreatedAt = begun.Add(time.Duration(i) * time.Second) })
		}
		return o
	}
	for name, test := range map[string]struct {
		o    *observed
		want string
	}{
		"none yet":           {observeJob(sized(2, 5)), "create; create"},
		"none yet, indexed":  {observeJob(indexed(2, 5)), "create 0; create 1"},
		"some ended":         {observeJob(sized(5, 9), counters(3, 0)), "create; create"},
		"some ended, failed": {observeJob(sized(5, 9), counters(3, 1)), "create; create"},
		"some, indexed":      {observeJob(indexed(5, 9), endedIndexes("0,2,4", 3, ""), noFailedIndexes), "create 1; create 3"},
		"one is missing":     {pods(observeJob(sized(3, 5)), 2), "create"},
		"as many as remain":  {pods(observeJob(sized(5, 5), counters(2, 0), active(3)), 3), ""},
		"one too many":       {pods(observeJob(sized(3, 9)), 4), "release p3"},
		"two too many":       {pods(observeJob(sized(5, 9), counters(2, 0)), 5), "release p3 p4"},
		"all too many":       {pods(observeJob(sized(2, 9), counters(2, 0)), 2), "release p0 p1"},
		"beyond int32":       {observeJob(sized(2, 1<<31-1)), "create; create"},
	} {
		t.Run(name, func(t *testing.T) { test.o.want(t, test.want) })
	}
	// A success recorded now reduces the number of pods at once.
	o := pods(observeJob(sized(3, 9), active(3)), 3).with("s", succeededPod(time.Minute))
	plan := o.want(t, `status active 3 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s] []; release p2`)
	assert.Equal(t, names(plan.Findings.Excess), "p2", "excess")
	o.carryOut(t, plan).carryOut(t, o.want(t, "delete p2; release s"))
	for _, name := range []string{"p0", "p1"} {
		ended(o.pod(t, name), corev1.PodSucceeded)
	}
	ended(o.pod(t, "p2"), corev1.PodFailed)
	o.settle(t)
	o.wantStatusText(t, `active 0 terminating 0 succeeded 3 failed 0 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
}

// JOB-45, TRK-33: one plan creates, scales down and releases at most 500 pods; the next plan continues.
func TestAtMost500Changes(t *testing.T) {
	for name, mode := range map[string]func(*batchv1.Job){"NonIndexed": sized(1201, 1201), "Indexed": indexed(1201, 1201)} {
		o := observeJob(mode)
		for _, want := range []int{500, 500, 201, 0} {
			plan := o.compute()
			if len(plan.Create) != want {
				t.Fatalf("%s: %d pods are created, want %d", name, len(plan.Create), want)
			}
			o.carryOut(t, plan)
		}
		for i, p := range o.Pods {
			p.Name = fmt.Sprintf("p%d", i)
			p.UID = types.UID(p.Name)
		}
		suspend(o.Job)
		for _, want := range []int{500, 500, 201} {
			plan := o.compute()
			if len(plan.Release) > 500 || len(plan.Delete) > 500 || len(plan.Release)+len(plan.Delete) < want {
				t.Fatalf("%s: %d pods are let go and %d deleted", name, len(plan.Release), len(plan.Delete))
			}
			o.carryOut(t, plan)
		}
	}
}
