package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubemetrics "k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// counted returns the counters, and the counts of histograms, that are not zero.
func counted(t *testing.T, registry kubemetrics.KubeRegistry, prefix string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	assert.NoError(t, err)
	out := map[string]float64{}
	for _, family := range families {
		name, ours := strings.CutPrefix(family.GetName(), "job_controller_")
		if !ours || !strings.HasPrefix(name, prefix) {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if v := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()) + m.GetGauge().GetValue(); v != 0 {
				out[strings.Join(append([]string{name}, labels...), " ")] += v
			}
		}
	}
	return out
}

func newMetered(t *testing.T) (*fakeCluster, kubemetrics.KubeRegistry) {
	registry := kubemetrics.NewKubeRegistry()
	f := newFakeCluster(t, func(c *Config) { c.Metrics = metrics.New(registry, c.Clock) })
	return f, registry
}

// JOB-49: each sync of an unfinished Job of ours is one sample, with its action.
func TestSyncsAreCounted(t *testing.T) {
	interim := batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "X"}
	terminal := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "X"}
	misplaced := func(name string, job *batchv1.Job) *corev1.Pod {
		pod := runningPod(name, job)
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "7"}
		return pod
	}
	for name, c := range map[string]struct {
		change func(*batchv1.Job)
		pods   int
		fails  bool
		want   map[string]float64
	}{
		"creates":               {nil, 0, false, map[string]float64{"job_syncs_total pods_created NonIndexed success": 1}},
		"has all":               {nil, 2, false, map[string]float64{"job_syncs_total tracking NonIndexed success": 1}},
		"has too many":          {nil, 3, false, map[string]float64{"job_syncs_total pods_deleted NonIndexed success": 1}},
		"cannot remove":         {nil, 3, true, map[string]float64{"job_syncs_total pods_deleted NonIndexed error": 1}},
		"finishes":              {func(j *batchv1.Job) { j.Status.Conditions = []batchv1.JobCondition{interim} }, 0, false, map[string]float64{"job_syncs_total reconciling NonIndexed success": 1}},
		"finished":              {func(j *batchv1.Job) { j.Status.Conditions = []batchv1.JobCondition{interim, terminal} }, 0, false, map[string]float64{}},
		"another's":             {func(j *batchv1.Job) { j.Spec.ManagedBy = nil }, 0, false, map[string]float64{}},
		"indexed, out of range": {func(j *batchv1.Job) { j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }, -2, false, map[string]float64{"job_syncs_total pods_deleted Indexed success": 1}},
		"nothing to do, indexed": {func(j *batchv1.Job) {
			j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
			j.Spec.Parallelism = ptr.To[int32](0)
		}, 0, false, map[string]float64{"job_syncs_total tracking Indexed success": 1}},
	} {
		f, registry := newMetered(t)
		job := ourJob(2)
		if c.change != nil {
			c.change(job)
		}
		f.addTrusted(job)
		for i := range max(c.pods, -c.pods) {
			if c.pods < 0 {
				f.addPods(misplaced(fmt.Sprint("p", i), job))
			} else {
				f.addPods(runningPod(fmt.Sprint("p", i), job))
			}
		}
		if c.fails {
			f.fail = func(reconcile.PodRef) error { return errors.New("no") }
		}
		_, _ = f.engine.Sync(context.Background(), job.UID)
		assert.DeepEqual(t, counted(t, registry, "job_syncs_total"), c.want, name)
		durations := map[string]float64{}
		for sample, n := range c.want {
			durations[strings.Replace(sample, "job_syncs_total", "job_sync_duration_seconds", 1)] = n
		}
		assert.DeepEqual(t, counted(t, registry, "job_sync_duration_seconds"), durations, name)
	}
}

// SCL-06: the deletion of a Job during its sync is not an error.
func TestDeletedJobIsNoError(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(1)
	f.addTrusted(job)
	f.statusErr = jobNotFound("train")
	if _, err := f.engine.Sync(context.Background(), job.UID); err != nil || f.did("status") != 1 {
		t.Errorf("%v after %v", err, f.calls)
	}
	assert.Equal(t, counted(t, registry, "job_syncs_total")["job_syncs_total pods_created NonIndexed success"], 1)
}

// JOB-49: a pod that waits for its back-off counts as created.
func TestBackoffIsCountedAsCreation(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(1)
	job.Status.Failed = 1
	job.Status.StartTime = &metav1.Time{Time: testTime}
	failed := runningPod("p", job)
	failed.Finalizers = nil
	failed.Status.Phase = corev1.PodFailed
	failed.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(testTime)}}}}
	f.addJob(job)
	f.addPods(failed)
	f.engine.Trust(job)
	f.syncs()
	if got := counted(t, registry, "job_syncs_total"); f.did("create") != 0 || got["job_syncs_total pods_created NonIndexed success"] != 1 {
		t.Errorf("%v after %v", got, f.calls)
	}
}

// JOB-51: a sync whose pods may be older than the status is counted.
func TestStaleSyncsAreCounted(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(2)
	job.Status.Active = 1
	f.addJob(job)
	_, _ = f.engine.Sync(context.Background(), job.UID)
	want := map[string]float64{"stale_sync_skips_total  pods": 1}
	assert.DeepEqual(t, counted(t, registry, "stale_sync_skips"), want, "of an unknown status")
	f.engine.Trust(job)
	_, _ = f.engine.Sync(context.Background(), job.UID)
	assert.DeepEqual(t, counted(t, registry, "stale_sync_skips"), want, "of a status that is our own")
}

