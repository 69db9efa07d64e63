package sim

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// statusWrite checks S7 and S8 for a status that the controller is about to write.
func (c *Checker) statusWrite(job *batchv1.Job) {
	if job.UID == "" || job.ResourceVersion == "" {
		c.violate("S7", "the status of %s is written without a precondition", job.Name)
	}
	if stored := c.world.Store.jobs[job.Name]; stored != nil && stored.UID == job.UID && !c.isOurs(stored) {
		c.violate("S8", "the status of %s is written, which is not ours", job.Name)
	}
}

// podWrite checks S7 and S8 for a pod that the controller is about to delete, adopt, disown or
// release: the write names the pod it means, and that is ours.
func (c *Checker) podWrite(verb string, ref reconcile.PodRef, job *batchv1.Job) {
	if ref.UID == "" {
		c.violate("S7", "%s pod %s without its UID", verb, ref.Name)
	}
	pod := c.world.Store.byUID[ref.UID]
	switch {
	case pod == nil || isVoid(ref, pod):
	case verb != "adopt" && c.recent(c.touched[pod.UID]):
		// The controller may not know yet that it has another owner.
		if h := c.jobs[c.owners[pod.UID]]; verb == "release" && h != nil {
			c.mayFinish(h, pod, ref)
		}
	case verb == "adopt":
		c.adopts(pod, job)
	case verb == "release" && c.freesStrays(pod):
		c.freesStray(pod, ref)
	case verb == "release" && c.freesClaimed(pod, ref, job):
	default:
		c.changes(verb, pod, ref, job)
	}
}

// isVoid reports whether the write is refused: another client, such as another leader, was faster.
func isVoid(ref reconcile.PodRef, pod *corev1.Pod) bool {
	return ref.ResourceVersion != "" && ref.ResourceVersion != pod.ResourceVersion
}

// changes checks S8 for a pod that has a Job.
func (c *Checker) changes(verb string, pod *corev1.Pod, ref reconcile.PodRef, job *batchv1.Job) {
	owner := c.ownerForWrite(pod)
	if h := c.jobs[owner]; h == nil || !c.isOurs(h.job) || job != nil && job.UID != owner {
		c.violate("S8", "%s pod %s, which is not ours", verb, pod.Name)
	} else if verb == "release" {
		c.mayFinish(h, pod, ref)
	}
}

// ownerForWrite returns the Job for which a pod may be written: the one that controls it, or
// the last one that did, if it will not adopt the pod, and its finalizer is still there
// (TRK-20, TRK-23).
func (c *Checker) ownerForWrite(pod *corev1.Pod) types.UID {
	if owner := observe.JobUID(pod); owner != "" || metav1.GetControllerOfNoCopy(pod) != nil {
		return owner
	}
	if h := c.jobs[c.owners[pod.UID]]; h != nil && (h.gone || h.job.DeletionTimestamp != nil || view(h.job).finished() || pod.DeletionTimestamp != nil || !selects(h.job, pod)) {
		return h.job.UID
	}
	return ""
}

// adopts checks an adoption: the selector matches the pod, and the Job is ours, exists, and is
// not being deleted (JOB-35, JOB-37).
func (c *Checker) adopts(pod *corev1.Pod, job *batchv1.Job) {
	h := c.jobs[job.UID]
	if h == nil || !c.isOurs(h.job) {
		c.violate("S8", "adopt pod %s into a Job that is not ours", pod.Name)
		return
	}
	if (h.gone || h.job.DeletionTimestamp != nil) && !c.recent(h.endingSince) {
		c.violate("S8", "adopt pod %s into a Job that is being deleted", pod.Name)
	}
	if c.recent(c.touched[pod.UID]) {
		return
	}
	if metav1.GetControllerOfNoCopy(pod) != nil && observe.JobUID(pod) != job.UID {
		c.violate("S8", "adopt pod %s, which has a controller", pod.Name)
	}
	if pod.DeletionTimestamp != nil || !selects(h.job, pod) {
		c.violate("S8", "adopt pod %s, which is being deleted or not selected", pod.Name)
	}
}

// mayFinish checks that a pod that can still finish, and that is not recorded, is released only
// as it was seen: otherwise its success could be lost (TRK-36).
func (c *Checker) mayFinish(h *history, pod *corev1.Pod, ref reconcile.PodRef) {
	over := h.gone || h.job.DeletionTimestamp != nil || view(h.job).finished() || c.isOutOfRange(h, pod)
	if !over && !isTerminal(pod) && !h.recorded[pod.UID] && ref.ResourceVersion == "" {
		c.violate("S7", "pod %s may still finish, and is let go whatever it does", pod.Name)
	}
}
