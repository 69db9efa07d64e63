package reconcile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// simulated applies plans to an observation: it stores the status and changes the pods.
// Pods that are being deleted and have no finalizer are gone.
type simulated struct {
	*observed
	t       *testing.T
	created int
}

// step applies one plan, and returns its text.
func (p *simulated) step() string {
	plan := p.compute()
	if plan.Status != nil && !plan.Merge {
		p.Job.Status, p.Backoff = *plan.Status.DeepCopy(), plan.Backoff
	}
	in := func(refs []PodRef, uid types.UID) bool {
		return slices.ContainsFunc(refs, func(r PodRef) bool { return r.UID == uid })
	}
	for _, pod := range p.Pods {
		pod.Finalizer = pod.Finalizer && !in(plan.Release, pod.UID)
		if in(plan.Delete, pod.UID) {
			pod.Deleting, pod.FinishedAt = true, p.Now
		}
	}
	p.Pods = slices.DeleteFunc(p.Pods, func(pod *Pod) bool { return pod.Deleting && !pod.Finalizer })
	for _, n := range plan.Create {
		p.created++
		p.with(fmt.Sprintf("%d#%d", n.Index, p.created), index(n.Index), counts(n.Failures, n.Ignored))
	}
	return planText(plan)
}

// settle applies plans until there is nothing to write, and returns the status.
func (p *simulated) settle() string {
	p.t.Helper()
	for range 20 {
		if text := p.step(); text == "" || strings.HasPrefix(text, "after") {
			return statusText(&p.Job.Status)
		}
	}
	p.t.Fatalf("no end: %s", p.step())
	return ""
}

// pod returns the pod with a name.
func (p *simulated) pod(name string) *Pod {
	p.t.Helper()
	for _, pod := range p.Pods {
		if pod.Name == name {
			return pod
		}
	}
	p.t.Fatalf("no pod %s", name)
	return nil
}

// end makes the active pod of an index end now.
func (p *simulated) end(i int32, how func(*Pod)) {
	p.t.Helper()
	at := slices.IndexFunc(p.Pods, func(pod *Pod) bool { return pod.Index == i && pod.IsActive() })
	if at < 0 {
		p.t.Fatalf("index %d has no active pod", i)
	}
	how(p.Pods[at])
	p.Pods[at].FinishedAt = p.Now
}

func (p *simulated) fail(i, exit int32) {
	p.t.Helper()
	p.end(i, failedPod(exit, 0))
}

// wantShuffled is like want, for the pods in many orders.
func (o *observed) wantShuffled(t *testing.T, text string) Plan {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		random.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
		if plan := o.want(t, text); t.Failed() {
			return plan
		}
	}
	return o.compute()
}

// wantStatus checks the status of a plan.
func (o *observed) wantStatus(t *testing.T, text string) Plan {
	t.Helper()
	plan := o.compute()
	if plan.Status == nil {
		t.Errorf("no status; want %s", text)
	} else if got := statusText(plan.Status); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	return plan
}

// message returns the message of a condition in the plan's status.
func message(plan Plan, condition batchv1.JobConditionType) string {
	if plan.Status != nil && !plan.Merge {
		for _, c := range plan.Status.Conditions {
			if c.Type == condition {
				return c.Message
			}
		}
	}
	return "no condition"
}

// Only counted failures before the pod count toward the limit.
// Requirements: BLI-02
func TestIndexFails(t *testing.T) {
	for _, c := range []struct {
		limit, failures, ignored int32
		fails                    bool
	}{
		{0, 0, 0, true}, {0, 0, 3, true}, {1, 0, 0, false}, {1, 0, 7, false}, {1, 1, 0, true}, {2, 1, 4, false}, {2, 2, 0, true}, {2, 9, 0, true},
	} {
		o := observeJob(indexed(2, 2), perIndex(c.limit)).
			with("p0", index(0), failedPod(1, time.Hour), counts(c.failures, c.ignored)).
			with("p1", index(1))
		if !c.fails {
			plan := o.want(t, fmt.Sprintf("create 0(%d,%d)", c.failures+1, c.ignored))
			assert.Equal(t, len(plan.Findings.IndexFailures), 0, "index failed")
			continue
		}
		plan := o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`)
		f := plan.Findings.IndexFailures
		if len(f) != 1 || f[0].Pod != o.Pods[0] || f[0].Match != nil {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// The evidence is the same, in the same order, whatever the order of the pods (doc.go).
// Requirements: BLI-02
func TestEvidenceInOneOrder(t *testing.T) {
	o := observeJob(indexed(3, 3), perIndex(0)).
		with("p0", index(0), failedPod(1, 0)).with("p1", index(1), failedPod(1, 0)).with("p2", index(2))
	want := o.findings()
	o.Pods[0], o.Pods[1] = o.Pods[1], o.Pods[0]
	assert.Equal(t, o.findings(), want, "findings")
}

// The highest count that the annotation can hold is valid: it fails the index.
// Requirements: BLI-02
func TestHighestCountDoesNotOverflow(t *testing.T) {
	plan := observeJob(indexed(2, 2), perIndex(math.MaxInt32)).
		with("p0", index(0), failedPod(1, time.Hour), counts(math.MaxInt32, 0)).
		with("p1", index(1)).
		want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`)
	assert.Equal(t, len(plan.Findings.IndexFailures), 1, "index failed")
}

