package sim

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// exactlyOnce checks S1: the counters increase by exactly the UIDs that leave uncounted,
// each only once, and after its pod has lost the finalizer; and S9: the lists are
// bounded.
func (c *Checker) exactlyOnce(h *history, m Commit) {
	old, next := &m.OldJob.Status, &m.NewJob.Status
	leftFailed := c.left(h, failedUIDs(old), failedUIDs(next))
	leftSucceeded := c.left(h, succeededUIDs(old), succeededUIDs(next))
	if got := int(next.Failed - old.Failed); got != leftFailed {
		c.violate("S1", "failed moved by %d, and %d UIDs left uncounted.failed", got, leftFailed)
	}
	if isIndexed(&m.NewJob.Spec) {
		set, _ := indexset.Parse(next.CompletedIndexes)
		elastic := ptr.Equal(m.NewJob.Spec.Completions, m.NewJob.Spec.Parallelism)
		if kept := !elastic && next.Succeeded == old.Succeeded && set.Len() < int(next.Succeeded); set.Len() != int(next.Succeeded) && !kept {
			c.violate("S1", "succeeded is %d, and completedIndexes holds %d", next.Succeeded, set.Len())
		}
	} else if got := int(next.Succeeded - old.Succeeded); got != leftSucceeded {
		c.violate("S1", "succeeded moved by %d, and %d UIDs left uncounted.succeeded", got, leftSucceeded)
	}
	for _, uid := range slices.Concat(failedUIDs(next), succeededUIDs(next)) {
		if h.counted[uid] {
			c.violate("S1", "%s is recorded again", uid)
		}
	}
	limit := c.world.Controller.Limits.MaxUncounted
	if n := len(failedUIDs(next)) + len(succeededUIDs(next)); n > limit {
		c.violate("S9", "%d uncounted UIDs", n)
	}
}

// gauges checks S12: a status claims no active or ready pods that are not stored, except for
// those that have just changed: a client that waits for them must find them.
func (c *Checker) gauges(h *history, m Commit) {
	if !m.Ours() || m.Late() {
		return
	}
	active, ready := int32(0), int32(0)
	for _, l := range h.order {
		if l.active() || !l.wasActive.IsZero() && c.recent(l.wasActive) {
			active++
		}
		if l.ready() || !l.wasReady.IsZero() && c.recent(l.wasReady) {
			ready++
		}
	}
	if s := &m.NewJob.Status; s.Active > active || ptr.Deref(s.Ready, 0) > ready {
		c.violate("S12", "active %d and ready %d are claimed, and %d and %d pods are", s.Active, ptr.Deref(s.Ready, 0), active, ready)
	}
}

func failedUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Failed
}

func succeededUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Succeeded
}

func (c *Checker) left(h *history, old, next []types.UID) (n int) {
	for _, uid := range old {
		if slices.Contains(next, uid) {
			continue
		}
		n++
		if h.counted[uid] {
			c.violate("S1", "%s is counted twice", uid)
		}
		h.counted[uid] = true
		// One that somebody took from the Job while it is being deleted cannot come back.
		if pod := c.world.Store.byUID[uid]; tracked(pod) && (pod.DeletionTimestamp == nil || observe.JobUID(pod) == h.job.UID) {
			c.violate("S1", "%s is counted and holds its finalizer", pod.Name)
		}
	}
	return n
}

// recorded checks S3 for every UID that is newly recorded: the pod is the Job's, ended
// as recorded, and no rule ignores its failure.
func (c *Checker) recorded(h *history, m Commit) {
	old, next := &m.OldJob.Status, &m.NewJob.Status
	for _, uid := range slices.Concat(failedUIDs(next), succeededUIDs(next)) {
		h.recorded[uid] = true
		if l := h.lives[uid]; l != nil {
			l.knows(m.By)
		}
	}
	for _, uid := range failedUIDs(next) {
		if l := h.lives[uid]; l != nil && !l.lost {
			succeeded := l.endedWell()
			if l.lost = true; succeeded {
				h.succeededAt = h.firstSuccess()
			}
		}
	}
	if h.storedAt.IsZero() && int(next.Succeeded)+len(succeededUIDs(next)) > 0 {
		h.storedAt = c.world.Now()
	}
	if !m.Ours() {
		return
	}
	for _, uid := range added(failedUIDs(old), failedUIDs(next)) {
		c.recordedFailed(m.NewJob, uid, h.lives[uid])
	}
	for _, uid := range added(succeededUIDs(old), succeededUIDs(next)) {
		if l := h.lives[uid]; l == nil || !l.succeeded {
			c.violate("S3", "%s is recorded as succeeded, and did not succeed", uid)
		}
	}
}

