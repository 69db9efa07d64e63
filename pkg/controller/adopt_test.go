package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-35: strays are adopted after one live read, in as many stages as necessary, and then belong to the Job.
func TestStraysAreAdoptedAfterALiveRead(t *testing.T) {
	f := newFakeCluster(t, func(c *Config) { c.Limits.MaxPodChanges = 1 })
	f.addJob(ourJob(3))
	f.addPods(runningPod("a", nil), runningPod("b", nil), runningPod("c", nil))
	f.syncs()
	if f.did("get ns/train") != 1 || f.did("adopt ns/a@7") != 1 || f.did("adopt ns/b@7") != 1 || f.did("adopt ns/c@7") != 1 || f.did("create") != 0 {
		t.Errorf("calls: %q", f.calls)
	}
	if pods := f.cache.Pods("uid"); len(pods) != 3 || !pods[0].Finalizer {
		t.Errorf("pods: %v", pods)
	}
	f.calls = nil
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || f.did("get ns/train") != 0 {
		t.Errorf("nothing to adopt: %v, %q", err, f.calls)
	}
}

// JOB-35, JOB-37: nothing is adopted unless the live read shows the same Job, not being deleted; the sync does its
// other work.
func TestAdoptionNeedsTheLiveJob(t *testing.T) {
	deleting, recreated := ourJob(2), ourJob(2)
	deleting.DeletionTimestamp, deleting.ResourceVersion = &metav1.Time{Time: testTime}, "500"
	recreated.UID = "other"
	for name, c := range map[string]struct {
		live *batchv1.Job
		err  error
		text string
	}{
		"gone":          {nil, jobNotFound("train"), "gone"},
		"recreated":     {recreated, nil, "created anew"},
		"being deleted": {deleting, nil, "being deleted"},
		"not readable":  {nil, errors.New("timeout"), "timeout"},
	} {
		f := newFakeCluster(t, nil)
		f.addJob(ourJob(2))
		f.addPods(runningPod("a", nil), runningPod("bad", ourJob(2)))
		f.live, f.getErr = c.live, c.err
		_, err := f.engine.Sync(t.Context(), "uid")
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if f.did("adopt ns/a@7")+f.did("create") != 0 || f.did("get ns/train") != 1 || f.did("status") == 0 {
			t.Errorf("%s: calls %q", name, f.calls)
		}
		assert.Equalf(t, f.cache.Job("uid").DeletionTimestamp != nil, (c.live == deleting), "%s: the cache shows a deletion", name)
	}
}

// JOB-37: a Job that is finished or being deleted adopts no pods.
func TestEndingJobAdoptsNothing(t *testing.T) {
	deleting, finished := ourJob(1), ourJob(1)
	deleting.DeletionTimestamp = &metav1.Time{Time: testTime}
	finished.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	for name, job := range map[string]*batchv1.Job{"deleting": deleting, "finished": finished} {
		f := newFakeCluster(t, nil)
		f.addJob(job)
		f.addPods(runningPod("a", nil))
		if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || f.did("get ns/train")+f.did("adopt ns/a@7") != 0 {
			t.Errorf("%s: %v, calls %q", name, err, f.calls)
		}
	}
}

// JOB-37: a failed adoption is retried not in the same sync, but later; meanwhile no pod is created in place of the
// stray, unless the stray is gone.
func TestFailedAdoptionIsTriedLater(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		fails   bool
		later   bool
		creates int
	}{
		"changed since it was seen":  {conflict("a"), false, true, 0},
		"gone":                       {notFound("a"), false, false, 1},
		"adopted by another":         {invalid("a"), false, true, 0},
		"the API server has trouble": {errors.New("timeout"), true, false, 0},
	} {
		f := newFakeCluster(t, func(c *Config) { c.BatchPeriod = time.Minute }) // No status is due.
		f.addJob(ourJob(2))
		f.addPods(runningPod("a", nil), runningPod("b", nil))
		f.fail = func(ref reconcile.PodRef) error {
			if ref.Name == "a" {
				return c.err
			}
			return nil
		}
		result, err := f.engine.Sync(t.Context(), "uid")
		if (err != nil) != c.fails || c.later != (result.After == f.engine.config.RetryMin) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		if f.did("adopt ns/a@7") != 1 || f.did("adopt ns/b@7") != 1 || f.did("create") != c.creates {
			t.Errorf("%s: calls %q", name, f.calls)
		}
	}
}

// JOB-36: a webhook that changes the labels of new pods does not lead to an endless loop of creating and disowning
// pods.
func TestWebhookThatRelabelsPodsIsAnError(t *testing.T) {
	f := newFakeCluster(t, nil)
	f.addJob(ourJob(2))
	f.webhook = func(pod *corev1.Pod) { pod.Labels = nil }
	if _, err := f.engine.Sync(t.Context(), "uid"); err == nil || !strings.Contains(err.Error(), "selector") {
		t.Error(err)
	}
	assert.Equalf(t, f.did("create"), 1, "calls: %q", f.calls)
}