// A counted failure increases the first annotation of the next pod, an ignored failure the second.
// Requirements: BLI-04
func TestNextPodCarriesTheCounts(t *testing.T) {
	ignoreTwo := failurePolicy(onExit("Ignore", 2))
	observeJob(indexed(2, 2), perIndex(5), ignoreTwo).
		with("p0", index(0), failedPod(1, time.Hour), counts(1, 1)).
		with("p1", index(1), failedPod(2, time.Hour), counts(1, 0)).
		want(t, "create 0(2,1); create 1(1,1)")
	observeJob(indexed(1, 1), perIndex(math.MaxInt32), ignoreTwo).
		with("p0", index(0), failedPod(2, time.Hour), counts(7, math.MaxInt32)).
		want(t, "create 0(7,2147483647)")
}

// Requirements: BLI-04
func TestIgnoredFailuresCountApart(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(1, 1), perIndex(5), failurePolicy(onExit("Ignore", 2)))}
	assert.Equal(t, p.step(), "create 0(0,0)", "first")
	for i, exit := range []int32{1, 2, 1} {
		p.settle()
		p.fail(0, exit)
		p.Now = p.Now.Add(time.Hour)
		assert.Equal(t, p.step(), []string{"create 0(1,0)", "create 0(1,1)", "create 0(2,1)"}[i], "next")
	}
	assert.Equal(t, p.settle(), `active 1 terminating 0 succeeded 0 failed 2 completedIndexes "" failedIndexes ""`, "end")
}

// Of several failed pods of an index, the pod with the most failures, including ignored ones, passes on its counts; of
// equal pods, the latest. The other pods are recorded at once.
// Requirements: BLI-06
func TestPodWithTheMostFailuresHandsThemOn(t *testing.T) {
	plan := observeJob(indexed(1, 1), perIndex(5)).
		with("a", index(0), failedPod(1, 3*time.Hour), counts(2, 0)).
		with("b", index(0), failedPod(1, 2*time.Hour), counts(1, 1)).
		with("c", index(0), failedPod(1, time.Hour), counts(1, 0)).
		with("off", index(0), failedPod(1, time.Hour), counts(4, 0), untracked).
		with("out", index(1), failedPod(1, time.Hour), counts(4, 0)).
		wantShuffled(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [a c]; create 0(2,1); release out`)
	f := plan.Findings.AwaitReplacement
	if len(f) != 1 || f[0].Pod.Name != "b" || f[0].Failures != 3 {
		t.Errorf("%+v", f)
	}
	// With the same finish time, the order is still fixed.
	observeJob(indexed(1, 1), perIndex(5)).
		with("a", index(0), failedPod(1, time.Hour), counts(1, 1)).
		with("b", index(0), failedPod(1, time.Hour), counts(2, 0)).
		with("c", index(0), failedPod(1, time.Hour), counts(0, 2)).
		wantShuffled(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [a b]; create 0(1,2)`)
}

// Requirements: BLI-06
func TestPodThatNeedsNoSuccessorIsRecorded(t *testing.T) {
	plan := observeJob(indexed(5, 1), perIndex(5), endedIndexes("0", 1, "1")).
		with("completed", index(0), failedPod(1, time.Hour)).
		with("lost", index(1), failedPod(1, time.Hour)).
		with("again", index(2), failedPod(1, time.Hour)).
		with("runs", index(2), counts(1, 0)).
		with("succeeds", index(3), succeededPod(time.Hour)).
		with("failed", index(3), failedPod(1, time.Hour)).
		wantShuffled(t, `status active 1 terminating 0 succeeded 2 failed 0 completedIndexes "0,3" failedIndexes "1" uncounted [] [completed lost again failed]`)
	assert.Equal(t, len(plan.Findings.AwaitReplacement), 0, "delayed")
}

// A failed pod that awaits its replacement is in no list and no counter. It is counted once, after the replacement
// exists.
// Requirements: BLI-08
func TestDelayedPodIsCountedAfterItsReplacement(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(1, 1), perIndex(1), stored(func(s *batchv1.JobStatus) { s.Active = 1 })).
		with("p0", index(0), failedPod(1, 0))}
	for _, want := range []string{
		`status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""; after 10s`,
		`after 10s`,
	} {
		assert.Equal(t, p.step(), want, "in back-off")
	}
	p.Now = p.Now.Add(10 * time.Second)
	for _, want := range []string{
		`create 0(1,0)`,
		`status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [p0]`,
		`release p0`,
		`status active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes ""`,
		``,
	} {
		assert.Equal(t, p.step(), want, "stage")
	}
}

