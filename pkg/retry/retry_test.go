package retry

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// newJob returns a failed Job with this number of completions, and these completed and failed indexes.
func newJob(completions int32, completed, failed string) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "sweep", Namespace: "ns", UID: "root"}}
	job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.Parallelism = &completions, ptr.To[int32](5)
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	set, _ := indexset.Parse(completed)
	job.Status.CompletedIndexes, job.Status.Succeeded, job.Status.FailedIndexes = completed, int32(set.Len()), &failed
	return finish(job, batchv1.JobFailed)
}

func finish(job *batchv1.Job, as batchv1.JobConditionType) *batchv1.Job {
	job.Status.Conditions = []batchv1.JobCondition{{Type: as, Status: corev1.ConditionTrue}}
	return job
}

func object(t *testing.T, job *batchv1.Job) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	assert.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

func typed(t *testing.T, o *unstructured.Unstructured) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	assert.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, job))
	return job
}

func make1(t *testing.T, job *batchv1.Job, q Request, others ...*batchv1.Job) (*Plan, error) {
	t.Helper()
	return Make(job, object(t, job), FamilyOf(job, others), q)
}

func indexes(t *testing.T, text string) *indexset.Set {
	t.Helper()
	set, err := indexset.Parse(text)
	assert.NoError(t, err)
	return &set
}

// started returns the retry as an API server stores it after its Steps.
func started(t *testing.T, r *Plan) *batchv1.Job {
	t.Helper()
	o := r.Object.DeepCopy()
	o.SetUID("x")
	if r.Steps == nil {
		return typed(t, o)
	}
	data, _ := json.Marshal(o.Object)
	data, err := jsonpatch.MergePatch(data, r.Steps.StatusPatch("x"))
	assert.NoError(t, err)
	patch, err := jsonpatch.DecodePatch(r.Steps.ResumePatch("x"))
	assert.NoError(t, err)
	if data, err = patch.Apply(data); err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{}
	assert.NoError(t, json.Unmarshal(data, job))
	return job
}

// created returns the indexes for which the controller creates pods.
func created(job *batchv1.Job) string {
	var indexes []int32
	for _, pod := range reconcile.Compute(reconcile.Observation{Job: job}, reconcile.DefaultConfig()).Create {
		indexes = append(indexes, pod.Index)
	}
	return indexset.Of(indexes...).String()
}

// Issue 18: the retry runs the failed indexes and the ones that never completed, and counts the others as completed.
// Requirements: RTY-01, RTY-02, RTY-04
func TestRetryRunsWhatIsMissing(t *testing.T) {
	job := newJob(10, "0-2,4-6,8", "3,7")
	for _, c := range []struct {
		what    string
		q       Request
		indexes string
		leftOut string
	}{
		{"default", Request{}, "3,7,9", ""},
		{"failed only", Request{FailedOnly: true}, "3,7", "9"},
		{"failed pods ran, too", Request{FailedOnly: true, Ran: *indexes(t, "9")}, "3,7,9", ""},
		{"chosen", Request{Indexes: indexes(t, "1,7")}, "1,7", "3,9"},
	} {
		r, err := make1(t, job, c.q)
		assert.NoError(t, err, c.what)
		annotations := r.Object.GetAnnotations()
		if r.Object.GetName() != "sweep-retry-1" || r.Indexes.String() != c.indexes || annotations[IndexesAnnotation] != c.indexes || annotations[LeftOutAnnotation] != c.leftOut {
			t.Errorf("%s: %s runs %s, %v", c.what, r.Object.GetName(), r.Indexes, annotations)
		}
		held := typed(t, r.Object)
		if !*held.Spec.Suspend || *held.Spec.Parallelism != 0 || !IsPending(held) {
			t.Errorf("%s: it could run before its status is written: %+v", c.what, held.Spec)
		}
		runs := started(t, r)
		if *runs.Spec.Suspend || *runs.Spec.Parallelism != 5 || IsPending(runs) || runs.Spec.Completions == nil || *runs.Spec.Completions != 10 {
			t.Errorf("%s: %+v", c.what, runs.Spec)
		}
		for range 2 { // The status is enough: the annotation is for people.
			assert.Equal(t, created(runs), c.indexes, c.what)
			delete(runs.Annotations, IndexesAnnotation)
		}
		if rest := indexset.Below(10).Difference(r.Indexes); runs.Status.CompletedIndexes != rest.String() || int(runs.Status.Succeeded) != rest.Len() {
			t.Errorf("%s: status %+v", c.what, runs.Status)
		}
	}
}