// MGB-16: another client writes the status of our Jobs.
func TestForeignStatusIsNoticed(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(2)
	f.addTrusted(job)
	edited := job.DeepCopy()
	edited.ResourceVersion = "2"
	edited.Status.Failed = 3
	edited.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "status"}, {Manager: FieldManager, Subresource: "status"}, {Manager: "user"}}
	f.addJob(edited)
	_, _ = f.engine.Sync(context.Background(), job.UID)
	assert.Equal(t, counted(t, registry, "foreign_status")["foreign_status_writes_total"], 1)
	assert.SlicesEqual(t, otherManagers(edited), []string{"kube-controller-manager"}, "by")
}

// MGB-16, JOB-50: the first of several tries without a response was stored. It is recognized as ours and reported once.
func TestOneOfSeveralTriesWasStored(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(0)
	f.addTrusted(job)
	f.statusErr = errors.New("EOF")
	sent := []*batchv1.Job{}
	f.onStatus = func(job *batchv1.Job) { sent = append(sent, job) }
	for range 3 {
		_, _ = f.engine.Sync(context.Background(), job.UID)
		f.clock.Step(2 * time.Second)
	}
	stored := sent[0]
	stored.ResourceVersion = "2"
	f.statusErr = nil
	f.addJob(stored)
	if _, err := f.engine.Sync(context.Background(), job.UID); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, registry, "foreign_status"); len(sent) < 4 || len(got) != 0 || f.did("list") != 0 {
		t.Errorf("%v after %v", got, f.calls)
	}
	want := map[string]float64{"jobs_finished_total NonIndexed CompletionsReached succeeded": 1}
	assert.DeepEqual(t, counted(t, registry, "jobs_finished"), want)
}

// SCL-06: a Job that was replaced by another Job of its name is gone, and that is not an error.
func TestReplacedJobIsNoError(t *testing.T) {
	f, _ := newMetered(t)
	job := ourJob(1)
	f.addTrusted(job)
	f.statusErr = conflict("train")
	f.live = job.DeepCopy()
	f.live.UID = "another"
	if _, err := f.engine.Sync(context.Background(), job.UID); err != nil || f.did("status") != 1 {
		t.Errorf("%v after %v", err, f.calls)
	}
}

// The calls of a sync are counted by their result.
func TestAPICallsAreCounted(t *testing.T) {
	f, registry := newMetered(t)
	job := ourJob(2)
	f.addJob(job)
	f.addPods(runningPod("a", job), runningPod("b", job), runningPod("c", job), runningPod("d", job))
	f.engine.Trust(job)
	refusals := []error{conflict("p"), apierrors.NewTooManyRequests("later", 1)}
	f.fail = func(reconcile.PodRef) (err error) {
		if len(refusals) > 0 {
			err, refusals = refusals[0], refusals[1:]
		}
		return err
	}
	_, _ = f.engine.Sync(context.Background(), job.UID)
	got := counted(t, registry, "api_calls_total")
	if got["api_calls_total pods conflict patch"] != 1 || got["api_calls_total pods throttled patch"] != 1 ||
		got["api_calls_total pods success patch"] != float64(f.did("release ns/b@7")+f.did("release ns/c@7")+f.did("release ns/d@7")+f.did("release ns/a@7")-2) || got["api_calls_total jobs/status success update"] != float64(f.did("status")) {
		t.Errorf("%v after %v", got, f.calls)
	}
}

// The age of the oldest finished pod that holds its finalizer, and the time that a Job
// takes to finish after its last pod.
func TestWaitingIsMeasured(t *testing.T) {
	w := newWaitingCluster(t)
	job := ourJob(1)
	w.addTrusted(job)
	pod := runningPod("a", job)
	w.addPods(pod)
	done := pod.DeepCopy()
	done.ResourceVersion = "8"
	done.Status.Phase = corev1.PodSucceeded
	done.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(testTime)}}}}
	w.addPods(done)
	w.clock.Step(7 * time.Second)
	w.expect("when the pod has ended", "oldest", map[string]float64{"oldest_uncounted_pod_age_seconds": 7})
	w.sync()
	w.expect("after the pod was counted", "oldest", map[string]float64{})
	w.expect("after the pod was counted", "job_finish_delay", map[string]float64{"job_finish_delay_seconds NonIndexed succeeded": 1})
}

// A process that becomes the leader again sees its pods anew: none is counted as held twice, and the age of a pod
// released in between does not grow.
// Requirements: TRK-30
func TestSecondTermBeginsAnew(t *testing.T) {
	clock := clocktesting.NewFakeClock(testTime)
	registry := kubemetrics.NewKubeRegistry()
	m := metrics.New(registry, clock)
	job := ourJob(1)
	pod := runningPod("a", job)
	pod.Status.Phase = corev1.PodSucceeded
	for range 2 {
		_, cache := NewDispatcher(Config{Metrics: m, Clock: clock}, &fakeQueue{})
		f := &fakeCluster{t: t, cache: cache, pods: map[types.UID]*corev1.Pod{}}
		f.addJob(job)
		f.addPods(pod)
	}
	want := map[string]float64{"terminated_pods_tracking_finalizer_total add": 2, "terminated_pods_tracking_finalizer_total delete": 1}
	assert.DeepEqual(t, counted(t, registry, "terminated_pods"), want)
	NewDispatcher(Config{Metrics: m, Clock: clock}, &fakeQueue{})
	assert.Equal(t, len(counted(t, registry, "oldest")), 0, "without pods")
}