// The pod is released without a replacement once its index or its Job has ended.
// Requirements: BLI-08
func TestDelayEndsWithTheIndexOrTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		option func(*batchv1.Job)
		want   string
	}{
		"index completed": {endedIndexes("0", 1, ""), `active 1 terminating 0 succeeded 1 failed 1 completedIndexes "0" failedIndexes ""`},
		"index failed":    {endedIndexes("", 0, "0"), `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`},
		"Job fails": {condition("FailureTarget", "True", "X", ""),
			`active 0 terminating 0 succeeded 0 failed 2 completedIndexes "" failedIndexes "" FailureTarget=True/X Failed=True/X`},
		"Job succeeds": {condition("SuccessCriteriaMet", "True", "X", ""),
			`active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "" SuccessCriteriaMet=True/X Complete=True/X`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &simulated{t: t, observed: observeJob(indexed(2, 1), perIndex(1), c.option).
				with("p0", index(0), failedPod(1, 0)).with("p1", index(1))}
			assert.Equal(t, p.settle(), c.want, "status")
		})
	}
	o := observeJob(indexed(1, 1), perIndex(1)).with("p0", index(0), failedPod(1, 0))
	o.Job.DeletionTimestamp = ptr.To(o.Job.CreationTimestamp)
	o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [p0]`)
}

// An ignored predecessor also stays until the Job's end is stored: activeDeadlineSeconds may be raised while the write
// is in flight, and then the index continues, with its counts.
// Requirements: BLI-07
func TestIgnoredPredecessorUntilStored(t *testing.T) {
	o := observeJob(indexed(1, 1), perIndex(3), failurePolicy(onExit("Ignore", 2)), deadline(3600)).
		with("p0", index(0), failedPod(2, 0), counts(2, 1))
	o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" FailureTarget=True/DeadlineExceeded`)
	deadline(7200)(o.Job) // the write met a conflict
	o.Now = o.Now.Add(2 * time.Minute)
	assert.Equal(t, planText(Plan{Create: o.compute().Create}), "create 0(2,2)", "next pod")
}

// Requirements: BLI-09
func TestDelayedCountsForBackoffLimit(t *testing.T) {
	o := observeJob(indexed(3, 2), perIndex(5), backoffLimit(1)).
		with("p0", index(0), failedPod(1, 0)).
		with("p1", index(1), failedPod(1, 0))
	plan := o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [p0 p1] FailureTarget=True/BackoffLimitExceeded`)
	assert.Equal(t, message(plan, "FailureTarget"), messageBackoffLimit+"; container main of pod p1 failed with exit code 1", "message")
	assert.Equal(t, *plan.Findings.BackoffLimit, BackoffLimit{Failures: 2, Limit: 1}, "limit")
	backoffLimit(2)(o.Job)
	plan = o.want(t, "after 10s")
	assert.Equal(t, *plan.Findings.BackoffLimit, BackoffLimit{Failures: 2, Limit: 2}, "limit")
}

// Requirements: BLI-10
func TestFailedIndexesAreWrittenAsIntervals(t *testing.T) {
	for want, failed := range map[string][]int32{"": nil, "0": {0}, "0,1": {1, 0}, "1,3-5,7": {7, 4, 3, 5, 1}} {
		o := observeJob(indexed(9, 9), perIndex(0)).with("runs", index(8))
		o.Job.Status.FailedIndexes = nil
		for _, i := range failed {
			o.with(fmt.Sprintf("p%d", i), index(i), failedPod(1, time.Hour))
		}
		for _, i := range []int32{0, 1, 2, 3, 4, 5, 6, 7} {
			if !slices.Contains(failed, i) {
				o.with(fmt.Sprintf("p%d", i), index(i))
			}
		}
		plan := o.compute()
		if plan.Status == nil || plan.Status.FailedIndexes == nil || *plan.Status.FailedIndexes != want {
			t.Errorf("%v: %s", failed, planText(plan))
		}
	}
	// Without backoffLimitPerIndex there is no list, not even an empty one.
	observeJob(indexed(2, 2), stored(func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("1") })).
		with("p0", index(0)).with("p1", index(1)).
		want(t, `status active 2 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
}

// Only the status remembers failed indexes. Indexes removed by a scale-down are forgotten; their failures stay counted.
// Requirements: BLI-11
func TestFailedIndexesPersist(t *testing.T) {
	lost := stored(func(s *batchv1.JobStatus) { s.FailedIndexes, s.Failed, s.Active = ptr.To("0,3"), 2, 1 })
	observeJob(indexed(5, 2), perIndex(0), lost).
		with("p1", index(1)).
		want(t, "create 2(0,0)")
	observeJob(indexed(2, 2), perIndex(0), lost).
		with("p1", index(1)).
		want(t, `status active 1 terminating 0 succeeded 0 failed 2 completedIndexes "" failedIndexes "0"`)
}

