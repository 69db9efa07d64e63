package integration

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

// collect does what the garbage collector does after a deletion, as far as it gets
// before anybody takes the pods' finalizers.
func (f *fixture) collect(job string, policy metav1.DeletionPropagation, pods []*corev1.Pod) {
	f.t.Helper()
	f.deleteJob(job, policy)
	if policy != metav1.DeletePropagationOrphan {
		f.deletePods(pods...)
		return
	}
	f.dropOwners(pods...)
	f.patchJob(job, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	f.until("the Job is gone", func() bool { return f.history.job(job) == nil })
}
