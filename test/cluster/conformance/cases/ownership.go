package cases

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var ownership = []suite.Case{
	{Name: "manual-selector", Title: "With manualSelector, pods have the labels of the template, and the selector is kept",
		Source: "API: JobSpec.manualSelector", Requirements: []string{"JOB-44"}, Run: manualSelector},
	{Name: "adopts-pods", Title: "A Job adopts pods without a controller that match its selector, and they count",
		Source: "KEP-2307, Pod adoption", Requirements: []string{"JOB-35", "TRK-25"}, Run: adoptsPods},
	{Name: "releases-pods", Title: "A Job releases a pod that no longer matches its selector, and replaces it",
		Source: "KEP-2307, Pod adoption", Requirements: []string{"JOB-36", "TRK-25"}, Run: releasesPods},
	{Name: "leaves-pods-of-others", Title: "A pod that has another controller is not adopted, even if it matches the selector",
		Source: "API: JobSpec.selector", Requirements: []string{"JOB-37", "TRK-23"}, Run: leavesPodsOfOthers},
	{Name: "takes-over-pods", Title: "A Job with a selector of its own takes over the pods of a Job that was deleted as an orphan",
		Source: "API: JobSpec.manualSelector", Requirements: []string{"JOB-35", "TRK-20"}, Run: takesOverPods},
}

// selecting sets a manual selector on the Job.
func selecting(t *suite.T) suite.Change {
	return func(job *batchv1.Job) {
		job.Spec.ManualSelector = ptr.To(true)
		job.Spec.Selector = &metav1.LabelSelector{MatchLabels: selected(t)}
		for key, value := range selected(t) {
			job.Spec.Template.Labels[key] = value
		}
	}
}

func selected(t *suite.T) map[string]string {
	return map[string]string{"conformance.batchjob.dev/selected": t.Name()}
}

func manualSelector(t *suite.T) {
	j := t.Create(selecting(t))
	pod := j.UntilRunning(1)[0]
	for key, value := range selected(t) {
		suite.Equal(t, "label "+key, value, pod.Labels[key])
	}
	t.End(0, pod)
	wantCounts(t, j.UntilComplete(), 1, 0)
	suite.Equal(t, "the number of labels that the selector has", 1, len(j.Now().Spec.Selector.MatchLabels))
}

func adoptsPods(t *suite.T) {
	pod := t.CreatePod("orphan", selected(t))
	j := t.Create(selecting(t), all(2))
	t.UntilPod(pod, "is controlled by the Job", func(pod *corev1.Pod) bool { return history.JobOf(pod) == j.UID() })
	t.UntilPod(pod, "has the tracking finalizer", history.IsTracked)
	t.End(0, j.UntilRunning(2)...)
	wantCounts(t, j.UntilComplete(), 2, 0)
}

func releasesPods(t *suite.T) {
	j := t.Create()
	pod := j.UntilRunning(1)[0]
	t.PatchPod(pod, `{"metadata":{"labels":{"`+batchv1.ControllerUidLabel+`":"other","controller-uid":"other"}}}`)
	t.UntilPod(pod, "has no controller", func(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod) == nil })
	t.UntilPodReleased(pod)
	next := j.UntilRunning(1)[0]
	suite.Equal(t, "the Job has another pod", true, next.UID != pod.UID)
	t.End(0, next)
	wantCounts(t, j.UntilComplete(), 1, 0)
}

func leavesPodsOfOthers(t *suite.T) {
	owner, err := t.Client.CoreV1().ConfigMaps(t.Namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: t.Name()},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a ConfigMap succeeds", "%v", err)
	}
	pod := t.CreatePod("owned", selected(t), metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: ptr.To(true),
	})
	j := t.Create(selecting(t))
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 0)
	t.Fence()
	now, _ := t.Pod(pod)
	suite.Equal(t, "the controller of the pod", owner.UID, metav1.GetControllerOf(now).UID)
	suite.Equal(t, "the pod has the tracking finalizer", false, history.IsTracked(now))
}

func takesOverPods(t *suite.T) {
	first := t.CreateNamed("-first", all(2))
	running := first.UntilRunning(2)
	first.Delete(metav1.DeletePropagationOrphan)
	first.UntilGone()
	second := t.Create(all(2), func(job *batchv1.Job) {
		labels := map[string]string{batchv1.ControllerUidLabel: string(first.UID())}
		job.Spec.ManualSelector, job.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: labels}
		job.Spec.Template.Labels = labels
	})
	for _, pod := range running {
		t.UntilPod(pod, "is controlled by the new Job", func(pod *corev1.Pod) bool { return history.JobOf(pod) == second.UID() && history.IsTracked(pod) })
	}
	t.End(0, running...)
	wantCounts(t, second.UntilComplete(), 2, 0)
	wantPods(t, second, 2)
}
