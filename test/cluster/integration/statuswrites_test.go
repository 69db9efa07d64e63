package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// statusEdit changes a status that the test itself writes.
type statusEdit func(*batchv1.JobStatus)

// statusTime is a start time in the past.
var statusTime = metav1.NewTime(time.Now().Truncate(time.Second).Add(-time.Hour))

func started(s *batchv1.JobStatus) { s.StartTime = &statusTime }

func with(types ...batchv1.JobConditionType) statusEdit {
	return func(s *batchv1.JobStatus) {
		for _, t := range types {
			s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: statusTime})
			if t == batchv1.JobComplete {
				s.CompletionTime = &statusTime
			}
		}
	}
}

func without(t batchv1.JobConditionType) statusEdit {
	return func(s *batchv1.JobStatus) {
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t })
	}
}

func uncountedAre(succeeded, failed []types.UID) statusEdit {
	return func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	}
}

// The virtual API server, and the checker of stored versions, accept and reject the same statuses as the API server.
// Requirements: STV-01, STV-02, STV-03, STV-04, STV-05, STV-06, STV-07, STV-08, STV-09, STV-10, STV-11, STV-12, STV-13, STV-14, STV-15, STV-16, STV-17, STV-18, STV-19, STV-20, STV-21, STV-25
func TestStatusRulesAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	complete, failed := batchv1.JobComplete, batchv1.JobFailed
	target, criteria := batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet
	perIndex := func(s *batchv1.JobSpec) { indexed(3)(s); s.BackoffLimitPerIndex = ptr.To(int32(1)) }
	uids := func(list ...types.UID) []types.UID { return list }
	client := newClient(t, apiServer.Config, "user")
	jobs := client.BatchV1().Jobs(newNamespace(t, client))
	for i, c := range []struct {
		// rule is the rule that the step breaks, or "" for a valid step.
		rule string
		job  jobOption
		// before leads to the stored status, step to the tested one.
		before, step []statusEdit
	}{
		{"", nil, nil, []statusEdit{started, with(criteria)}},
		{"", nil, []statusEdit{started, with(criteria)}, []statusEdit{with(complete)}},
		{"", nil, []statusEdit{started, with(target)}, []statusEdit{with(failed)}},
		{"", perIndex, nil, []statusEdit{started, func(s *batchv1.JobStatus) { s.CompletedIndexes, s.FailedIndexes, s.Succeeded = "0,2", ptr.To("1"), 2 }}},
		{"STV-01", nil, nil, []statusEdit{func(s *batchv1.JobStatus) { s.Active = -1 }}},
		{"STV-01", nil, nil, []statusEdit{func(s *batchv1.JobStatus) { s.Terminating = ptr.To(int32(-1)) }}},
		{"STV-02", nil, nil, []statusEdit{uncountedAre(uids("a"), uids("a"))}},
		{"STV-02", nil, nil, []statusEdit{uncountedAre(uids(""), nil)}},
		{"STV-03", nil, []statusEdit{started, with(target, failed)}, []statusEdit{with(complete)}},
		{"STV-04", nil, []statusEdit{started, with(target)}, []statusEdit{with(complete)}},
		{"STV-05", nil, []statusEdit{started, with(target)}, []statusEdit{with(criteria)}},
		{"STV-05", nil, []statusEdit{started, with(criteria)}, []statusEdit{with(target, failed)}},
		{"STV-06", nil, []statusEdit{started}, []statusEdit{with(failed)}},
		{"STV-07", nil, []statusEdit{started}, []statusEdit{with(complete)}},
		{"STV-08", nil, []statusEdit{started, with(criteria)}, []statusEdit{without(criteria)}},
		{"STV-09", nil, []statusEdit{started, with(target)}, []statusEdit{without(target)}},
		{"STV-09", nil, []statusEdit{started, with(criteria, complete)}, []statusEdit{without(complete)}},
		{"STV-10", nil, []statusEdit{started}, []statusEdit{func(s *batchv1.JobStatus) { s.CompletionTime = &statusTime }}},
		{"STV-10", nil, []statusEdit{started, with(criteria)}, []statusEdit{with(complete), func(s *batchv1.JobStatus) { s.CompletionTime = nil }}},
		{"STV-10", nil, []statusEdit{started, with(criteria, complete)}, []statusEdit{func(s *batchv1.JobStatus) { s.CompletionTime = ptr.To(metav1.Now()) }}},
		{"STV-11", nil, []statusEdit{started, with(target)}, []statusEdit{with(failed), func(s *batchv1.JobStatus) { s.Active = 1 }}},
		{"STV-12", nil, []statusEdit{started, with(target)}, []statusEdit{with(failed), func(s *batchv1.JobStatus) { s.Terminating = ptr.To(int32(1)) }}},
		{"STV-13", nil, []statusEdit{started, with(target)}, []statusEdit{with(failed), uncountedAre(nil, uids("a"))}},
		{"STV-14", nil, []statusEdit{with(target)}, []statusEdit{with(failed)}},
		{"STV-15", nil, []statusEdit{started}, []statusEdit{func(s *batchv1.JobStatus) { s.StartTime = nil }}},
		{"STV-16", nil, nil, []statusEdit{func(s *batchv1.JobStatus) { s.Ready = ptr.To(int32(1)) }}},
		{"STV-17", nil, []statusEdit{func(s *batchv1.JobStatus) { s.Failed = 2 }}, []statusEdit{func(s *batchv1.JobStatus) { s.Failed = 1 }}},
		{"STV-18", nil, []statusEdit{func(s *batchv1.JobStatus) { s.Succeeded = 2 }}, []statusEdit{func(s *batchv1.JobStatus) { s.Succeeded = 1 }}},
		{"STV-19", nil, nil, []statusEdit{func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }}},
		{"STV-19", indexed(3), nil, []statusEdit{func(s *batchv1.JobStatus) { s.CompletedIndexes = "0-3" }}},
		{"STV-19", indexed(3), nil, []statusEdit{func(s *batchv1.JobStatus) { s.CompletedIndexes = "1,0" }}},
		{"STV-20", indexed(3), nil, []statusEdit{func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("0") }}},
		{"STV-20", perIndex, nil, []statusEdit{func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("3") }}},
		{"STV-21", perIndex, nil, []statusEdit{func(s *batchv1.JobStatus) { s.CompletedIndexes, s.FailedIndexes = "0-1", ptr.To("1") }}},
	} {
		options := []jobOption{managedBy(otherController)}
		if c.job != nil {
			options = append(options, c.job)
		}
		job, err := jobs.Create(t.Context(), named(fmt.Sprintf("job-%d", i), newJob(options...)), metav1.CreateOptions{})
		assert.NoError(t, err, "creating a Job")
		stored, err := writeStatus(t.Context(), jobs, job, c.before)
		if err != nil {
			t.Errorf("%s: the status before is rejected: %v", c.rule, err)
			continue
		}
		tried := stored.DeepCopy()
		for _, edit := range c.step {
			edit(&tried.Status)
		}
		_, err = writeStatus(t.Context(), jobs, stored, c.step)
		if c.rule == "" && err != nil || c.rule != "" && !apierrors.IsInvalid(err) {
			t.Errorf("%q: the API server answers %v", c.rule, err)
		}
		for who, found := range brokenRules(stored, tried) {
			if c.rule == "" && len(found) > 0 || c.rule != "" && !slices.Contains(found, c.rule) {
				t.Errorf("%q: %s: broken rules %v", c.rule, who, found)
			}
		}
	}
}

