package suite

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CNF-03
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run                func(*T)
		want               Outcome
		observed, problems int
		why                string
	}{
		"facts":          {func(t *T) { Equal(t, "failed", 1, 1) }, Pass, 1, 0, ""},
		"a wrong value":  {func(t *T) { Equal(t, "failed", 1, 2); Equal(t, "reason", "A", "A") }, Fail, 1, 1, ""},
		"a fatal one":    {func(t *T) { t.must("a", errors.New("b")); t.Observe("a fact") }, Fail, 0, 1, ""},
		"not applicable": {func(t *T) { t.Observe("a fact"); t.Skip("too old") }, NotApplicable, 1, 0, "too old"},
	} {
		s := &Suite{Config: Config{Timeout: time.Minute}}
		r := s.run(t.Context(), Case{Name: "a", Run: c.run})
		if r.Outcome != c.want || len(r.Observed) != c.observed || len(r.Problems) != c.problems || r.Why != c.why {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Requirements: CNF-04
func TestInterruptedSuiteStartsNoMoreCases(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &Suite{Config: Config{Timeout: time.Minute, Parallel: 1}}
	results := s.runAll(ctx, []Case{{Run: func(*T) { cancel() }}, {Run: func(*T) {}}}, func(Result) {})
	assert.Equal(t, len(results), 1)
}

// A wait that times out fails the case and shows the Job's state.
// Requirements: CNF-03
func TestWaitInVainShowsTheJob(t *testing.T) {
	t.Parallel()
	s := &Suite{Config: Config{Timeout: time.Minute}, recorder: NewRecorder()}
	s.player = newPlayer(nil, s.recorder)
	s.recorder.Record(history.Version{Revision: 1, Job: &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}, Status: batchv1.JobStatus{Active: 2},
	}})
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	c := &T{ctx: ctx, Suite: s, name: "a"}
	c.jobs = []*Job{{t: c, name: "a", uid: "1"}}
	c.run(func(*T) { c.jobs[0].UntilComplete() })
	if len(c.problems) != 1 || c.problems[0].Expected != "the Job is Complete" ||
		c.problems[0].Seen != "not within 1m0s: a has active 2, ready 0, terminating absent, succeeded 0, failed 0, pods map[]" {
		t.Errorf("%+v", c.problems)
	}
}

// Requirements: CNF-02
func TestRecorderKeepsAllVersions(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	job := func(version string, active int32) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: version}, Status: batchv1.JobStatus{Active: active}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "2"}}
	r.Record(history.Version{Revision: 3, Job: job("3", 0)})
	r.Record(history.Version{Revision: 5, Job: job("5", 1)})
	r.Record(history.Version{Revision: 4, Pod: pod})
	r.Record(history.Version{Revision: 6, Pod: pod, Gone: true})
	if versions, gone := r.Job("1"); gone || len(versions) != 2 || versions[1].Status.Active != 1 {
		t.Errorf("%v, gone %t", versions, gone)
	}
	if pods := r.Pods(); len(pods) != 1 || isThere(pods[0]) {
		t.Errorf("%+v", pods)
	}
	var order []uint64
	for _, v := range r.Versions() {
		order = append(order, v.Revision)
	}
	assert.SlicesEqual(t, order, []uint64{3, 4, 5, 6})
	assert.NoError(t, r.WaitFor(t.Context(), job("5", 1)))
	r.BreakOff(errors.New("too old"))
	if err := r.Wait(t.Context(), func() bool { return true }); err == nil {
		t.Error("an incomplete record is no error")
	}
}

// All controllers are judged alike, and only Jobs under test count.
// Requirements: CNF-02
func TestEvidenceIsAboutTheJobsUnderTest(t *testing.T) {
	t.Parallel()
	s := &Suite{Config: Config{ManagedBy: "example.com/x"}, recorder: NewRecorder()}
	for uid, by := range map[string]*string{"1": ptr.To("example.com/x"), "2": ptr.To("example.com/y"), "3": nil} {
		s.recorder.Record(history.Version{Job: &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid)}, Spec: batchv1.JobSpec{ManagedBy: by},
		}})
	}
	versions := s.underTest()
	if len(versions) != 1 || versions[0].Job.Name != "1" || versions[0].Job.Spec.ManagedBy != nil {
		t.Errorf("%+v", versions)
	}
}

// Requirements: CNF-02
func TestViolationsAreReported(t *testing.T) {
	t.Parallel()
	s := &Suite{recorder: NewRecorder()}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	s.recorder.Record(history.Version{Revision: 1, Job: job})
	worse := job.DeepCopy()
	worse.Status.Active = -1
	s.recorder.Record(history.Version{Revision: 2, Job: worse})
	r := s.evidence().check(Case{Name: "h", Check: func(e *Evidence) {
		for _, v := range e.Violations {
			if v.Invariant == "STV-01" {
				e.Errorf("none", "%s", v)
			}
		}
	}})
	if r.Outcome != Fail || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
	s.recorder.BreakOff(errors.New("too old"))
	assert.Equal(t, s.evidence().check(Case{Name: "h", Check: func(*Evidence) {}}).Outcome, Fail, "an incomplete record")
}