func (c *Checker) recordedFailed(job *batchv1.Job, uid types.UID, l *life) {
	switch {
	case l == nil:
		c.violate("S3", "%s is recorded as failed, and no pod of the Job", uid)
	case !l.failed && l.deletedAt.IsZero() && !view(job).failureTarget:
		c.violate("S3", "pod %s is recorded as failed, and did not fail", l.pod.Name)
	case l.failed && !l.tampered && c.knownToEnd(l) && c.ignored(job, l.pod):
		c.violate("S3", "pod %s is recorded as failed, and a rule ignores its failure", l.pod.Name)
	}
	if l != nil && !l.deletedAt.IsZero() && c.recent(l.endedAt) && l.deletedAt.Before(l.failedAt) {
		l.failedAt = l.deletedAt // All that was known is its deletion, which is a failure now.
	}
}

// added returns the UIDs of a list that were not in it before.
func added(before, now []types.UID) []types.UID {
	return slices.DeleteFunc(slices.Clone(now), func(uid types.UID) bool { return slices.Contains(before, uid) })
}

// knownToEnd reports whether the pod ended, and the controller must know.
func (c *Checker) knownToEnd(l *life) bool {
	return !l.endedAt.IsZero() && !c.recent(l.endedAt)
}

// writeAhead checks S2: a finished pod loses its finalizer only when its result is
// stored, or no longer matters.
func (c *Checker) writeAhead(h *history, m Commit) {
	pod := m.OldPod
	lost := isTerminal(pod) && tracked(pod) && !tracked(m.NewPod)
	if !m.Ours() || !lost || c.isOutOfRange(h, pod) {
		return
	}
	job := c.world.Store.jobOf(h.job.Name, h.job.UID)
	if l := h.lives[pod.UID]; l != nil {
		l.ignored = job != nil && c.ignored(job, pod)
	}
	switch {
	case job == nil || c.over(job, pod):
	case !c.settled(job, pod) && !c.settledBefore(h, job, pod):
		c.violate("S2", "pod %s lost its finalizer, and its end is not recorded", pod.Name)
	case c.undecided(h, job, pod):
		// The pod would no longer show why the Job fails (PFP-08, PFP-18).
		c.violate("S2", "pod %s lost its finalizer, and that a rule fails the Job for it is not stored", pod.Name)
	}
}

// settled reports whether the end of the pod is stored, or does not count.
func (c *Checker) settled(job *batchv1.Job, pod *corev1.Pod) bool {
	return c.stored(job, pod) || c.ignored(job, pod)
}

// settledBefore reports whether that was so before somebody changed how the pod had ended, of which
// the controller may not know.
func (c *Checker) settledBefore(h *history, job *batchv1.Job, pod *corev1.Pod) bool {
	return slices.ContainsFunc(h.lives[pod.UID].tampers, func(v podVersion) bool {
		return isTerminal(v.pod) && c.recent(v.until) && (c.settled(job, v.pod) || c.over(job, v.pod))
	})
}

// undecided reports whether a rule fails the Job for the pod, and the Job has no condition yet.
func (c *Checker) undecided(h *history, job *batchv1.Job, pod *corev1.Pod) bool {
	return c.failsJob(job, pod) && !isDecided(job) && !h.lives[pod.UID].tampered
}