// brokenRules returns the rules that the virtual API server and the checker of stored versions find broken.
func brokenRules(stored, tried *batchv1.Job) map[string][]string {
	found := map[string][]string{"the virtual API server": nil, "the checker": nil}
	for _, p := range apirules.Status(stored, tried) {
		found["the virtual API server"] = append(found["the virtual API server"], p.ID)
	}
	for _, r := range invariants.BrokenStatusRules(stored, tried) {
		found["the checker"] = append(found["the checker"], r.ID)
	}
	return found
}

// writeStatus changes the status of a Job as its controller would.
func writeStatus(ctx context.Context, jobs batchclient.JobInterface, job *batchv1.Job, edits []statusEdit) (*batchv1.Job, error) {
	job = job.DeepCopy()
	for _, edit := range edits {
		edit(&job.Status)
	}
	return jobs.UpdateStatus(ctx, job, metav1.UpdateOptions{})
}

// everySecond returns the lists of n indexes that complete and fail alternately, as a controller writes them.
func everySecond(n int32) (completed, failed string) {
	var odd, even []int32
	for i := range n {
		if i%2 == 0 {
			even = append(even, i)
		} else {
			odd = append(odd, i)
		}
	}
	return indexset.Of(even...).String(), indexset.Of(odd...).String()
}

