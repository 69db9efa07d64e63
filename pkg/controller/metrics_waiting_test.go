package controller

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// waitingCluster is a fakeCluster whose cache reports pods to the metrics.
type waitingCluster struct {
	*fakeCluster
	registry kubemetrics.KubeRegistry
}

func newWaitingCluster(t *testing.T) waitingCluster {
	f, registry := newMetered(t)
	d, cache := NewDispatcher(f.engine.config, &fakeQueue{})
	f.start(f.engine.config, cache)
	d.OnPodEnded(f.engine.PodEnded)
	return waitingCluster{f, registry}
}

func (w waitingCluster) sync() {
	_, _ = w.engine.Sync(context.Background(), "uid")
}

// changeJob delivers another version of the Job by the watch.
func (w waitingCluster) changeJob(change func(*batchv1.Job)) {
	job := w.cache.Job("uid").DeepCopy()
	w.version++
	job.ResourceVersion = strconv.Itoa(w.version)
	change(job)
	w.addJob(job)
}

func (w waitingCluster) expect(when, prefix string, want map[string]float64) {
	w.t.Helper()
	if got := counted(w.t, w.registry, prefix); !maps.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", when, got, want)
	}
}

func interimCondition(t batchv1.JobConditionType, since time.Time) batchv1.JobCondition {
	return batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, Reason: "X", LastTransitionTime: metav1.NewTime(since)}
}

// holding returns a cluster with a Job, and with a pod of it that terminates for ever.
func holding(t *testing.T, conditions ...batchv1.JobCondition) waitingCluster {
	w := newWaitingCluster(t)
	job := ourJob(1)
	job.Status.StartTime, job.Status.Terminating, job.Status.Conditions = &metav1.Time{Time: testTime}, ptr.To[int32](1), conditions
	w.addJob(job)
	pod := runningPod("a", job)
	pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: testTime}, append(pod.Finalizers, "example.com/held")
	w.addPods(pod)
	w.engine.Trust(job)
	w.sync()
	return w
}

// Issue 7: the age of a Job that is bound to end is measured from its interim condition, of either type, until it has
// its terminal condition.
func TestDoomedJobIsMeasured(t *testing.T) {
	for _, bound := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		w := holding(t)
		w.expect("before", "oldest_doomed", map[string]float64{})
		w.changeJob(func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{interimCondition(bound, testTime.Add(-100*time.Second))}
			w.engine.Trust(j)
		})
		w.sync()
		w.clock.Step(20 * time.Second)
		w.expect(string(bound), "oldest_doomed", map[string]float64{"oldest_doomed_job_age_seconds": 120})
		last := w.pods["uid-a"].DeepCopy()
		last.Finalizers, last.DeletionGracePeriodSeconds = nil, ptr.To[int64](0)
		assert.NoError(t, w.cache.PodStore("").Delete(last))
		w.sync()
		if !reconcile.IsFinished(w.cache.Job("uid")) {
			t.Fatalf("the Job has not finished: %v", w.calls)
		}
		w.expect("finished", "oldest_doomed", map[string]float64{})
	}
}

// Issue 7: the age does not grow for a Job that is gone, is being deleted, or belongs to an ended term.
func TestDoomedJobIsForgotten(t *testing.T) {
	for name, forget := range map[string]func(waitingCluster){
		"gone": func(w waitingCluster) {
			assert.NoError(t, w.cache.JobStore("").Delete(w.cache.Job("uid")))
			w.sync()
		},
		"deleted": func(w waitingCluster) {
			w.changeJob(func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: testTime} })
			w.sync()
		},
		"end of the term": func(w waitingCluster) { w.engine.config.Metrics.Forget() },
	} {
		w := holding(t, interimCondition(batchv1.JobFailureTarget, testTime.Add(-time.Hour)))
		w.expect(name+", before", "oldest_doomed", map[string]float64{"oldest_doomed_job_age_seconds": 3600})
		forget(w)
		w.expect(name, "oldest_doomed", map[string]float64{})
	}
}

var (
	errQuota     = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("exceeded quota: one-pod, requested: pods=1, used: pods=1, limited: pods=1"))
	errDenied    = forbidden("")
	always       = func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	refusedSince = func(reason string, age float64) map[string]float64 {
		want := map[string]float64{"jobs_refused_pods " + reason: 1, "oldest_refused_job_age_seconds " + reason: age}
		maps.DeleteFunc(want, func(_ string, v float64) bool { return v == 0 })
		return want
	}
)

func (w waitingCluster) expectRefused(when string, want map[string]float64) {
	w.t.Helper()
	got := counted(w.t, w.registry, "jobs_refused")
	maps.Copy(got, counted(w.t, w.registry, "oldest_refused"))
	if !maps.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", when, got, want)
	}
}