// An index never both fails and succeeds: a stored result stays, and a success takes precedence over a simultaneous
// failure.
// Requirements: BLI-12
func TestNoIndexFailsAndSucceeds(t *testing.T) {
	for name, c := range map[string]struct {
		o    *observed
		want string
	}{
		"both in one sync": {
			observeJob(indexed(2, 2), perIndex(0)).
				with("bad", index(0), failedPod(1, time.Hour)).with("good", index(0), succeededPod(time.Hour)).with("p1", index(1)),
			`status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0" failedIndexes "" uncounted [] [bad]`,
		},
		"completed before": {
			observeJob(indexed(2, 2), perIndex(0), endedIndexes("0", 1, "")).
				with("bad", index(0), failedPod(1, time.Hour)).with("p1", index(1)),
			`status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0" failedIndexes "" uncounted [] [bad]`,
		},
		"failed before": {
			observeJob(indexed(2, 2), perIndex(0), endedIndexes("", 0, "0"), stored(func(s *batchv1.JobStatus) { s.Active = 1 })).
				with("good", index(0), succeededPod(time.Hour)).with("p1", index(1)),
			`release good`,
		},
		"stored in both": {
			observeJob(indexed(3, 3), perIndex(0), endedIndexes("0", 1, "0,1")).with("p2", index(2)),
			`status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0" failedIndexes "1"`,
		},
		"the success does not fit": {
			limited(observeJob(indexed(2, 2), perIndex(0)), 1).
				with("bad", index(0), failedPod(1, time.Hour)).with("good", index(0), succeededPod(time.Hour)).with("p1", index(1)),
			`status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "" uncounted [] [bad]`,
		},
		"by FailIndex": {
			observeJob(indexed(2, 2), perIndex(5), failurePolicy(onExit("FailIndex", 42))).
				with("bad", index(0), failedPod(42, time.Hour)).with("good", index(0), succeededPod(time.Hour)).with("p1", index(1)),
			`status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0" failedIndexes "" uncounted [] [bad]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := c.o.wantShuffled(t, c.want)
			assert.Equal(t, len(plan.Findings.IndexFailures), 0, "failed")
		})
	}
}

// limited limits one status to n recorded pods.
func limited(o *observed, n int) *observed {
	o.config.MaxUncounted = n
	return o
}

// The Job continues after both at once, and completes.
// Requirements: BLI-12
func TestDisjointJobProceeds(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(0)).
		with("bad", index(0), failedPod(1, time.Hour)).with("good", index(0), succeededPod(time.Hour)).with("p1", index(1))}
	p.settle()
	p.end(1, succeededPod(0))
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 1 completedIndexes "0,1" failedIndexes "" `+
		`SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`, "status")
}

// A failed index gets no pod, and other indexes run in its place; a pod that it still has is removed.
// Requirements: BLI-13
func TestFailedIndexMakesRoom(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(3, 1), perIndex(0)).with("p0", index(0), failedPod(1, 0))}
	assert.Equal(t, p.step(), `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]; create 1(0,0)`, "first")
	p.settle()
	p.end(1, succeededPod(0))
	assert.Equal(t, p.step(), `status active 0 terminating 0 succeeded 1 failed 1 completedIndexes "1" failedIndexes "0"; create 2(0,0)`, "second")
	observeJob(indexed(3, 2), perIndex(0), endedIndexes("", 0, "0")).
		with("p0", index(0)).with("p1", index(1)).
		want(t, "release p0")
	// No pod is wanted in its place.
	observeJob(indexed(3, 3), perIndex(0), endedIndexes("", 0, "0")).want(t, "create 1(0,0); create 2(0,0)")
	// While its former pod terminates, that pod takes its place.
	observeJob(indexed(3, 3), perIndex(0), endedIndexes("", 0, "0"), failurePolicy()).
		with("p0", index(0), deletedPod(0)).with("p1", index(1)).
		want(t, "create 2(0,0)")
}

// Evidence about misfits also has a fixed order (doc.go).
// Requirements: BLI-13
func TestMisfitsInOneOrder(t *testing.T) {
	o := observeJob(indexed(3, 3), perIndex(0), endedIndexes("", 0, "0,1")).
		with("p0", index(0)).with("p1", index(1)).with("p2", index(2))
	want := o.findings()
	o.Pods[0], o.Pods[1] = o.Pods[1], o.Pods[0]
	assert.Equal(t, o.findings(), want, "findings")
}

// Requirements: BLI-14
func TestFailIndexFailsTheIndexAtOnce(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(5), failurePolicy(onExit("FailIndex", 42))).
		with("p0", index(0), failedPod(42, 0)).with("p1", index(1))}
	f := p.compute().Findings.IndexFailures
	if len(f) != 1 || f[0].Match == nil || f[0].Match.Rule != 0 || f[0].Match.ExitCode != 42 {
		t.Errorf("%+v", f)
	}
	assert.Equal(t, p.settle(), `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`, "status")
}