// isOutOfRange reports whether the pod is out of range, or was when it was last read: before its Job was edited, or somebody
// changed its index.
func (c *Checker) isOutOfRange(h *history, pod *corev1.Pod) bool {
	was := func(v podVersion) bool { return c.recent(v.until) && !inRange(&h.job.Spec, indexOf(v.pod)) }
	l := h.lives[pod.UID]
	return !inRange(&h.job.Spec, indexOf(pod)) || l != nil && (l.expired && c.recent(h.editedAt()) || slices.ContainsFunc(l.tampers, was))
}

// over reports whether the end of the pod no longer matters to the Job (TRK-24, TRK-29, SUC-14).
func (c *Checker) over(job *batchv1.Job, pod *corev1.Pod) bool {
	v := view(job)
	endedBySuccess := v.successCriteriaMet && pod.Status.Phase == corev1.PodFailed && pod.DeletionTimestamp != nil
	return job.DeletionTimestamp != nil || v.finished() || endedBySuccess || !inRange(&job.Spec, indexOf(pod)) || !selects(job, pod)
}

// stored reports whether the status has the end of the pod, or of its index.
func (c *Checker) stored(job *batchv1.Job, pod *corev1.Pod) bool {
	if slices.Contains(slices.Concat(failedUIDs(&job.Status), succeededUIDs(&job.Status)), pod.UID) {
		return true
	}
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	return pod.Status.Phase == corev1.PodSucceeded && completed.Union(failed).Contains(indexOf(pod))
}