// Issue 7: the wait of a Job whose pods the API server refuses is measured from the first refusal, by the reason of the
// last, until one of its pods is created.
func TestRefusedPodsAreMeasured(t *testing.T) {
	w := newWaitingCluster(t)
	job := ourJob(4)
	w.addTrusted(job)
	w.onCreate = always(errQuota)
	w.sync()
	w.expectRefused("at the first refusal", refusedSince("quota", 0))
	w.clock.Step(time.Minute)
	w.sync()
	w.expectRefused("after a minute", refusedSince("quota", 60))
	w.onCreate = always(errDenied)
	w.sync()
	w.expectRefused("refused for another reason", refusedSince("forbidden", 60))
	w.onCreate = always(errors.New("EOF"))
	w.sync()
	w.expectRefused("without an answer", refusedSince("no_answer", 60))
	// The list that follows an unknown outcome fails: nothing is known, nothing changes.
	w.clock.Step(time.Second)
	w.sync()
	w.expectRefused("when the sync fails before it creates", refusedSince("no_answer", 61))
	w.engine.memory.update("uid", func(m *jobMemory) { m.listPods = false })
	w.onCreate = func(context.Context) error {
		w.onCreate = always(errQuota)
		return nil
	}
	w.sync()
	w.expectRefused("when one could be created", refusedSince("quota", 0))
	w.clock.Step(5 * time.Second)
	w.onCreate = always(nil)
	w.sync()
	w.expectRefused("when all could", map[string]float64{})
	families, err := w.registry.Gather()
	assert.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "job_controller_jobs_refused_pods" && len(family.GetMetric()) != 9 {
			t.Errorf("%d reasons are served, want all, with 0: %v", len(family.GetMetric()), family)
		}
	}
}

// Issue 7: a Job that no longer wants pods does not wait for them.
func TestRefusedPodsAreForgotten(t *testing.T) {
	for name, forget := range map[string]func(waitingCluster){
		"suspended": func(w waitingCluster) {
			w.changeJob(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
			w.sync()
		},
		"gone": func(w waitingCluster) {
			assert.NoError(t, w.cache.JobStore("").Delete(w.cache.Job("uid")))
			w.sync()
		},
		"its namespace ends (JOB-46)": func(w waitingCluster) {
			w.onCreate = always(terminating())
			w.sync()
		},
		"end of the term": func(w waitingCluster) { w.engine.config.Metrics.Forget() },
	} {
		w := newWaitingCluster(t)
		job := ourJob(4)
		w.addTrusted(job)
		w.onCreate = always(errQuota)
		w.sync()
		w.clock.Step(time.Minute)
		w.expectRefused(name+", before", refusedSince("quota", 60))
		forget(w)
		w.expectRefused(name, map[string]float64{})
	}
}

// Issue 7: a Job that no longer wants pods does not wait for them, even if another of its calls fails in each sync. A
// Job that still wants pods continues to wait, whatever else fails.
func TestRefusedPodsAreForgottenWhileOtherCallsFail(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(waitingCluster)
		waiting bool
	}{
		"suspended":                   {change: func(w waitingCluster) { w.changeJob(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }) }},
		"wants no more":               {change: func(w waitingCluster) { w.changeJob(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) }) }},
		"its namespace ends (JOB-46)": {change: func(w waitingCluster) { w.onCreate = always(terminating()) }},
		"still refused":               {change: func(waitingCluster) {}, waiting: true},
		"nothing is known": {waiting: true, change: func(w waitingCluster) {
			w.engine.memory.update("uid", func(m *jobMemory) { m.listPods = true })
		}},
	} {
		w := newWaitingCluster(t)
		job := ourJob(4)
		job.Status.StartTime = &metav1.Time{Time: testTime}
		w.addJob(job)
		pod := runningPod("a", job)
		pod.Status.Phase = corev1.PodSucceeded
		w.addPods(pod)
		w.engine.Trust(job)
		w.onCreate = always(errQuota)
		w.fail = func(reconcile.PodRef) error { return errors.New("no") }
		w.sync()
		w.clock.Step(time.Minute)
		w.expectRefused(name+", before", refusedSince("quota", 60))
		test.change(w)
		if _, err := w.engine.Sync(context.Background(), "uid"); err == nil {
			t.Errorf("%s: no call failed", name)
		}
		want := map[string]float64{}
		if test.waiting {
			want = refusedSince("quota", 60)
		}
		w.expectRefused(name, want)
	}
}

// BLI-06: a failed pod keeps its finalizer until its index has a new pod, and is not overdue until then. Afterward it
// is.
func TestDelayedPodIsNotOverdue(t *testing.T) {
	w := newWaitingCluster(t)
	job := ourJob(1)
	job.Spec.CompletionMode, job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](3), ptr.To[int32](1<<31-1)
	job.Status.StartTime = &metav1.Time{Time: testTime}
	w.addJob(job)
	failed := runningPod("a", job)
	failed.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}
	failed.Status.Phase = corev1.PodFailed
	failed.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(testTime)}}}}
	w.addPods(failed)
	w.engine.Trust(job)
	w.clock.Step(5 * time.Second)
	w.expect("before a sync knows", "oldest_uncounted", map[string]float64{"oldest_uncounted_pod_age_seconds": 5})
	w.sync()
	w.expect("in back-off", "oldest_uncounted", map[string]float64{})
	w.clock.Step(10 * time.Second)
	w.fail = func(reconcile.PodRef) error { return errors.New("no") }
	w.sync()
	if w.did("create") != 1 {
		t.Fatalf("the index has no new pod: %v", w.calls)
	}
	w.expect("replaced, and not let go", "oldest_uncounted", map[string]float64{"oldest_uncounted_pod_age_seconds": 15})
	w.fail = never
	w.sync()
	w.expect("let go", "oldest_uncounted", map[string]float64{})
}