// Requirements: BLI-15
func TestWhichFailuresCount(t *testing.T) {
	policy := failurePolicy(onExit("Ignore", 2), onExit("Count", 3), onExit("FailIndex", 42), onCondition("Ignore", corev1.DisruptionTarget))
	for exit, c := range map[int32]struct{ want, status string }{
		1:  {`status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`, `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`},
		2:  {`create 0(0,1)`, `active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""`},
		3:  {`status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`, `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`},
		42: {`status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`, `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`},
	} {
		p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(0), policy).
			with("p0", index(0), failedPod(exit, time.Hour)).with("p1", index(1))}
		assert.Equal(t, p.step(), c.want, "exit", exit)
		assert.Equal(t, p.settle(), c.status, "exit", exit)
	}
	// An ignored failure does not fail the index, whatever the counts before it.
	plan := observeJob(indexed(1, 1), perIndex(1), policy).
		with("p0", index(0), failedPod(2, time.Hour), counts(1, 4)).
		want(t, `create 0(1,5)`)
	if f := plan.Findings.AwaitReplacement; len(f) != 1 || f[0].Failures != 6 || f[0].Match == nil || f[0].Match.Rule != 0 {
		t.Errorf("%+v", f)
	}
}

// BLI-16: FailJob does not fail the index; the failure counts for it like any other, so a failure beyond the limit also
// fails the index, as with the built-in controller.
func TestFailJobFailsNoIndexWithRetriesLeft(t *testing.T) {
	for limit, failed := range map[int32]string{1: "", 0: "0"} {
		p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(limit), failurePolicy(onExit("FailJob", 3))).
			with("p0", index(0), failedPod(3, time.Hour)).with("p1", index(1))}
		assert.Equal(t, p.step(), fmt.Sprintf(`status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" failedIndexes %q uncounted [] [p0 p1] FailureTarget=True/PodFailurePolicy_0`, failed), "interim")
		assert.Equal(t, p.settle(), fmt.Sprintf(`active 0 terminating 0 succeeded 0 failed 2 completedIndexes "" failedIndexes %q FailureTarget=True/PodFailurePolicy_0 Failed=True/PodFailurePolicy_0`, failed), "end")
	}
}

// Requirements: BLI-17
func TestFailedIndexesFailTheJob(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(0)).
		with("p0", index(0), failedPod(1, 0)).with("p1", index(1), succeededPod(0))}
	assert.Equal(t, message(p.compute(), "FailureTarget"), "Job has failed indexes", "message")
	assert.Equal(t, p.step(), `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "1" failedIndexes "0" uncounted [] [p0] FailureTarget=True/FailedIndexes`, "interim")
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 1 completedIndexes "1" failedIndexes "0" FailureTarget=True/FailedIndexes Failed=True/FailedIndexes`, "end")
	// Every index failed.
	observeJob(indexed(2, 2), perIndex(0), endedIndexes("", 0, "0,1")).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0,1" FailureTarget=True/FailedIndexes`)
	// Failures, but no failed index: complete.
	p = &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(1), endedIndexes("0", 1, ""), stored(func(s *batchv1.JobStatus) { s.Failed = 1 })).
		with("p1", index(1), succeededPod(0), counts(1, 0))}
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 1 completedIndexes "0,1" failedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`, "end")
}

// Requirements: BLI-18
func TestMoreThanMaxFailedIndexesFailTheJob(t *testing.T) {
	for _, c := range []struct {
		stored string
		max    int32
		count  int32
		past   bool
	}{
		{"", 0, 1, true}, {"", 1, 1, false}, {"0", 1, 2, true}, {"0", 2, 2, false}, {"0,1", 2, 3, true}, {"0,1", 3, 3, false},
	} {
		plan := observeJob(indexed(9, 1), perIndex(0), maxFailedIndexes(c.max), endedIndexes("", 0, c.stored)).
			with("p2", index(2), failedPod(1, 0)).compute()
		assert.Equal(t, *plan.Findings.MaxFailedIndexes, MaxFailedIndexes{Failed: c.count, Limit: c.max}, c)
		want := "no condition"
		if c.past {
			want = "Job has exceeded the specified maximal number of failed indexes"
		}
		assert.Equal(t, message(plan, "FailureTarget"), want, c)
		assert.Equal(t, len(plan.Create) == 0, c.past, "created")
	}
	// Before FailedIndexes, though all have ended.
	observeJob(indexed(1, 1), perIndex(0), maxFailedIndexes(0)).
		with("p0", index(0), failedPod(1, 0)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0] FailureTarget=True/MaxFailedIndexesExceeded`)
}

