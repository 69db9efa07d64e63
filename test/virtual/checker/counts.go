package checker

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// counting is a write of a status, checked for its counts.
type counting struct {
	*Checker
	h *History
	m sim.Commit
}

// exactlyOnce checks S1: the counters increase by exactly the number of UIDs that leave uncounted, each UID once, and
// only after its pod lost the finalizer. It also checks S9: the lists are bounded.
func (c counting) exactlyOnce() {
	for _, problem := range rules.CountProblems(c.m.OldJob, c.m.NewJob) {
		c.Violate("S1", "%s", problem)
	}
	for _, uid := range rules.Settled(&c.m.OldJob.Status, &c.m.NewJob.Status) {
		if c.h.counted[uid] {
			c.Violate("S1", "%s is counted twice", uid)
		}
		c.h.counted[uid] = true
		// A pod that another client took from the Job while it is being deleted cannot come back.
		if pod := c.world.Store.PodByUID(uid); Tracked(pod) && (pod.DeletionTimestamp == nil || observe.JobUID(pod) == c.h.Job.UID) {
			c.Violate("S1", "%s is counted and holds its finalizer", pod.Name)
		}
	}
	recorded := rules.Recorded(&c.m.NewJob.Status)
	for _, uid := range recorded {
		if c.h.counted[uid] {
			c.Violate("S1", "%s is recorded again", uid)
		}
	}
	if len(recorded) > c.world.Controller.Limits.MaxUncounted {
		c.Violate("S9", "%d uncounted UIDs", len(recorded))
	}
}

// gauges checks S12: a status claims no more active or ready pods than are stored, except for pods that have just
// changed, because a client that waits for the pods must find them.
func (c counting) gauges() {
	if !c.m.Ours() || c.m.Late() {
		return
	}
	active, ready := int32(0), int32(0)
	for _, l := range c.h.Order {
		if l.active() || !l.WasActive.IsZero() && c.recent(l.WasActive) {
			active++
		}
		if l.ready() || !l.WasReady.IsZero() && c.recent(l.WasReady) {
			ready++
		}
	}
	if s := &c.m.NewJob.Status; s.Active > active || ptr.Deref(s.Ready, 0) > ready {
		c.Violate("S12", "active %d and ready %d are claimed, and %d and %d pods are", s.Active, ptr.Deref(s.Ready, 0), active, ready)
	}
}

// recorded checks S3 for every newly recorded UID: the pod belongs to the Job, ended as recorded, and no rule ignores
// its failure.
func (c counting) recorded() {
	old, next := &c.m.OldJob.Status, &c.m.NewJob.Status
	for _, uid := range rules.Recorded(next) {
		c.h.recorded[uid] = true
		if l := c.h.Lives[uid]; l != nil {
			l.knows(c.m.By)
		}
	}
	for _, uid := range history.UncountedFailed(next) {
		if l := c.h.Lives[uid]; l != nil && !l.lost {
			succeeded := l.endedWell()
			if l.lost = true; succeeded {
				c.h.SucceededAt = c.h.firstSuccess()
			}
		}
	}
	if c.h.StoredAt.IsZero() && int(next.Succeeded)+len(history.UncountedSucceeded(next)) > 0 {
		c.h.StoredAt = c.world.Now()
	}
	if !c.m.Ours() {
		return
	}
	for _, uid := range rules.Added(history.UncountedFailed(old), history.UncountedFailed(next)) {
		c.recordedFailed(c.m.NewJob, uid, c.h.Lives[uid])
	}
	for _, uid := range rules.Added(history.UncountedSucceeded(old), history.UncountedSucceeded(next)) {
		if l := c.h.Lives[uid]; l == nil || !l.succeeded {
			c.Violate("S3", "%s is recorded as succeeded, and did not succeed", uid)
		}
	}
}

func (c counting) recordedFailed(job *batchv1.Job, uid types.UID, l *Life) {
	switch {
	case l == nil:
		c.Violate("S3", "%s is recorded as failed, and no pod of the Job", uid)
	case !l.Failed && l.deletedAt.IsZero() && !history.Is(job, batchv1.JobFailureTarget):
		c.Violate("S3", "pod %s is recorded as failed, and did not fail", l.Pod.Name)
	case l.Failed && !l.tampered && c.knownToEnd(l) && c.features().ignored(job, l.Pod):
		c.Violate("S3", "pod %s is recorded as failed, and a rule ignores its failure", l.Pod.Name)
	}
	if l != nil {
		l.counted = !c.features().failsJob(job, l.Pod)
	}
	if l != nil && !l.deletedAt.IsZero() && c.recent(l.endedAt) && l.deletedAt.Before(l.failedAt) {
		l.failedAt = l.deletedAt // The controller only saw the deletion, which counts as a failure now.
	}
}

// knownToEnd reports whether the pod ended and the controller must know it.
func (c *Checker) knownToEnd(l *Life) bool {
	return !l.endedAt.IsZero() && !c.recent(l.endedAt)
}

