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