// Pods that still run are deleted and counted, and fail no index, however they end.
// Requirements: BLI-19
func TestMaxFailedIndexesEndsOthers(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(4, 3), perIndex(0), maxFailedIndexes(1)).
		with("p0", index(0), failedPod(1, 0)).with("p1", index(1), failedPod(1, 0)).with("p2", index(2), ready)}
	assert.Equal(t, p.step(), `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" failedIndexes "0,1" uncounted [] [p0 p1 p2] FailureTarget=True/MaxFailedIndexesExceeded`, "interim")
	assert.Equal(t, p.step(), `delete p2; release p0 p1`, "delete")
	p.pod("p2").Phase = corev1.PodFailed
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 0 failed 3 completedIndexes "" failedIndexes "0,1" FailureTarget=True/MaxFailedIndexesExceeded Failed=True/MaxFailedIndexesExceeded`, "end")
	// The same if the pod did not fit into the interim status.
	p = &simulated{t: t, observed: limited(observeJob(indexed(4, 3), perIndex(0), maxFailedIndexes(0)), 1).
		with("p0", index(0), failedPod(1, 0)).with("p2", index(2))}
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 0 failed 2 completedIndexes "" failedIndexes "0" FailureTarget=True/MaxFailedIndexesExceeded Failed=True/MaxFailedIndexesExceeded`, "end")
}

// Requirements: BLI-20
func TestLoweredMaxFailedIndexesFailsTheJob(t *testing.T) {
	o := observeJob(indexed(9, 1), perIndex(0), endedIndexes("", 0, "0-2"), maxFailedIndexes(3), stored(func(s *batchv1.JobStatus) { s.Active, s.Failed = 1, 3 })).
		with("p3", index(3))
	o.want(t, "")
	maxFailedIndexes(2)(o.Job)
	o.want(t, `status active 0 terminating 1 succeeded 0 failed 3 completedIndexes "" failedIndexes "0-2" uncounted [] [p3] FailureTarget=True/MaxFailedIndexesExceeded`)
}

// Both limits: each of three indexes may fail once, and does; together the failures exceed the limit.
// Requirements: BLI-21
func TestBackoffLimitHoldsBesideTheLimitPerIndex(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(3, 3), perIndex(1), backoffLimit(2))}
	for i := range int32(3) {
		p.settle()
		p.fail(i, 1)
		p.settle()
		p.Now = p.Now.Add(10 * time.Second)
	}
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 0 failed 5 completedIndexes "" failedIndexes "" FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded`, "end")
	// It takes precedence over the failed indexes.
	observeJob(indexed(1, 1), perIndex(0), backoffLimit(0), maxFailedIndexes(0)).
		with("p0", index(0), failedPod(1, 0)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0] FailureTarget=True/BackoffLimitExceeded`)
}

// Counted and ignored failures delay alike, starting at the end of the last pod.
// Requirements: BLI-22
func TestDelayOfAnIndexDoubles(t *testing.T) {
	policy := failurePolicy(onExit("Ignore", 2))
	for n, seconds := range []time.Duration{10, 20, 40, 80, 160, 320, 600, 600} {
		delay, exit := seconds*time.Second, int32(1+n%2)
		ignored := int32(n / 2)
		o := observeJob(indexed(1, 1), perIndex(100), policy).
			with("p0", index(0), failedPod(exit, 3*time.Second), counts(int32(n)-ignored, ignored))
		plan := o.want(t, fmt.Sprintf("after %v", delay-3*time.Second))
		f := plan.Findings.AwaitReplacement
		if len(f) != 1 || f[0].Failures != int32(n+1) || f[0].Pod.Name != "p0" || !plan.Findings.RetryHeld || !f[0].Until.Equal(now.Add(delay-3*time.Second)) {
			t.Fatalf("n=%d: %+v", n+1, f)
		}
		o.Now = f[0].Until.Add(-1)
		o.want(t, "after 100ms")
		o.Now = f[0].Until
		assert.Equal(t, len(o.compute().Create), 1, "created")
	}
}

// Nothing can start: compute again when the first index may start, and report the running pods.
// Requirements: BLI-23
func TestWaitForFirstIndex(t *testing.T) {
	o := observeJob(indexed(3, 3), perIndex(5)).
		with("p0", index(0), failedPod(1, 2*time.Second)).
		with("p1", index(1), ready).
		with("p2", index(2), failedPod(1, 7*time.Second))
	plan := o.wantShuffled(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""; after 3s`)
	if plan.Status == nil || *plan.Status.Ready != 1 {
		t.Errorf("ready: %+v", plan.Status)
	}
	var until []time.Duration
	for _, f := range plan.Findings.AwaitReplacement {
		until = append(until, f.Until.Sub(now))
	}
	assert.Equal(t, fmt.Sprint(until), "[8s 3s]", "until")
	o.Now = now.Add(2900 * time.Millisecond)
	o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""; after 100ms`)
	o.Now = now.Add(3 * time.Second)
	o.want(t, `create 2(1,0); after 5s`)
}