// release is a write by which a pod may lose its finalizer.
type release struct {
	*Checker
	h *History
	m sim.Commit
}

// writeAhead checks S2: a finished pod loses its finalizer only after its result is stored or no longer matters.
func (c release) writeAhead() {
	pod := c.m.OldPod
	lost := history.HasEnded(pod) && Tracked(pod) && !Tracked(c.m.NewPod)
	if !c.m.Ours() || !lost || c.isOutOfRange(c.h, pod) {
		return
	}
	job := c.storedJob(c.h)
	if l := c.h.Lives[pod.UID]; l != nil {
		l.ignored = job != nil && c.features().ignored(job, pod)
	}
	switch {
	case job == nil || over(job, pod):
	case !c.settled(job, pod) && !c.settledBefore(job, pod):
		c.Violate("S2", "pod %s lost its finalizer, and its end is not recorded", pod.Name)
	case c.undecided(job, pod):
		// The pod would no longer show why the Job fails (PFP-08, PFP-18).
		c.Violate("S2", "pod %s lost its finalizer, and that a rule fails the Job for it is not stored", pod.Name)
	}
}

// settled reports whether the pod's result is stored or does not count.
func (c release) settled(job *batchv1.Job, pod *corev1.Pod) bool {
	return stored(job, pod) || c.features().ignored(job, pod)
}

// settledBefore reports whether the pod was settled before another client changed how it ended, a change that the
// controller may have missed.
func (c release) settledBefore(job *batchv1.Job, pod *corev1.Pod) bool {
	return slices.ContainsFunc(c.h.Lives[pod.UID].tampers, func(v podVersion) bool {
		return history.HasEnded(v.pod) && c.recent(v.until) && (c.settled(job, v.pod) || over(job, v.pod))
	})
}

// undecided reports whether a rule fails the Job because of the pod, and the Job has no condition yet. What is recorded
// stays: a failure that counted when it was recorded still does after a gate is switched (ADR 0012).
func (c release) undecided(job *batchv1.Job, pod *corev1.Pod) bool {
	return c.features().failsJob(job, pod) && !history.IsDecided(job) && !c.h.Lives[pod.UID].tampered && !c.h.Lives[pod.UID].counted
}

// isOutOfRange reports whether the pod's index is out of range, or was when the controller last saw it: before an edit
// of the Job, or before another client changed the index.
func (c *Checker) isOutOfRange(h *History, pod *corev1.Pod) bool {
	was := func(v podVersion) bool {
		return c.recent(v.until) && !history.InRange(&h.Job.Spec, history.IndexOf(v.pod))
	}
	l := h.Lives[pod.UID]
	return !history.InRange(&h.Job.Spec, history.IndexOf(pod)) || l != nil && (l.expired && c.recent(h.editedAt()) || slices.ContainsFunc(l.tampers, was))
}

// over reports whether the pod's result no longer matters to the Job (TRK-24, TRK-29, SUC-14).
func over(job *batchv1.Job, pod *corev1.Pod) bool {
	return job.DeletionTimestamp != nil || history.IsFinished(job) || rules.EndsWithSuccess(job, pod) ||
		!history.InRange(&job.Spec, history.IndexOf(pod)) || !selects(job, pod)
}

// stored reports whether the status contains the result of the pod or of its index.
func stored(job *batchv1.Job, pod *corev1.Pod) bool {
	return slices.Contains(rules.Recorded(&job.Status), pod.UID) || rules.IsStoredByIndex(job, pod)
}

