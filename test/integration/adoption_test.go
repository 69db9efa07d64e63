package integration

import (
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// selecting makes a Job whose selector, and labels of pods, were written by hand.
func selecting(key, value string) jobOption {
	return func(s *batchv1.JobSpec) {
		s.ManualSelector = ptr.To(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		s.Template.Labels = map[string]string{key: value}
	}
}

var jobGet = calls(http.MethodGet, "jobs")

// adoptions are the patches that make a Job the controller of a pod.
func adoptions(w *wire) []call { return w.recorded(podPatch.holding(`"controller":true`)) }

// createPod creates a pod, without a controller unless a change adds one.
func (f *fixture) createPod(labels map[string]string, changes ...func(*corev1.Pod)) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bare-", Labels: labels},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: containerName, Image: "none"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return f.storePod(pod)
}

// storePod creates a pod, and returns it once the history has it.
func (f *fixture) storePod(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	pod, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatalf("creating a pod: %v", err)
	}
	f.untilSeen(pod)
	return pod
}

// dropOwners takes away all owners of a pod, as the garbage collector does when a Job
// is deleted with Orphan propagation.
func (f *fixture) dropOwners(pods ...*corev1.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		f.patchPod(pod, map[string]any{"ownerReferences": nil})
	}
}

// untilOwned waits until the Job controls the pod for the first time, and tracks it.
func (f *fixture) untilOwned(pod *corev1.Pod, job *batchv1.Job) {
	f.t.Helper()
	f.until("the Job controls the pod", func() bool {
		for _, v := range f.history.sorted() {
			if v.pod != nil && v.pod.UID == pod.UID && isOwnedBy(v.pod, job) && history.IsTracked(v.pod) {
				return true
			}
		}
		return false
	})
}

// Pods that lose their owner, and one the finalizer too, are the Job's again: after one
// live read, with one patch each, and without any pod in their place.
func TestPodsLoseTheirOwner_JOB_35_TRK_25(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := f.create(newJob(completions(3), parallelism(3)))
	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 3, ready: 3})
	sync := p.wire.hold(statusPut)
	f.kubelet.succeed(pods[2])
	f.until("a sync is under way", func() bool { return sync.count() > 0 })
	f.dropOwners(pods[0])
	f.patchPod(pods[1], map[string]any{"ownerReferences": nil, "finalizers": nil})
	sync.lift()
	f.until("the pods are adopted", func() bool { return len(adoptions(p.wire)) == 2 })
	for _, pod := range pods[:2] {
		now := f.history.pod(pod.UID)
		f.untilPods(1, "the Job's again", func(pod *corev1.Pod) bool { return pod.UID == now.UID && isOwnedBy(pod, job) && history.IsTracked(pod) })
		owner := metav1.GetControllerOf(f.history.pod(pod.UID))
		if owner.APIVersion != "batch/v1" || owner.Kind != "Job" || owner.Name != "a" || !ptr.Deref(owner.BlockOwnerDeletion, false) {
			t.Errorf("the owner is %+v", owner)
		}
	}
	for _, c := range adoptions(p.wire) {
		for _, part := range []string{`"uid":"` + string(job.UID), `"finalizers":["` + batchv1.JobTrackingFinalizer + `"]`, `"metadata":{"uid":"`} {
			if !strings.Contains(string(c.body), part) {
				t.Errorf("the patch %s does not hold %s", c.body, part)
			}
		}
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 3, 0)
	f.wantPodsEver(3)
	if n := len(p.wire.recorded(jobGet.named("a"))); n < 1 || n > 2 {
		t.Errorf("%d live reads of the Job for two adoptions", n)
	}
}

// A pod that was there before the Job counts for it, one that comes later is adopted
// too, and the surplus goes.
func TestBarePodsAreAdopted_JOB_35(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.createPod(map[string]string{"app": "x"})
	other := f.createPod(map[string]string{"app": "y"})
	f.startController()
	job := f.create(newJob(selecting("app", "x"), completions(2), parallelism(1)))
	f.untilOwned(first, job)
	f.untilCounts("a", counts{active: 1})
	f.wantPodsEver(2)
	f.kubelet.run(first)
	f.untilCounts("a", counts{active: 1, ready: 1})

	late := f.createPod(map[string]string{"app": "x"})
	f.untilOwned(late, job)
	f.until("the surplus is gone", func() bool { return f.history.pod(late.UID) == nil })
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if pod.UID == other.UID {
			return ""
		}
		return corev1.PodSucceeded
	})
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(4)
	if pod := f.history.pod(other.UID); metav1.GetControllerOf(pod) != nil || history.IsTracked(pod) {
		t.Errorf("the other pod was touched: %+v", pod.ObjectMeta)
	}
}