// Requirements: BLI-24
func TestIndexesInALongBackOffTakeNoPlaceFromOthers(t *testing.T) {
	fourth := counts(3, 0) // It is retried after 80 s.
	for _, c := range []struct {
		completions int32
		want        string
	}{{6, "create 2(0,0); create 3(0,0)"}, {3, "create 2(0,0); after 1m20s"}, {2, "after 1m20s"}} {
		observeJob(indexed(c.completions, 2), perIndex(5)).
			with("p0", index(0), failedPod(1, 0), fourth).
			with("p1", index(1), failedPod(1, 0), fourth).
			wantShuffled(t, c.want)
	}
	// The lowest indexes that may start come first, including retried ones.
	observeJob(indexed(6, 3), perIndex(5)).
		with("p0", index(0), failedPod(1, 0), fourth).
		with("p1", index(1)).
		with("p3", index(3), failedPod(1, time.Hour)).
		wantShuffled(t, "create 2(0,0); create 3(1,0)")
}

// While others have the place of an index, its last failure is in no status.
// Requirements: BLI-24
func TestIndexesKeepTheirPlaceAfterTheirFirstThreeFailures(t *testing.T) {
	for name, c := range map[string]struct {
		failures int32
		ago      time.Duration
		want     string
	}{
		"first failure":                 {1, 0, "create 2(0,0); after 10s"},
		"second failure":                {2, 0, "create 2(0,0); after 20s"},
		"third failure":                 {3, 0, "create 2(0,0); after 40s"},
		"fourth failure":                {4, 0, "create 2(0,0); create 3(0,0)"},
		"fourth failure, half the wait": {4, 40 * time.Second, "create 2(0,0); create 3(0,0)"},
		"fourth failure, all the wait":  {4, 80 * time.Second, "create 0(4,0); create 2(0,0)"},
	} {
		t.Run(name, func(t *testing.T) {
			observeJob(indexed(6, 3), perIndex(5)).
				with("p0", index(0), failedPod(1, c.ago), counts(c.failures-1, 0)).
				with("p1", index(1)).
				wantShuffled(t, c.want)
		})
	}
	// A higher index in back-off does not delay lower ones.
	observeJob(indexed(6, 3), perIndex(5)).
		with("p3", index(3), failedPod(1, 0)).
		wantShuffled(t, "create 0(0,0); create 1(0,0); create 2(0,0)")
}

// Indexes that keep their places do not use up what one plan may create.
// Requirements: BLI-24
func TestKeptPlacesDoNotDelayManyOtherIndexes(t *testing.T) {
	o := observeJob(indexed(9, 6), perIndex(5)).
		with("p0", index(0), failedPod(1, 0)).
		with("p1", index(1), failedPod(1, 0)).
		with("p2", index(2), failedPod(1, 0))
	o.config.MaxPodChanges = 2
	o.wantShuffled(t, "create 3(0,0); create 4(0,0)")
	o.with("p3", index(3)).with("p4", index(4)).with("p5", index(5)).wantShuffled(t, `status active 3 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes ""; after 10s`)
	// Nor do the places that failed pods have just left.
	o = observeJob(sized(9, 6)).saw(0, "a", "b", "c")
	o.config.MaxPodChanges = 2
	o.want(t, "create; create; after 1s")
}

// Requirements: BLI-25
func TestOtherIndexesDoNotChangeADelay(t *testing.T) {
	for name, other := range map[string]func(*Pod){
		"runs": ready, "failed later": failedPod(1, time.Second), "failed before": failedPod(1, 9*time.Second), "failed often": func(p *Pod) {
			failedPod(1, 0)(p)
			counts(4, 4)(p)
		}, "succeeded later": succeededPod(time.Second), "succeeded before": succeededPod(9 * time.Second), "deleted": deletedPod(time.Second),
	} {
		plan := observeJob(indexed(2, 2), perIndex(9)).
			with("a", index(0), failedPod(1, 5*time.Second), counts(1, 0)).
			with("b", index(1), other).compute()
		found := false
		for _, f := range plan.Findings.AwaitReplacement {
			if f.Pod.Name == "a" {
				found = true
				assert.Equal(t, f.Until, now.Add(15*time.Second), name)
			}
		}
		assert.Equal(t, found, true, name)
	}
}

