package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// maxUncounted is how many UIDs a status may hold (TRK-06).
const maxUncounted = 500

// exactlyOnce checks S1: the counters change by exactly the UIDs that leave uncounted, none
// of them a second time, and each pod has lost its finalizer; and S9: the lists are
// bounded.
func (c *checker) exactlyOnce(l *ledger, old *batchv1.Job) {
	job := l.job
	failed := c.settled(l, history.UncountedFailed(old), history.UncountedFailed(job))
	succeeded := c.settled(l, history.UncountedSucceeded(old), history.UncountedSucceeded(job))
	if moved := int(job.Status.Failed - old.Status.Failed); moved != failed {
		c.violate(job, "S1", "failed moved by %d, and %d UIDs left uncounted.failed", moved, failed)
	}
	if history.IsIndexed(job) {
		c.indexesCounted(job, old)
	} else if moved := int(job.Status.Succeeded - old.Status.Succeeded); moved != succeeded {
		c.violate(job, "S1", "succeeded moved by %d, and %d UIDs left uncounted.succeeded", moved, succeeded)
	}
	for _, uid := range history.UncountedFailed(job) {
		l.failed[uid] = true
	}
	uids := slices.Concat(history.UncountedFailed(job), history.UncountedSucceeded(job))
	for _, uid := range uids {
		l.recorded[uid] = true
		if pod := c.pods[uid]; c.excuses.Released.Has(uid) && pod != nil && history.HasEnded(pod.pod) {
			l.ended[uid] = pod.pod // It counts after all.
		}
		if l.counted[uid] {
			c.violate(job, "S1", "%s is recorded, and was counted before", c.name(uid))
		}
	}
	if len(uids) > maxUncounted {
		c.violate(job, "S9", "%d uncounted UIDs", len(uids))
	}
}

// indexesCounted checks that succeeded is the number of completed indexes. It must not
// decrease when completions and parallelism are no longer equal (STV-18): then the old
// number stays.
func (c *checker) indexesCounted(job, old *batchv1.Job) {
	n, s := int32(completedIndexes(job).Len()), &job.Status
	kept := s.Succeeded == old.Status.Succeeded && n < s.Succeeded && !ptr.Equal(job.Spec.Completions, job.Spec.Parallelism)
	if n != s.Succeeded && !kept {
		c.violate(job, "S1", "succeeded is %d, and completedIndexes %q", s.Succeeded, s.CompletedIndexes)
	}
}

// settled counts the UIDs that left one of the lists.
func (c *checker) settled(l *ledger, before, now []types.UID) (n int) {
	for _, uid := range before {
		if slices.Contains(now, uid) {
			continue
		}
		n++
		if l.counted[uid] {
			c.violate(l.job, "S1", "%s is counted twice", c.name(uid))
		}
		l.counted[uid] = true
		if pod := c.pods[uid]; pod != nil && !pod.gone && history.IsTracked(pod.pod) {
			c.violate(l.job, "S1", "%s is counted and holds its finalizer", pod.pod.Name)
		}
	}
	return n
}

// released is the removal of a pod's finalizer, by our controllers or another one.
func (c *checker) released(l *ledger, pod *corev1.Pod) {
	switch {
	case !c.excuses.Released.Has(pod.UID):
		c.writtenAhead(l, pod)
	case !l.recorded[pod.UID]:
		delete(l.ended, pod.UID)
	}
}

// writtenAhead checks S2: a pod that has finished, or is being deleted, loses its
// finalizer only when its result is stored, or no longer matters.
func (c *checker) writtenAhead(l *ledger, pod *corev1.Pod) {
	switch {
	case history.IsActive(pod), l.gone, l.job.DeletionTimestamp != nil, history.IsFinished(l.job):
	case l.recorded[pod.UID] && !l.counted[pod.UID], mayBeUncounted(l.job, pod):
	default:
		c.violate(l.job, "S2", "pod %s (%s) lost its finalizer, and its end is not recorded", pod.Name, pod.Status.Phase)
	}
}

// mayBeUncounted reports whether no UID in the status stands for the end of the pod, and none
// has to.
func mayBeUncounted(job *batchv1.Job, pod *corev1.Pod) bool {
	return !history.InRange(job, pod) || isStoredByIndex(job, pod) || endsWithSuccess(job, pod) ||
		isIgnored(job, pod) || isIgnoredWithJob(job, pod)
}

// endsWithSuccess reports whether the pod was deleted because the Job has succeeded: its end
// is neither a failure nor a success (SUC-14).
func endsWithSuccess(job *batchv1.Job, pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded && history.Is(job, batchv1.JobSuccessCriteriaMet)
}

// isStoredByIndex reports whether the pod's success is in completedIndexes, or comes too late:
// an index that has failed stays failed (BLI-12).
func isStoredByIndex(job *batchv1.Job, pod *corev1.Pod) bool {
	return history.IsIndexed(job) && pod.Status.Phase == corev1.PodSucceeded &&
		completedIndexes(job).Union(failedIndexes(job)).Contains(history.IndexOf(pod))
}

// finished checks S3 and L2 at the end of a Job: everything that ended is counted,
// the counters equal the checker's, and nothing has a finalizer.
func (c *checker) finished(l *ledger, old *batchv1.Job) {
	if !history.IsDecided(old) {
		return // Reported already.
	}
	job := l.job
	for uid, pod := range l.ended {
		if !l.counted[uid] && !mayBeUncounted(job, pod) {
			c.violate(job, "S3", "pod %s ended %s and is not counted", pod.Name, pod.Status.Phase)
		}
	}
	for _, pod := range l.pods {
		if pod.isOf(job) && history.IsTracked(pod.pod) {
			c.violate(job, "L2", "the Job is finished, and pod %s holds its finalizer", pod.pod.Name)
		}
	}
	got := int(job.Status.Failed)
	if !history.IsIndexed(job) {
		got += int(job.Status.Succeeded)
	}
	if want := len(l.counted); got != want {
		c.violate(job, "S3", "the counters hold %d pods, and %d were recorded", got, want)
	}
}

func completedIndexes(job *batchv1.Job) indexset.Set {
	set, _ := indexset.Parse(job.Status.CompletedIndexes)
	return set
}

func failedIndexes(job *batchv1.Job) indexset.Set {
	set, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	return set
}
