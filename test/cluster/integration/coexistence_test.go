//go:build builtin

package integration

import (
	"maps"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// builtinManager is kube-controller-manager's name in managedFields.
const builtinManager = "kube-controller-manager"

// Both controllers run, and each writes its own Jobs only. This test does not run in parallel with others, because
// kube-controller-manager works on all namespaces.
// Requirements: MGB-01, MGB-05, MGB-06, MGB-13, MGB-15, TRK-22, TRK-35
func TestBeside_EachControllerKeepsToItsJobs(t *testing.T) {
	startBuiltin(t, "job-controller", "garbage-collector-controller", "ttl-after-finished-controller")
	t.Run("each its own Jobs", func(t *testing.T) {
		t.Parallel()
		eachItsOwnJobs(t)
	})
	t.Run("finalizers stay as long as the Job", func(t *testing.T) {
		t.Parallel()
		finalizersStayAsLongAsTheJob(t)
	})
	t.Run("finished Jobs expire", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.startController()
		f.create(newJob(completions(1), func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = ptr.To(int32(0)) }))
		f.kubelet.play(everySucceeds)
		f.until("the Job and its pod are gone", func() bool { return f.history.job("a") == nil && len(f.pods(anyPod)) == 0 })
		f.wantPodsEver(1)
	})
}

func eachItsOwnJobs(t *testing.T) {
	f := newFixture(t)
	f.startController()
	f.kubelet.play(firstOfEachFails)
	f.create(newJob(indexed(3)))
	other := f.create(named("other", newJob(managedBy(otherController), indexed(3))))
	f.create(named("builtin", newJob(managedBy(""), indexed(3))))
	f.create(named("reserved", newJob(managedBy(batchv1.JobControllerName), indexed(3))))

	f.untilComplete("a", 3, 1)
	// The built-in controller would wait 10 s after a failure; here no pod of its Jobs fails.
	f.untilComplete("builtin", 3, 0)
	f.untilComplete("reserved", 3, 0)
	f.wantUntouched(other)
	for job, want := range map[string][]string{
		"a":        {"kubectl-batchjob-controller", "kubelet", "user"},
		"builtin":  {builtinManager, "kubelet", "user"},
		"reserved": {builtinManager, "kubelet", "user"},
		"other":    {"user"},
	} {
		if got := f.managers(job); !slices.Equal(got, want) {
			t.Errorf("Job %s and its pods were written by %v, want %v", job, got, want)
		}
	}
}

// firstOfEachFails makes the first attempt of index 1 of our Job fail.
func firstOfEachFails(pod *corev1.Pod, _ int) corev1.PodPhase {
	if pod.Labels[batchv1.JobNameLabel] == "a" && history.IndexOf(pod) == 1 && pod.Annotations[controller.AttemptAnnotation] == "1" {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// managers returns the field managers that ever wrote the named Job or its pods.
func (f *fixture) managers(job string) []string {
	writers := map[string]bool{}
	for _, v := range f.history.sorted() {
		if v.job != nil && v.job.Name != job || v.pod != nil && v.pod.Labels[batchv1.JobNameLabel] != job {
			continue
		}
		for _, entry := range v.object().GetManagedFields() {
			writers[entry.Manager] = true
		}
	}
	return slices.Sorted(maps.Keys(writers))
}

// While our controller is stopped, the built-in one leaves our pods alone; when their Job is deleted, it releases them.
func finalizersStayAsLongAsTheJob(t *testing.T) {
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(3), parallelism(2)))
	pods := f.untilActive(2)
	p.stop()
	f.kubelet.succeed(pods[0])

	// When a later Job is complete, the built-in controller has seen all of this.
	f.create(named("builtin", newJob(managedBy(""), completions(1))))
	f.kubelet.succeed(f.untilPods(1, "of the built-in controller", func(pod *corev1.Pod) bool {
		return pod.Labels[batchv1.JobNameLabel] == "builtin"
	})...)
	f.untilComplete("builtin", 1, 0)
	for _, pod := range pods {
		if now := f.history.pod(pod.UID); now == nil || !history.IsTracked(now) {
			t.Errorf("pod %s of our Job has lost its finalizer", pod.Name)
		}
	}
	f.deleteJob("a", metav1.DeletePropagationBackground)
	f.until("our pods are gone", func() bool {
		return f.history.pod(pods[0].UID) == nil && f.history.pod(pods[1].UID) == nil
	})
}