// TRK-25: a webhook that undoes patches leads to an error, not to an endless loop.
func TestWebhookThatUndoesAPatchIsAnError(t *testing.T) {
	job := ourJob(1)
	relabeled := runningPod("a", job)
	relabeled.Labels = nil
	ended := runningPod("a", job)
	ended.Status.Phase = corev1.PodSucceeded
	for call, c := range map[string]struct {
		pod     *corev1.Pod
		webhook func(*corev1.Pod)
	}{
		"adopt ns/a@7":  {runningPod("a", nil), func(p *corev1.Pod) { p.OwnerReferences = nil }},
		"disown ns/a@":  {relabeled, func(p *corev1.Pod) { p.OwnerReferences = relabeled.OwnerReferences }},
		"release ns/a@": {ended, func(p *corev1.Pod) { p.Finalizers = ended.Finalizers }},
	} {
		f := newFakeCluster(t, nil)
		f.addJob(job)
		f.addPods(c.pod)
		f.webhook = func(pod *corev1.Pod) {
			if pod.Name == "a" {
				c.webhook(pod)
			}
		}
		if _, err := f.engine.Sync(t.Context(), "uid"); err == nil || f.did(call) != 1 {
			t.Errorf("%s: %v, calls %q", call, err, f.calls)
		}
	}
}

// BLI-22, D-13: ignored failures are remembered once the finalizer is gone, after the record of the stored status,
// whatever the order of the calls, and whether or not they got a response; none is lost or counted twice.
func TestIgnoredFailuresAreRemembered(t *testing.T) {
	ago := func(minutes time.Duration) time.Time { return testTime.Add(-minutes * time.Minute) }
	refs := []reconcile.PodRef{
		{Name: "done", UID: "uid-done", Ignored: true, IgnoredFailure: ago(3)},
		{Name: "gone", UID: "uid-gone", Ignored: true, IgnoredFailure: ago(1)},
		{Name: "fails", UID: "uid-fails", Ignored: true, IgnoredFailure: ago(0)},
		{Name: "counted", UID: "uid-counted"},
	}
	for _, backwards := range []bool{false, true} {
		for _, withStatus := range []bool{false, true} {
			f := newFakeCluster(t, nil)
			f.backwards = backwards
			job := ourJob(1)
			f.addJob(job)
			f.addPods(runningPod("done", job), runningPod("counted", job))
			f.fail = func(ref reconcile.PodRef) error {
				return map[string]error{"gone": notFound("gone"), "fails": errors.New("timeout")}[ref.Name]
			}
			plan := reconcile.Plan{Release: refs}
			want := int32(2)
			if withStatus {
				plan.Status = &batchv1.JobStatus{Active: 1}
				plan.Backoff.Failures, plan.Backoff.LastFailure = 5, ago(2)
				want = 7
			}
			s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]why{}}
			if _, err := s.apply(t.Context(), &plan); err != nil {
				t.Fatal(err)
			}
			check := func(held []*reconcile.Pod, failures int32, last time.Time) {
				s.memory.settleReleases("uid", held)
				got := f.engine.memory.get("uid")
				if got.backoff.Failures != failures || !got.backoff.LastFailure.Equal(last) || withStatus != (got.status != nil) {
					t.Errorf("backwards %v, status %v: %+v, want %d", backwards, withStatus, got, failures)
				}
			}
			check([]*reconcile.Pod{{UID: "uid-fails", Finalizer: true}}, want, ago(1))
			// The release without a response was stored after all.
			check(nil, want+1, ago(0))
			check(nil, want+1, ago(0))
		}
	}
}

// JOB-35: the Jobs that are synced because of a stray.
// Requirements: JOB-37
func TestStrayBringsASyncToItsJobs(t *testing.T) {
	q := &fakeQueue{}
	d, cache := NewDispatcher(Config{Clock: clocktesting.NewFakeClock(testTime)}, q)
	d.OnOwnJob(func(*batchv1.Job) {})
	byHand := func(uid types.UID, change func(*batchv1.Job)) {
		job := ourJob(1)
		job.UID, job.Spec.Selector.MatchLabels = uid, map[string]string{"app": "x"}
		change(job)
		_ = cache.JobStore("").Add(job)
	}
	byHand("ours", func(*batchv1.Job) {})
	byHand("theirs", func(j *batchv1.Job) { j.Spec.ManagedBy = nil })
	byHand("deleting", func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: testTime} })
	byHand("finished", func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	})
	q.added = nil
	pod := runningPod("a", nil)
	pod.Labels = map[string]string{"app": "x"}
	_ = cache.PodStore("").Add(pod)
	if len(q.added) != 1 || q.added[0] != "ours" {
		t.Errorf("syncs of %q", q.added)
	}
	// A stray with the finalizer of a Job that does not adopt it must be released (L2).
	for _, deleting := range []bool{false, true} {
		q.added = nil
		held := runningPod(fmt.Sprint("held-", deleting), nil)
		held.Labels = map[string]string{batchv1.ControllerUidLabel: "finished"}
		held.Annotations = map[string]string{AttemptAnnotation: "1"}
		held.Finalizers = []string{batchv1.JobTrackingFinalizer}
		if deleting {
			held.DeletionTimestamp = &metav1.Time{Time: testTime}
		}
		_ = cache.PodStore("").Add(held)
		assert.SlicesEqual(t, q.added, []types.UID{"finished"}, "syncs of", "deleting", deleting)
	}
}