// indexes checks S6: completed and failed indexes are disjoint, each index in range keeps its state (BLI-11, BLI-12),
// and a pod accounts for each.
func (c counting) indexes() {
	job, completions := c.m.NewJob, ptr.Deref(c.m.NewJob.Spec.Completions, 0)
	completed, err := indexset.Parse(job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	if err != nil || !completed.Intersection(failed).IsEmpty() {
		c.Violate("S6", "completed %q, failed %q", job.Status.CompletedIndexes, ptr.Deref(job.Status.FailedIndexes, ""))
	}
	completedBefore, _ := indexset.ParseTolerant(c.m.OldJob.Status.CompletedIndexes, completions)
	if lost := rules.LostIndexes(c.m.OldJob, job); !lost.IsEmpty() {
		c.Violate("S6", "completed indexes %v are gone", lost)
	}
	if c.m.Ours() {
		failedBefore, _ := indexset.ParseTolerant(ptr.Deref(c.m.OldJob.Status.FailedIndexes, ""), completions)
		c.endedWhy(completed.Difference(completedBefore), failed.Difference(failedBefore))
		if lost := failedBefore.Difference(failed); !lost.IsEmpty() && c.features().perIndex(&job.Spec) {
			c.Violate("S6", "failed indexes %v are gone", lost)
		}
		c.missedIndexes(completed.Union(failed))
	}
}

// endedWhy checks that a pod accounts for each newly completed or failed index, and that failedIndexes is set exactly if
// failures count per index (BLI-10, BLI-34).
func (c counting) endedWhy(completed, failed indexset.Set) {
	if c.features().perIndex(&c.m.NewJob.Spec) != (c.m.NewJob.Status.FailedIndexes != nil) && !c.isLateFor(c.h.regatedAt) {
		c.Violate("S6", "failedIndexes is %s", QuoteOrNone(c.m.NewJob.Status.FailedIndexes))
	}
	if c.h.Tampered() {
		return
	}
	for index := range completed.Difference(rules.LeftOut(c.m.NewJob)).All() {
		if !slices.ContainsFunc(c.h.Order, func(l *Life) bool { return l.index() == index && l.succeeded }) {
			c.Violate("S6", "index %d is completed, and no pod of it succeeded", index)
		}
	}
	for index := range failed.All() {
		if !slices.ContainsFunc(c.h.Order, func(l *Life) bool {
			return l.index() == index && c.mayHaveFailed(l, specVersion{spec: &c.m.NewJob.Spec}) && rules.IsLastFailure(&c.m.NewJob.Spec, l.Pod, c.features().perIndex(&c.m.NewJob.Spec))
		}) {
			c.Violate("S6", "index %d is failed, and no failure of it was one too many", index)
		}
	}
}

// missedIndexes checks that the write that records an index's last allowed failure also adds the index to failedIndexes
// (BLI-02, BLI-33), unless the Job ends anyway.
func (c counting) missedIndexes(ended indexset.Set) {
	if history.IsDecided(c.m.NewJob) || !c.features().perIndex(&c.m.NewJob.Spec) {
		return
	}
	for _, uid := range rules.Added(history.UncountedFailed(&c.m.OldJob.Status), history.UncountedFailed(&c.m.NewJob.Status)) {
		l := c.h.Lives[uid]
		if l == nil || l.tampered || !c.h.regatedAt.IsZero() || !c.failsIndex(c.m.NewJob, l) {
			continue
		}
		// If an index has two pods, the other one may have succeeded and wait to be recorded, even if the index was out of
		// range in between.
		index := l.index()
		twin := slices.ContainsFunc(c.h.Order, func(l *Life) bool {
			return l.index() == index && (l.tampered && l.succeeded || l.Pod.Status.Phase == corev1.PodSucceeded && !l.lost && !l.gone && Tracked(l.Pod))
		})
		if history.InRange(&c.m.NewJob.Spec, index) && !ended.Contains(index) && !twin {
			c.Violate("S6", "pod %s is recorded, and index %d is not failed", l.Pod.Name, index)
		}
	}
}

// mayHaveFailed reports whether the pod failed, or looked failed to the writing process: it was being deleted under one
// of the specs, and its end came later, if at all.
func (c *Checker) mayHaveFailed(l *Life, specs ...specVersion) bool {
	if l.failedAt.IsZero() && (l.deletedAt.IsZero() || !l.endedAt.IsZero() && !c.recent(l.endedAt)) {
		return false
	}
	return !l.failedAt.IsZero() || slices.ContainsFunc(specs, func(v specVersion) bool { return !c.features().replacesFailedOnly(v.spec) })
}

// failsIndex reports whether the pod failed and its index may not fail again.
func (c *Checker) failsIndex(job *batchv1.Job, l *Life) bool {
	return !l.failedAt.IsZero() && rules.IsLastFailure(&job.Spec, l.Pod, c.features().perIndex(&job.Spec))
}

// finished checks S3 at the end of a Job: every ended pod is counted, and no pod holds its finalizer.
func (c counting) finished() {
	if !history.IsFinished(c.m.NewJob) || history.IsFinished(c.m.OldJob) {
		return
	}
	for _, l := range c.h.Order {
		if l.ended != nil && !l.tampered && !c.accounted(l) && !c.unseen(l, c.m) {
			c.Violate("S3", "pod %s ended %s and is not counted", l.Pod.Name, l.ended.Status.Phase)
		}
	}
	for _, pod := range c.world.Store.PodsOf(c.m.NewJob.UID) {
		if Tracked(pod) && !c.unseen(c.h.Lives[pod.UID], c.m) {
			c.Violate("S3", "the Job is finished, and pod %s holds its finalizer", pod.Name)
		}
	}
}

// accounted reports whether the pod's result is in the status or need not be.
func (c counting) accounted(l *Life) bool {
	if c.h.counted[l.ended.UID] || !history.InRange(&c.h.Job.Spec, history.IndexOf(l.ended)) || l.ignored || c.features().ignored(c.h.Job, l.Pod) {
		return true
	}
	if history.Is(c.h.Job, batchv1.JobComplete) && l.Failed && !l.deletedAt.IsZero() && !l.Over {
		return true // The controller may assume that the pod ended because the Job succeeded (SUC-14).
	}
	return l.succeeded && stored(c.h.Job, l.ended)
}