// Issue 18: the status is written to the Job that was created, not to another one of its name, and the patch resumes only
// this Job, and only with the status that was written.
// Requirements: RTY-05, RTY-06
func TestResumeNeedsTheStatus(t *testing.T) {
	r, err := make1(t, newJob(10, "0-6", "7-9"), Request{})
	assert.NoError(t, err)
	assert.Contains(t, string(r.Steps.StatusPatch("u1")), `"metadata":{"uid":"u1"}`)
	for what, change := range map[string]func(*batchv1.Job){
		"no status":   func(*batchv1.Job) {},
		"another Job": func(j *batchv1.Job) { j.Status.CompletedIndexes, j.UID = "0-6", "y" },
		"less":        func(j *batchv1.Job) { j.Status.CompletedIndexes = "0-5" },
	} {
		job := typed(t, r.Object)
		job.UID = "x"
		change(job)
		data, _ := json.Marshal(job)
		patch, err := jsonpatch.DecodePatch(r.Steps.ResumePatch("x"))
		assert.NoError(t, err)
		if _, err := patch.Apply(data); err == nil {
			t.Errorf("%s: it is resumed", what)
		}
	}
}

// Progress counts only the indexes that a retry runs, not the ones that only count as completed.
// Requirements: RTY-38
func TestProgressOfARetryLeavesOutWhatOnlyCounts(t *testing.T) {
	job := newJob(10, "0-6,8", "")
	for indexes, want := range map[string][2]int32{"": {0, 0}, "7-9": {3, 1}, "0-9": {0, 0}} {
		if indexes != "" {
			job.Annotations = map[string]string{IndexesAnnotation: indexes}
		}
		if runs, done := Progress(job); runs != want[0] || done != want[1] {
			t.Errorf("%s: %d of %d, want %v", indexes, done, runs, want)
		}
		job.Annotations = nil
	}
}