// manyGaps returns the lists of a Job with 2^31-1 indexes, of which all but n have ended and n have failed:
// completedIndexes has as many intervals as possible.
func manyGaps(n int) (completed, failed string) {
	var done, lost []int32
	at := int32(1<<31 - 2)
	for i := range 2 * n {
		done = append(done, at, at-1, at-2)
		if i%2 == 0 {
			lost = append(lost, at-3)
		}
		at -= 4
	}
	return indexset.Of(done...).String(), indexset.Of(lost...).String()
}

// The largest possible lists are stored and read, and the controller continues with them (KEP-3850, "Risks and
// Mitigations").
// Requirements: BLI-31
func TestLargestStatusIsStored(t *testing.T) {
	t.Parallel()
	const mi = 1 << 20
	tenTo5, tenTo5Failed := everySecond(1e5)
	largest, largestFailed := manyGaps(1e4)
	for name, c := range map[string]struct {
		completions, maxFailed int32
		completed, failed      string
		succeeded, lost        int32
		limit                  float64
		reason                 string
	}{
		"1e5 indexes, every second failed": {1e5, 1e5, tenTo5, tenTo5Failed, 5e4, 5e4, 0.572 * mi, batchv1.JobReasonFailedIndexes},
		"2^31-1 indexes, 1e4 failed":       {1<<31 - 1, 1e4 - 1, largest, largestFailed, 6e4, 1e4, 0.525 * mi, batchv1.JobReasonMaxFailedIndexesExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := len(c.completed) + len(c.failed)
			t.Logf("%d bytes, %.4f Mi", size, float64(size)/mi)
			if float64(size) > c.limit || float64(size) < 0.99*c.limit-mi*0.006 {
				t.Errorf("the lists have %d bytes, and may have %.0f", size, c.limit)
			}
			f := newFixture(t)
			job := f.create(newJob(indexed(c.completions), parallelism(0), perIndexLimit(0), maxFailedIndexes(c.maxFailed)))
			stored, err := writeStatus(t.Context(), f.client.BatchV1().Jobs(f.namespace), job, []statusEdit{started, func(s *batchv1.JobStatus) {
				s.CompletedIndexes, s.FailedIndexes, s.Succeeded = c.completed, &c.failed, c.succeeded
				s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			}})
			assert.NoError(t, err, size)
			f.untilSeen(stored)
			f.startController()
			f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, c.reason, c.succeeded, 0), c.completed, c.failed)
			f.wantPodsEver(0)
		})
	}
}

// The controller writes only the status of a Job.
// Requirements: STV-24
func TestStatusWritesTouchNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	var created []*batchv1.Job
	for name, job := range map[string]*batchv1.Job{
		"completes": newJob(indexed(2), successPolicy(countSucceeds(2))),
		"fails":     withNames("0=Bad", newJob(withRules(1))),
		"waits":     newJob(suspended),
	} {
		job.Name, job.Labels = name, map[string]string{"team": "blue"}
		job.Finalizers = []string{foreignFinalizer}
		created = append(created, f.create(job))
	}
	f.kubelet.exit(1, f.podOf("fails"))
	f.kubelet.succeed(f.indexOfJob("completes", 0), f.indexOfJob("completes", 1))
	f.untilFinished("fails", batchv1.JobFailed, "PodFailurePolicy_Bad", 0, 1)
	f.untilFinished("completes", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 2, 0)
	f.untilIs("waits", batchv1.JobSuspended)
	for _, before := range created {
		f.wantOnlyStatusOf(before, f.history.job(before.Name))
	}
}

// wantOnlyStatusOf checks that the controller wrote the status, and no other field.
func (f *fixture) wantOnlyStatusOf(before, after *batchv1.Job) {
	f.t.Helper()
	owned := 0
	for _, entry := range after.ManagedFields {
		if entry.Manager != controller.FieldManager {
			continue
		}
		owned++
		fields := map[string]any{}
		assert.NoError(f.t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		delete(fields, "f:status")
		if entry.Subresource != "status" || len(fields) > 0 {
			f.t.Errorf("Job %s: the controller owns %s through the subresource %q", after.Name, entry.FieldsV1.GetRawString(), entry.Subresource)
		}
	}
	if owned != 1 {
		f.t.Errorf("Job %s: the controller owns fields in %d entries, want 1", after.Name, owned)
	}
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, job := range []*batchv1.Job{before, after} {
		job.Status, job.ManagedFields, job.ResourceVersion = batchv1.JobStatus{}, nil, ""
	}
	if !equality.Semantic.DeepEqual(before, after) {
		f.t.Errorf("Job %s was\n%+v\nand is\n%+v", after.Name, before, after)
	}
}
