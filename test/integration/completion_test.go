package integration

import (
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

func TestIndexedJobCompletes_JOB_06_JOB_07_JOB_22_MGB_09_SUC_16(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(10), parallelism(4)))

	first := f.untilActive(4)
	var indexes []int32
	for _, pod := range first {
		indexes = append(indexes, history.IndexOf(pod))
	}
	slices.Sort(indexes)
	if want := []int32{0, 1, 2, 3}; !slices.Equal(indexes, want) {
		t.Errorf("the first pods are of the indexes %v, want %v", indexes, want)
	}
	f.kubelet.play(everySucceeds)

	job := f.untilComplete("a", 10, 0)
	if job.Status.CompletedIndexes != "0-9" {
		t.Errorf("completedIndexes is %q", job.Status.CompletedIndexes)
	}
	c := history.Condition(job, batchv1.JobComplete)
	if want := "Reached expected number of succeeded pods"; c.Message != want {
		t.Errorf("the message is %q, want %q", c.Message, want)
	}
	f.wantPodsEver(10)
	f.untilReleased()
}

// The defaults are those of production: one second between syncs.
func TestIndexedJobCompletesWithDefaults_JOB_53(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController(func(c *controller.Config) {
		*c = controller.Config{Client: c.Client, EventClient: c.EventClient, Namespaces: c.Namespaces}
	})
	f.create(newJob(indexed(10)))
	f.kubelet.play(everySucceeds)
	job := f.untilComplete("a", 10, 0)
	// About one write a second, and three for the conditions and the start.
	took := job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
	if n, limit := len(p.wire.recorded(statusPut)), int(took.Seconds())+5; n > limit {
		t.Errorf("%d status writes in %v", n, took)
	}
}

func TestNonIndexedJobCompletes_JOB_02_TRK_02(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(5), parallelism(2)))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 5, 0)
	f.wantPodsEver(5)
	f.untilReleased()
}

// After the first success no pod of a work queue is replaced, and failures count.
func TestWorkQueueReplacesNoPodAfterASuccess_JOB_03_JOB_04(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(parallelism(3)))

	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.kubelet.fail(pods[0])
	f.untilCounts("a", counts{active: 3, ready: 2, failed: 1})
	pods = f.untilActive(3)
	f.kubelet.run(pods...)
	f.kubelet.succeed(pods[0])
	f.untilCounts("a", counts{active: 2, ready: 2, succeeded: 1, failed: 1})
	f.kubelet.fail(pods[1])
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 1, failed: 2})
	f.kubelet.succeed(pods[2])
	f.untilComplete("a", 2, 2)
	f.wantPodsEver(4)
}

func TestJobWithNothingToDoIsComplete_JOB_05(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(named("none", newJob(completions(0))))
	f.create(named("none-suspended", newJob(completions(0), suspended)))
	f.create(named("waits", newJob(parallelism(0), completions(1))))

	f.untilComplete("none", 0, 0)
	// Older API servers take no end without a startTime (STV-14).
	if job := f.untilComplete("none-suspended", 0, 0); job.Status.StartTime == nil {
		t.Error("it ended, and has no startTime")
	}
	f.untilJob("waits", "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	f.wantPodsEver(0)
	f.edit("waits", map[string]any{"parallelism": 1})
	f.kubelet.play(everySucceeds)
	f.untilComplete("waits", 1, 0)
}

func TestPodsOfAnIndexedJobKnowTheirIndex_JOB_39_JOB_40_JOB_41_JOB_42_JOB_43_TRK_01(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), withFinalizer(foreignFinalizer), func(s *batchv1.JobSpec) {
		s.Template.Labels = map[string]string{"team": "blue"}
		s.Template.Spec.Subdomain = "workers"
		s.Template.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "none"}}
	}))
	for _, pod := range f.untilActive(2) {
		index := strconv.Itoa(int(history.IndexOf(pod)))
		owner := pod.OwnerReferences[0]
		for what, pair := range map[string][2]string{
			"generateName": {pod.GenerateName, "a-" + index + "-"},
			"hostname":     {pod.Spec.Hostname, "a-" + index},
			"subdomain":    {pod.Spec.Subdomain, "workers"},
			"index label":  {pod.Labels[batchv1.JobCompletionIndexAnnotation], index},
			"own label":    {pod.Labels["team"], "blue"},
			"job name":     {pod.Labels[batchv1.JobNameLabel], "a"},
			"owner":        {owner.APIVersion + " " + owner.Kind + " " + owner.Name, "batch/v1 Job a"},
		} {
			if pair[0] != pair[1] {
				t.Errorf("pod of index %s: %s is %q, want %q", index, what, pair[0], pair[1])
			}
		}
		if !ptr.Deref(owner.Controller, false) || !ptr.Deref(owner.BlockOwnerDeletion, false) {
			t.Errorf("the owner reference is %+v", owner)
		}
		if want := []string{foreignFinalizer, batchv1.JobTrackingFinalizer}; !slices.Equal(pod.Finalizers, want) {
			t.Errorf("the finalizers are %v, want %v", pod.Finalizers, want)
		}
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if len(c.Env) != 1 || c.Env[0].Name != "JOB_COMPLETION_INDEX" {
				t.Errorf("container %s has the variables %v", c.Name, c.Env)
			}
		}
	}
}
