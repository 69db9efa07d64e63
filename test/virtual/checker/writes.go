package checker

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// statusWrite checks S7 and S8 for a status that the controller is about to write.
func (c *Checker) statusWrite(job *batchv1.Job) {
	if job.UID == "" || job.ResourceVersion == "" {
		c.Violate("S7", "the status of %s is written without a precondition", job.Name)
	}
	if stored := c.world.Store.Jobs()[job.Name]; stored != nil && stored.UID == job.UID && !c.isOurs(stored) {
		c.Violate("S8", "the status of %s is written, which is not ours", job.Name)
	}
}

// writing is a write of a pod that is about to happen, with the pod and the Job for which it happens.
type writing struct {
	*Checker
	ref reconcile.PodRef
	job *batchv1.Job
}

// podWrite checks S7 and S8 for a pod that the controller is about to delete, adopt, disown or release: the write names
// the pod by UID, and the pod is ours.
func (c writing) podWrite(verb string) {
	if c.ref.UID == "" {
		c.Violate("S7", "%s pod %s without its UID", verb, c.ref.Name)
	}
	pod := c.world.Store.PodByUID(c.ref.UID)
	switch {
	case pod == nil || isVoid(c.ref, pod):
	case verb != "adopt" && c.recent(c.Touched[pod.UID]):
		// The controller may not know yet that the pod has another owner.
		if h := c.jobs[c.Owners[pod.UID]]; verb == "release" && h != nil {
			c.mayFinish(h, pod)
		}
	case verb == "adopt":
		c.adopts(pod)
	case verb == "release" && c.freesStrays(pod):
		c.freesStray(pod)
	case verb == "release" && c.freesClaimed(pod):
	default:
		c.changes(verb, pod)
	}
}

// isVoid reports whether the write will be rejected because another client, such as another leader, was faster.
func isVoid(ref reconcile.PodRef, pod *corev1.Pod) bool {
	return ref.ResourceVersion != "" && ref.ResourceVersion != pod.ResourceVersion
}

// changes checks S8 for a pod that has a Job.
func (c writing) changes(verb string, pod *corev1.Pod) {
	owner := c.ownerForWrite(pod)
	if h := c.jobs[owner]; h == nil || !c.isOurs(h.Job) || c.job != nil && c.job.UID != owner {
		c.Violate("S8", "%s pod %s, which is not ours", verb, pod.Name)
	} else if verb == "release" {
		c.mayFinish(h, pod)
	}
}

// ownerForWrite returns the UID of the Job for which a pod may be written: its controller, or the last one if that will
// not adopt the pod, whose finalizer is still there (TRK-20, TRK-23).
func (c writing) ownerForWrite(pod *corev1.Pod) types.UID {
	if owner := observe.JobUID(pod); owner != "" || metav1.GetControllerOfNoCopy(pod) != nil {
		return owner
	}
	if h := c.jobs[c.Owners[pod.UID]]; h != nil && (h.Gone || h.Job.DeletionTimestamp != nil || history.IsFinished(h.Job) || pod.DeletionTimestamp != nil || !selects(h.Job, pod)) {
		return h.Job.UID
	}
	return ""
}

// adopts checks an adoption: the selector matches the pod, and the Job is ours, exists, and is
// not being deleted (JOB-35, JOB-37).
func (c writing) adopts(pod *corev1.Pod) {
	h := c.jobs[c.job.UID]
	if h == nil || !c.isOurs(h.Job) {
		c.Violate("S8", "adopt pod %s into a Job that is not ours", pod.Name)
		return
	}
	if (h.Gone || h.Job.DeletionTimestamp != nil) && !c.recent(h.EndingSince) {
		c.Violate("S8", "adopt pod %s into a Job that is being deleted", pod.Name)
	}
	if c.recent(c.Touched[pod.UID]) {
		return
	}
	if metav1.GetControllerOfNoCopy(pod) != nil && observe.JobUID(pod) != c.job.UID {
		c.Violate("S8", "adopt pod %s, which has a controller", pod.Name)
	}
	if pod.DeletionTimestamp != nil || !selects(h.Job, pod) {
		c.Violate("S8", "adopt pod %s, which is being deleted or not selected", pod.Name)
	}
}

// mayFinish checks that a pod that can still finish and is not recorded is released only at the version that was seen:
// otherwise its success could be lost (TRK-36).
func (c writing) mayFinish(h *History, pod *corev1.Pod) {
	over := h.Gone || h.Job.DeletionTimestamp != nil || history.IsFinished(h.Job) || c.isOutOfRange(h, pod)
	if !over && !history.HasEnded(pod) && !h.recorded[pod.UID] && c.ref.ResourceVersion == "" {
		c.Violate("S7", "pod %s may still finish, and is let go whatever it does", pod.Name)
	}
}