// A new Job takes over the pods of one that was deleted with Orphan propagation, as the
// documentation of manualSelector describes.
func TestNewJobTakesOverPods_JOB_35_TRK_20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	old := f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.deleteJob("a", metav1.DeletePropagationOrphan)
	f.dropOwners(pods...)
	f.patchJob("a", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	f.untilReleased()
	job := f.create(named("b", newJob(selecting(batchv1.ControllerUidLabel, string(old.UID)), completions(2), parallelism(2))))
	for _, pod := range pods {
		f.untilOwned(pod, job)
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("b", 2, 0)
	f.wantPodsEver(2)
}

// The cache does not know yet that the Job is gone, or is another: its pods, which have
// no owner anymore, are not adopted, and none is created in their place.
func TestJobIsGoneBeforeAdoption_JOB_35_JOB_37(t *testing.T) {
	t.Parallel()
	for name, recreate := range map[string]bool{"gone": false, "created anew": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(2), parallelism(2)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			p.wire.freeze(watches("jobs"))
			f.deleteJob("a", metav1.DeletePropagationOrphan)
			f.patchJob("a", map[string]any{"metadata": map[string]any{"finalizers": nil}})
			f.until("the Job is gone", func() bool { return f.history.job("a") == nil })
			if recreate {
				f.create(newJob(managedBy(otherController)))
			}
			f.dropOwners(pods...)
			f.until("the Job is looked for, and again", func() bool { return len(p.wire.recorded(jobGet.named("a"))) > 1 })
			if list := adoptions(p.wire); len(list) > 0 {
				t.Errorf("a Job that is gone adopts pods: %s", list[0].body)
			}
			p.wire.thaw()
			f.untilReleased()
			f.wantPodsEver(2)
		})
	}
}

// Nothing is taken from others, nor from the deleted, nor for a Job that ends.
func TestPodsOfOthersAreNotAdopted_JOB_37_TRK_23(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// The test creates pods in the name of the Job.
	f.tolerated = []string{"S5", "TRK-01"}
	p := f.startController()
	job := f.create(newJob(completions(1)))
	f.untilActive(1)
	labels := job.Spec.Template.Labels
	var pods []*corev1.Pod
	for _, owner := range []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: ptr.To(true)},
		{APIVersion: "batch.example.com/v1", Kind: "Job", Name: "a", UID: job.UID, Controller: ptr.To(true)},
		{APIVersion: "batch/v1", Kind: "Job", Name: "a", UID: "other", Controller: ptr.To(true)},
	} {
		pods = append(pods, f.createPod(labels, func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{owner} }))
	}
	deleting := f.createPod(map[string]string{"app": "x"}, func(pod *corev1.Pod) { pod.Finalizers = []string{foreignFinalizer} })
	f.deletePods(deleting)
	f.labelPod(deleting, batchv1.ControllerUidLabel, string(job.UID))
	finished := f.create(named("finished", newJob(completions(1))))
	f.kubelet.succeed(f.untilPods(1, "of the second Job", func(pod *corev1.Pod) bool { return isOwnedBy(pod, finished) })...)
	f.untilComplete("finished", 1, 0)
	pods = append(pods, deleting, f.createPod(finished.Spec.Template.Labels))

	f.create(named("later", newJob(completions(1))))
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if pod.GenerateName == "bare-" {
			return ""
		}
		return corev1.PodSucceeded
	})
	f.untilComplete("a", 1, 0)
	f.untilComplete("later", 1, 0)
	if list := adoptions(p.wire); len(list) > 0 {
		t.Errorf("adopted: %s", list[0].body)
	}
	for _, pod := range pods {
		if len(p.wire.recorded(anyWrite.named(pod.Name))) > 0 {
			t.Errorf("pod %s was written", pod.Name)
		}
	}
}

// A pod that is relabeled is released in one patch, which leaves others' finalizers on;
// it is replaced. Labeled as before it is taken back, and its replacement, which has
// not come as far, goes.
func TestPodIsRelabeled_JOB_36_TRK_25(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := f.create(newJob(indexed(2), withFinalizer(foreignFinalizer)))
	f.untilActive(2)
	pod := f.pods(ofIndex(0))[0]
	f.kubelet.run(f.pods(history.IsActive)...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.labelPod(pod, batchv1.ControllerUidLabel, "nobody")
	f.untilActive(3)
	f.untilCounts("a", counts{active: 2, ready: 1})
	f.until("the history shows that the pod was let go", func() bool { return !history.IsTracked(f.history.pod(pod.UID)) })
	now := f.history.pod(pod.UID)
	if len(now.OwnerReferences) > 0 || len(now.Finalizers) != 1 || now.DeletionTimestamp != nil {
		t.Errorf("the pod is %+v", now.ObjectMeta)
	}
	if n := len(p.wire.recorded(podPatch.named(pod.Name))); n != 1 {
		t.Errorf("%d patches", n)
	}
	rival := f.pods(func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending })[0]
	f.labelPod(pod, batchv1.ControllerUidLabel, string(job.UID))
	f.untilCounts("a", counts{active: 2, ready: 2, terminating: 1})
	f.setFinalizers(rival)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.until("the history shows the adoption", func() bool { return isOwnedBy(f.history.pod(pod.UID), job) })
	if len(adoptions(p.wire)) != 1 {
		t.Errorf("adoptions %+v", adoptions(p.wire))
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(3)
}

// A Job that is deleted neither adopts nor lets go.
func TestDeletedJobKeepsItsPods_JOB_37(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := f.create(newJob(completions(2), parallelism(2), onNode))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	release := p.wire.hold(podPatch)
	f.deleteJob("a", metav1.DeletePropagationForeground)
	f.labelPod(pods[0], batchv1.ControllerUidLabel, "nobody")
	f.dropOwners(pods[1])
	bare := f.createPod(job.Spec.Template.Labels)
	release.lift()
	f.until("the pod has lost its finalizer", func() bool { return !history.IsTracked(f.history.pod(pods[0].UID)) })
	if pod := f.history.pod(pods[0].UID); !isOwnedBy(pod, job) {
		t.Errorf("the owners are %v", pod.OwnerReferences)
	}
	f.patchJob("a", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	f.untilReleased()
	if list := adoptions(p.wire); len(list) > 0 || len(p.wire.recorded(anyWrite.named(bare.Name))) > 0 {
		t.Errorf("adopted: %+v", list)
	}
}
