package integration

import (
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// selecting sets a manual selector, and matching pod labels.
func selecting(key, value string) jobOption {
	return func(s *batchv1.JobSpec) {
		s.ManualSelector = ptr.To(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		s.Template.Labels = map[string]string{key: value}
	}
}

var jobGet = calls(http.MethodGet, "jobs")

// adoptions returns the patches that make a Job the controller of a pod.
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

// storePod creates a pod, and returns it once the history contains it.
func (f *fixture) storePod(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	pod, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), pod, metav1.CreateOptions{})
	assert.NoError(f.t, err, "creating a pod")
	f.untilSeen(pod)
	return pod
}

// dropOwners removes all owners of a pod, as the garbage collector does when a Job is deleted with Orphan propagation.
func (f *fixture) dropOwners(pods ...*corev1.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		f.patchPod(pod, map[string]any{"ownerReferences": nil})
	}
}

// Pods that lose their owner, one of them also its finalizer, are adopted again: after one live read, with one patch
// each, and without replacement pods.
// Requirements: JOB-35, TRK-25
func TestPodsLoseTheirOwner(t *testing.T) {
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