// indexes checks S6: completed and failed indexes are disjoint, and each keeps its state
// as long as it is in range (BLI-11, BLI-12); and each has a pod that led to it.
func (c *Checker) indexes(h *history, m Commit) {
	job, completions := m.NewJob, ptr.Deref(m.NewJob.Spec.Completions, 0)
	completed, err := indexset.Parse(job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	if err != nil || !completed.Intersection(failed).IsEmpty() {
		c.violate("S6", "completed %q, failed %q", job.Status.CompletedIndexes, ptr.Deref(job.Status.FailedIndexes, ""))
	}
	completedBefore, _ := indexset.ParseTolerant(m.OldJob.Status.CompletedIndexes, completions)
	if lost := completedBefore.Difference(completed); !lost.IsEmpty() {
		c.violate("S6", "completed indexes %v are gone", lost)
	}
	if m.Ours() {
		failedBefore, _ := indexset.ParseTolerant(ptr.Deref(m.OldJob.Status.FailedIndexes, ""), completions)
		c.endedWhy(h, m, completed.Difference(completedBefore), failed.Difference(failedBefore))
		if lost := failedBefore.Difference(failed); !lost.IsEmpty() && c.perIndex(&job.Spec) {
			c.violate("S6", "failed indexes %v are gone", lost)
		}
		c.missedIndexes(h, m, completed.Union(failed))
	}
}

// endedWhy checks that a newly completed or failed index has a pod that led to it, and that
// failedIndexes is set exactly if failures count for each index (BLI-10, BLI-34).
func (c *Checker) endedWhy(h *history, m Commit, completed, failed indexset.Set) {
	if c.perIndex(&m.NewJob.Spec) != (m.NewJob.Status.FailedIndexes != nil) && !c.isLateFor(h.regatedAt) {
		c.violate("S6", "failedIndexes is %s", quoteOrNone(m.NewJob.Status.FailedIndexes))
	}
	if h.tampered() {
		return
	}
	for index := range completed.Difference(leftOut(m.NewJob)).All() {
		if !slices.ContainsFunc(h.order, func(l *life) bool { return l.index() == index && l.succeeded }) {
			c.violate("S6", "index %d is completed, and no pod of it succeeded", index)
		}
	}
	for index := range failed.All() {
		if !slices.ContainsFunc(h.order, func(l *life) bool {
			return l.index() == index && c.mayHaveFailed(l, specVersion{spec: &m.NewJob.Spec}) && c.isLastFailure(m.NewJob, l)
		}) {
			c.violate("S6", "index %d is failed, and no failure of it was one too many", index)
		}
	}
}

// leftOut returns the indexes that a retry does not run, of those that it had when it was made.
func leftOut(job *batchv1.Job) indexset.Set {
	made, _ := strconv.ParseInt(job.Annotations[reconcile.RetryCompletionsAnnotation], 10, 32)
	retried, _ := indexset.Parse(job.Annotations[reconcile.RetryIndexesAnnotation])
	return indexset.Below(int32(made)).Difference(retried)
}

// missedIndexes checks that the write that records an index's last allowed failure also
// stores that the index has failed (BLI-02, BLI-33), unless the Job ends anyway.
func (c *Checker) missedIndexes(h *history, m Commit, ended indexset.Set) {
	if isDecided(m.NewJob) || !c.perIndex(&m.NewJob.Spec) {
		return
	}
	for _, uid := range added(failedUIDs(&m.OldJob.Status), failedUIDs(&m.NewJob.Status)) {
		l := h.lives[uid]
		if l == nil || l.tampered || !h.regatedAt.IsZero() || !c.failsIndex(m.NewJob, l) {
			continue
		}
		// Of two pods of an index, the other one may have succeeded, and wait to be recorded, also if the index was out of
		// range in between.
		index := l.index()
		twin := slices.ContainsFunc(h.order, func(l *life) bool {
			return l.index() == index && (l.tampered && l.succeeded || l.pod.Status.Phase == corev1.PodSucceeded && !l.lost && !l.gone && tracked(l.pod))
		})
		if inRange(&m.NewJob.Spec, index) && !ended.Contains(index) && !twin {
			c.violate("S6", "pod %s is recorded, and index %d is not failed", l.pod.Name, index)
		}
	}
}

// mayHaveFailed reports whether the pod failed, or did as far as the process behind the present write
// knew: it was being deleted, under one of the specs, and how it ended came later, if it did.
func (c *Checker) mayHaveFailed(l *life, specs ...specVersion) bool {
	if l.failedAt.IsZero() && (l.deletedAt.IsZero() || !l.endedAt.IsZero() && !c.recent(l.endedAt)) {
		return false
	}
	return !l.failedAt.IsZero() || slices.ContainsFunc(specs, func(v specVersion) bool { return !c.replacesFailedOnly(v.spec) })
}

// failsIndex reports whether the pod failed, and its index may have no further failure.
func (c *Checker) failsIndex(job *batchv1.Job, l *life) bool {
	return !l.failedAt.IsZero() && c.isLastFailure(job, l)
}

// isLastFailure reports whether the failure of the pod is the last that its index may have.
func (c *Checker) isLastFailure(job *batchv1.Job, l *life) bool {
	switch action, _ := c.ruling(job, l.pod); action {
	case batchv1.PodFailurePolicyActionFailIndex:
		return true
	case batchv1.PodFailurePolicyActionIgnore:
		return false
	}
	counted, _ := l.failures()
	return counted >= ptr.Deref(job.Spec.BackoffLimitPerIndex, 0)
}

// finished checks S3 at the end of a Job: everything that ended is counted, nothing
// is left over.
func (c *Checker) finished(h *history, m Commit) {
	if !view(m.NewJob).finished() || view(m.OldJob).finished() {
		return
	}
	for _, l := range h.order {
		if l.ended != nil && !l.tampered && !c.accounted(h, l) && !c.unseen(l, m) {
			c.violate("S3", "pod %s ended %s and is not counted", l.pod.Name, l.ended.Status.Phase)
		}
	}
	for _, pod := range c.world.Store.PodsOf(m.NewJob.UID) {
		if tracked(pod) && !c.unseen(h.lives[pod.UID], m) {
			c.violate("S3", "the Job is finished, and pod %s holds its finalizer", pod.Name)
		}
	}
}

// accounted reports whether the end of the pod is in the status, or need not be.
func (c *Checker) accounted(h *history, l *life) bool {
	if h.counted[l.ended.UID] || !inRange(&h.job.Spec, indexOf(l.ended)) || l.ignored || c.ignored(h.job, l.pod) {
		return true
	}
	if view(h.job).complete && l.failed && !l.deletedAt.IsZero() && !l.over {
		return true // For all that is known, it ended because the Job succeeded (SUC-14).
	}
	return l.succeeded && c.stored(h.job, l.ended)
}