// Issue 18: the retries of a Job without completed indexes, and of a NonIndexed Job, run as they are created; a work
// queue runs as a whole.
// Requirements: RTY-01, RTY-03
func TestRetryWithoutSteps(t *testing.T) {
	r, err := make1(t, newJob(3, "", "0-2"), Request{})
	if err != nil || r.Steps != nil || typed(t, r.Object).Spec.Suspend != nil || *typed(t, r.Object).Spec.Parallelism != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	job := newJob(10, "", "")
	job.Spec.CompletionMode, job.Status.Succeeded = ptr.To(batchv1.NonIndexedCompletion), 8
	r, err = make1(t, job, Request{})
	if err != nil || r.Steps != nil || *typed(t, r.Object).Spec.Completions != 2 || r.Pods != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	first := typed(t, r.Object)
	first.UID, first.Status.Succeeded = "1", 1
	if r, err = make1(t, job, Request{}, finish(first, batchv1.JobFailed)); err != nil || r.Pods != 1 || r.Attempt != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = make1(t, first, Request{}); err != nil || r.Pods != 1 || r.Object.GetName() != "sweep-retry-2" {
		t.Errorf("the first Job is gone: %+v, %v", r, err)
	}
	job.Spec.Completions = nil
	if r, err = make1(t, job, Request{}); err != nil || r.Pods != 0 || typed(t, r.Object).Spec.Completions != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// Issue 18: invalid requests create nothing, and name the Job that prevents the retry.
// Requirements: RTY-10
func TestRefusals(t *testing.T) {
	failed := newJob(10, "0-8", "9")
	complete := finish(newJob(3, "0-2", ""), batchv1.JobComplete)
	queue := newJob(3, "", "")
	queue.Spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
	child := func(change func(*batchv1.Job)) *batchv1.Job {
		r, err := make1(t, failed, Request{})
		assert.NoError(t, err)
		job := started(t, r)
		job.UID = "1"
		change(job)
		return job
	}
	for _, c := range []struct {
		job    *batchv1.Job
		others []*batchv1.Job
		q      Request
		kind   RefusalKind
		about  string
	}{
		{job: finish(newJob(3, "", ""), batchv1.JobFailureTarget), kind: Running, about: "sweep"},
		{job: complete, kind: NothingMissing, about: "sweep"},
		{job: failed, others: []*batchv1.Job{child(func(*batchv1.Job) {})}, kind: Running, about: "sweep-retry-1"},
		{job: failed, others: []*batchv1.Job{child(func(j *batchv1.Job) { finish(j, batchv1.JobComplete).Status.CompletedIndexes = "0-9" })}, kind: FamilyComplete, about: "sweep-retry-1"},
		{job: child(func(j *batchv1.Job) { j.Annotations[PendingAnnotation] = "true" }), kind: Pending, about: "sweep-retry-1"},
		{job: newJob(3, "0", ""), q: Request{FailedOnly: true}, kind: NothingRan, about: "sweep"},
		{job: queue, q: Request{Indexes: indexes(t, "1")}, kind: NotIndexed, about: "sweep"},
		{job: failed, q: Request{Indexes: indexes(t, "9,10-12")}, kind: OutOfRange, about: "sweep"},
		{job: failed, q: Request{Indexes: &indexset.Set{}}, kind: NoIndexes, about: "sweep"},
	} {
		r, err := make1(t, c.job, c.q, c.others...)
		var refusal *RefusedError
		if !errors.As(err, &refusal) || refusal.Kind != c.kind || refusal.Job.Name != c.about || r != nil {
			t.Errorf("%s: %v, %v", c.kind, r, err)
		}
		if c.kind == OutOfRange && refusal != nil && refusal.Indexes.String() != "10-12" {
			t.Errorf("%s", refusal.Indexes)
		}
	}
	if r, err := make1(t, complete, Request{Indexes: indexes(t, "1")}); err != nil || r.Indexes.String() != "1" {
		t.Errorf("chosen indexes of a complete Job: %v", err)
	}
}

// Issue 18: if another Job replaced a Job under the same name, the retries of the old one do not belong to its family.
// Requirements: RTY-09
func TestFamilyOfReplacedJob(t *testing.T) {
	job := newJob(10, "0-8", "9")
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	old := started(t, r)
	job.UID = "replaced"
	assert.Equal(t, len(FamilyOf(job, []*batchv1.Job{old, job})), 1, "Jobs")
}

// Issue 18: labels and annotations of other owners and tools are dropped and listed; the queue is set when the Job may
// run.
// Requirements: RTY-11, RTY-12
func TestCopy(t *testing.T) {
	job := newJob(3, "0", "1")
	job.OwnerReferences = []metav1.OwnerReference{{Kind: "JobSet", Name: "train"}, {Kind: "CronJob", Name: "nightly"}}
	job.Labels = map[string]string{"team": "ml", "argocd.argoproj.io/instance": "a", "job-name": "sweep", queueLabel: "gpu"}
	job.Annotations = map[string]string{"meta.helm.sh/release-name": "r", "note": "n", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
	job.Finalizers, job.ResourceVersion, job.Spec.ManualSelector = []string{"f"}, "7", ptr.To(true)
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	job.Spec.Template.Labels = map[string]string{"app": "x", "controller-uid": "root", "batch.kubernetes.io/job-name": "sweep"}
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	made := typed(t, r.Object)
	if fmt.Sprint(r.Dropped) != "[{Owner JobSet/train} {Tool argocd.argoproj.io/instance} {Tool meta.helm.sh/release-name} {Selector }]" {
		t.Errorf("%v", r.Dropped)
	}
	if made.OwnerReferences != nil || made.Finalizers != nil || made.ResourceVersion != "" || made.UID != "" || made.Spec.Selector != nil || made.Spec.ManualSelector != nil {
		t.Errorf("%+v", made)
	}
	if fmt.Sprint(made.Labels) != "map[batchjob.dev/retry-of:sweep team:ml]" || made.Annotations["note"] != "n" || fmt.Sprint(made.Spec.Template.Labels) != "map[app:x]" {
		t.Errorf("%v %v %v", made.Labels, made.Annotations, made.Spec.Template.Labels)
	}
	queued := started(t, r)
	if queued.Labels[queueLabel] != "gpu" || !*queued.Spec.Suspend || *queued.Spec.Parallelism != 5 {
		t.Errorf("Kueue resumes it: %v %+v", queued.Labels, queued.Spec)
	}
}

// Issue 18: a success policy that is already met by the indexes that count as completed would end the retry at once.
// Requirements: RTY-13
func TestMetSuccessPolicyIsDropped(t *testing.T) {
	job := newJob(4, "1", "0,2,3")
	job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	r, err := make1(t, job, Request{})
	if err != nil || typed(t, r.Object).Spec.SuccessPolicy == nil || len(r.Dropped) != 0 {
		t.Errorf("%v, %v", r.Dropped, err)
	}
	r, err = make1(t, job, Request{Indexes: indexes(t, "3")})
	if err != nil || typed(t, r.Object).Spec.SuccessPolicy != nil || fmt.Sprint(r.Dropped) != "[{SuccessPolicy 0}]" {
		t.Errorf("%v, %v", r.Dropped, err)
	}
}

// Issue 18: names stay short enough for the labels and hostnames of pods.
// Requirements: RTY-14
func TestNamesOfRetries(t *testing.T) {
	job := newJob(100000, "0", "")
	job.Name = strings.Repeat("a", 63)
	r, err := make1(t, job, Request{})
	if err != nil || len(r.Object.GetName()) > 63-len("-99999") || !strings.HasSuffix(r.Object.GetName(), "-retry-1") {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = make1(t, newJob(3, "0", ""), Request{Name: "again"}); err != nil || r.Object.GetName() != "again" || r.Root != "sweep" {
		t.Errorf("%v", err)
	}
}

// Issue 18: whatever fails, however often, no retry runs a completed index, and no index is lost: the family becomes
// complete.
// Requirements: RTY-09
func TestFamiliesComplete(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 18))
		n := dice.Int32N(20) + 2
		job := newJob(n, "", "")
		runs := indexset.Below(n)
		family, completed := []*batchv1.Job{}, indexset.Set{}
		current := job
		for attempt := 0; ; attempt++ {
			var now indexset.Set
			for i := range runs.All() {
				if dice.IntN(3) > 0 || attempt > 8 {
					now = now.Union(indexset.Of(i))
				}
			}
			stored, _ := indexset.ParseTolerant(current.Status.CompletedIndexes, n)
			if again := now.Intersection(completed); !again.IsEmpty() {
				t.Fatalf("seed %d: %s runs again", seed, again)
			}
			completed = completed.Union(now)
			current.Status.CompletedIndexes = stored.Union(now).String()
			family = append(family, current)
			if stored.Union(now).Len() == int(n) && current.Annotations[LeftOutAnnotation] == "" {
				finish(current, batchv1.JobComplete)
				break
			}
			finish(current, batchv1.JobFailed)
			if got := FamilyOf(job, family).Done(); !got.Equal(completed) {
				t.Fatalf("seed %d: done %s, want %s", seed, got, completed)
			}
			q := Request{}
			if missing := indexset.Below(n).Difference(completed); attempt < 6 && dice.IntN(3) == 0 && !missing.IsEmpty() {
				q.Indexes = ptr.To(indexset.Of(completed.FirstMissing(1, n)...))
			}
			named := family[dice.IntN(len(family))]
			r, err := make1(t, named, q, family...)
			assert.NoError(t, err, seed)
			current = started(t, r)
			current.UID = types.UID(fmt.Sprint(attempt))
			runs = r.Indexes
		}
		if completed.Len() != int(n) {
			t.Fatalf("seed %d: %s", seed, completed)
		}
	}
}

