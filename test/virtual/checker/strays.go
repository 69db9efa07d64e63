package checker

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// freesStrays reports whether the pod has no controller and ours releases such pods: it replaces the built-in
// controller, or it created the pod and the pod names no Job.
func (c *Checker) freesStrays(pod *corev1.Pod) bool {
	_, made := pod.Annotations[controller.AttemptAnnotation]
	nobodys := made && pod.Labels[batchv1.ControllerUidLabel] == ""
	return (c.world.Controller.ReplaceBuiltin || nobodys) && metav1.GetControllerOfNoCopy(pod) == nil
}

// freesStray checks S7 and S8 for such a pod: no Job may adopt it, and the release requires the version that was seen.
func (c writing) freesStray(pod *corev1.Pod) {
	if c.ref.ResourceVersion == "" {
		c.Violate("S7", "pod %s, which nobody controls, is let go whatever happens to it", pod.Name)
	}
	if job := c.adopterOf(pod); job != nil && !c.recent(c.jobs[job.UID].Specs[0].At) {
		c.Violate("S8", "pod %s is let go, and %s may adopt it", pod.Name, job.Name)
	}
}

// freesClaimed reports whether a pod without a controller is released, at the version that was seen, because the Job in
// its (edited) label does not exist.
func (c writing) freesClaimed(pod *corev1.Pod) bool {
	h := c.jobs[c.job.UID]
	return metav1.GetControllerOfNoCopy(pod) == nil && pod.Labels[batchv1.ControllerUidLabel] == string(c.job.UID) &&
		(h == nil || h.Gone) && c.ref.ResourceVersion != ""
}

// adopterOf returns a Job of any controller that may adopt a pod without a controller, or nil.
func (c *Checker) adopterOf(pod *corev1.Pod) *batchv1.Job {
	for _, name := range slices.Sorted(maps.Keys(c.world.Store.Jobs())) {
		job := c.world.Store.Jobs()[name]
		if pod.DeletionTimestamp == nil && job.DeletionTimestamp == nil && !history.IsFinished(job) && selects(job, pod) {
			return job
		}
	}
	return nil
}

// strayHeld checks L2 if ours replaces the built-in controller: a pod without a controller that no Job may adopt does
// not hold the tracking finalizer.
func (c *Checker) strayHeld() {
	for _, name := range slices.Sorted(maps.Keys(c.world.Store.Pods())) {
		if pod := c.world.Store.Pods()[name]; c.freesStrays(pod) && Tracked(pod) && c.adopterOf(pod) == nil {
			c.Violate("L2", "pod %s holds the finalizer, and has no Job", name)
		}
	}
}
