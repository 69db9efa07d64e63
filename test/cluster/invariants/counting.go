package invariants

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// maxUncounted is the largest number of UIDs in a status (TRK-06).
const maxUncounted = 500

// exactlyOnce checks S1: the counters change by exactly the number of UIDs that leave uncounted, each UID once, and each
// pod has lost its finalizer. It also checks S9: the lists are bounded.
func (c *checker) exactlyOnce(l *ledger, old *batchv1.Job) {
	job := l.job
	for _, problem := range rules.CountProblems(old, job) {
		c.violate(job, "S1", "%s", problem)
	}
	for _, uid := range rules.Settled(&old.Status, &job.Status) {
		if l.counted[uid] {
			c.violate(job, "S1", "%s is counted twice", c.name(uid))
		}
		l.counted[uid] = true
		if pod := c.pods[uid]; pod != nil && !pod.gone && history.IsTracked(pod.pod) {
			c.violate(job, "S1", "%s is counted and holds its finalizer", pod.pod.Name)
		}
	}
	for _, uid := range history.UncountedFailed(&job.Status) {
		l.failed[uid] = true
	}
	uids := rules.Recorded(&job.Status)
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

// released checks the removal of a pod's finalizer, by our controllers or another one.
func (c *checker) released(l *ledger, pod *corev1.Pod) {
	switch {
	case !c.excuses.Released.Has(pod.UID):
		c.writtenAhead(l, pod)
	case !l.recorded[pod.UID]:
		delete(l.ended, pod.UID)
	}
}

// writtenAhead checks S2: a pod that has finished, or is being deleted, loses its finalizer only after its result is
// stored or no longer matters.
func (c *checker) writtenAhead(l *ledger, pod *corev1.Pod) {
	switch {
	case history.IsActive(pod), l.gone, l.job.DeletionTimestamp != nil, history.IsFinished(l.job):
	case l.recorded[pod.UID] && !l.counted[pod.UID], mayBeUncounted(l.job, pod):
	default:
		c.violate(l.job, "S2", "pod %s (%s) lost its finalizer, and its end is not recorded", pod.Name, pod.Status.Phase)
	}
}

// mayBeUncounted reports whether the pod's result may be missing from the recorded and counted UIDs.
func mayBeUncounted(job *batchv1.Job, pod *corev1.Pod) bool {
	return !history.InRange(&job.Spec, history.IndexOf(pod)) || rules.IsStoredByIndex(job, pod) || rules.EndsWithSuccess(job, pod) ||
		isIgnored(job, pod) || isIgnoredWithJob(job, pod)
}

// finished checks S3 and L2 at the end of a Job: every ended pod is counted, the counters equal the checker's, and no
// pod has a finalizer.
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
	if !history.IsIndexed(&job.Spec) {
		got += int(job.Status.Succeeded)
	}
	if want := len(l.counted); got != want {
		c.violate(job, "S3", "the counters hold %d pods, and %d were recorded", got, want)
	}
}