// A retry that is scaled up runs the indexes it gains, whether it was created to run all indexes or some.
// Requirements: RTY-25
func TestScaledRetryRunsTheIndexesItGains(t *testing.T) {
	for failed, want := range map[string]string{"0-3": "0-7", "1,2": "1,2,4-7"} {
		left := indexset.Below(4).Difference(*indexes(t, failed))
		r, err := make1(t, newJob(4, left.String(), failed), Request{})
		assert.NoError(t, err)
		job := started(t, r)
		job.Spec.Completions, job.Spec.Parallelism = ptr.To[int32](8), ptr.To[int32](8)
		assert.Equalf(t, Runs(job).String(), want, "%s: it runs", failed)
		assert.Equalf(t, created(job), want, "%s: pods are created for", failed)
	}
}

// A retry that was scaled down does not complete its family: the indexes it lost are still missing. Neither does a
// retry that left indexes out, even if it is the Job to retry.
// Requirements: RTY-09, RTY-26
func TestPartialRetryDoesNotCompleteItsFamily(t *testing.T) {
	job := newJob(8, "0", "1-7")
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	scaled := finish(started(t, r), batchv1.JobComplete)
	scaled.Spec.Completions, scaled.Spec.Parallelism = ptr.To[int32](4), ptr.To[int32](4)
	scaled.Status.CompletedIndexes = "0-3"
	if r, err = make1(t, job, Request{}, scaled); err != nil || r.Indexes.String() != "4-7" || r.Attempt != 2 {
		t.Errorf("scaled down: %+v, %v", r, err)
	}
	_, err = make1(t, scaled, Request{}, job)
	if refusal, is := errors.AsType[*RefusedError](err); !is || refusal.Kind != LargerMissing || refusal.Job != job || refusal.Indexes.String() != "4-7" {
		t.Errorf("the one that was scaled down lacks nothing: %v", err)
	}
	if r, err = make1(t, job, Request{Indexes: indexes(t, "5")}); err != nil {
		t.Fatal(err)
	}
	partial := finish(started(t, r), batchv1.JobComplete)
	partial.Status.CompletedIndexes = "0-7"
	for _, named := range []*batchv1.Job{job, partial} {
		if r, err = make1(t, named, Request{}, job, partial); err != nil || r.Indexes.String() != "1-4,6,7" {
			t.Errorf("%s: %+v, %v", named.Name, r, err)
		}
	}
}