// fail 0, fail 0, fail 1, succeed 0, fail 1, succeed 1: the gaps of index 1 follow from its own failures.
// Requirements: BLI-25
func TestDelaysOfTwoIndexesStayApart(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(9))}
	p.settle()
	gap := func(i, failures int32, want time.Duration) {
		t.Helper()
		p.fail(i, 1)
		p.settle()
		p.Now = p.Now.Add(want - time.Second)
		assert.Equal(t, strings.Contains(p.step(), "create"), false, "too early")
		p.Now = p.Now.Add(time.Second)
		assert.Equal(t, p.step(), fmt.Sprintf("create %d(%d,0)", i, failures), "in time")
		p.settle()
	}
	gap(0, 1, 10*time.Second)
	gap(0, 2, 20*time.Second)
	gap(1, 1, 10*time.Second)
	p.end(0, succeededPod(0))
	gap(1, 2, 20*time.Second)
	p.end(1, succeededPod(0))
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 4 completedIndexes "0,1" failedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`, "end")
}

// Requirements: BLI-28
func TestPodsThatFailNoIndex(t *testing.T) {
	recorded := func(s *batchv1.JobStatus) { s.UncountedTerminatedPods.Failed = []types.UID{"p0"} }
	for name, c := range map[string]struct {
		change func(*Pod)
		option func(*batchv1.Job)
		want   string
	}{
		"no finalizer": {untracked, stored(func(*batchv1.JobStatus) {}), "create 0(0,0)"},
		"recorded":     {index(0), stored(recorded), "create 0(0,0); release p0"},
		"out of range": {index(2), stored(func(*batchv1.JobStatus) {}), "create 0(0,0); release p0"},
		"no index":     {index(NoIndex), stored(func(*batchv1.JobStatus) {}), "create 0(0,0); release p0"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int32{0, 5} { // they neither fail an index nor delay it
				plan := observeJob(indexed(2, 2), perIndex(limit), c.option).
					with("p0", index(0), failedPod(1, 0), counts(3, 0), c.change).with("p1", index(1)).
					want(t, c.want)
				assert.Equal(t, len(plan.Findings.IndexFailures)+len(plan.Findings.AwaitReplacement), 0, "findings")
			}
		})
	}
}

// With the gate off, failed indexes are forgotten and run again, FailIndex rules do not match, maxFailedIndexes has no
// effect, and no finalizer is delayed.
// Requirements: BLI-34
func TestGateOffForgetsFailedIndexes(t *testing.T) {
	policy := failurePolicy(onExit("FailIndex", 42), onExit("Ignore", 42, 43))
	o := observeJob(indexed(4, 4), perIndex(0), maxFailedIndexes(0), policy, endedIndexes("", 0, "0")).
		with("p1", index(1), failedPod(1, time.Hour)).
		with("p2", index(2), failedPod(42, time.Hour)).
		with("p3", index(3))
	o.config.Features.BackoffLimitPerIndex = false
	o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p1]; create 0; create 1; create 2; release p2`)
	backoffLimit(0)(o.Job)
	o.want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p1 p3] FailureTarget=True/BackoffLimitExceeded; release p2`)
}

// Requirements: BLI-35
func TestGateOnAgainCountsNewFailuresOnly(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(3, 3), perIndex(0))}
	gate := func(on bool) { p.config.Features.BackoffLimitPerIndex = on; p.Now = p.Now.Add(time.Hour); p.settle() }
	p.settle()
	p.fail(0, 1)
	assert.Equal(t, p.settle(), `active 2 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`, "on")
	gate(false)
	p.fail(1, 1)
	p.settle()
	p.Now = p.Now.Add(time.Hour)
	assert.Equal(t, p.settle(), `active 3 terminating 0 succeeded 0 failed 2 completedIndexes ""`, "off")
	gate(true)
	p.fail(2, 1)
	assert.Equal(t, p.settle(), `active 2 terminating 0 succeeded 0 failed 3 completedIndexes "" failedIndexes "2"`, "on again")
	p.end(0, succeededPod(0))
	p.end(1, succeededPod(0))
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 3 completedIndexes "0,1" failedIndexes "2" FailureTarget=True/FailedIndexes Failed=True/FailedIndexes`, "end")
}

// restartPolicy OnFailure: one event states that only failed pods count, and they do.
// Requirements: BLI-40
func TestRestartsDoNotCountPerIndex(t *testing.T) {
	onFailure := func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	o := observeJob(indexed(2, 2), perIndex(1), onFailure).
		with("p0", index(0), failedPod(1, time.Hour), counts(1, 0)).
		with("p1", index(1), func(p *Pod) { p.Restarts = 9 })
	plan := o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p0]`)
	assert.Equal(t, plan.Findings.RestartsNotPerIndex, true, "OnFailure")
	o.Job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	assert.Equal(t, o.compute().Findings.RestartsNotPerIndex, false, "Never")
}

// BLI-17, TRK-06: FailedIndexes is stored together with its evidence, the completed indexes, so not before all of them
// fit into one status.
func TestFailedIndexesWithEvidence(t *testing.T) {
	o := observeJob(indexed(5, 5), perIndex(0))
	o.config.MaxUncounted = 3
	o.with("f", index(0), failedPod(1, time.Minute))
	for i := range int32(4) {
		o.with(fmt.Sprint("s", i+1), index(i+1), succeededPod(time.Minute))
	}
	plan := o.want(t, `status active 0 terminating 0 succeeded 2 failed 0 completedIndexes "1,2" failedIndexes "0" uncounted [] [f]`)
	o.carryOut(t, plan)
	for range 10 {
		plan := o.compute()
		if plan.Status != nil && len(plan.Status.Conditions) > 0 && plan.Status.CompletedIndexes != "1-4" {
			t.Fatalf("without its evidence: %s", planText(plan))
		}
		o.carryOut(t, plan)
	}
	if !IsFinished(o.Job) || o.Job.Status.CompletedIndexes != "1-4" {
		t.Error(statusText(&o.Job.Status))
	}
}
