package checker

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// creation is the creation of a pod.
type creation struct {
	*Checker
	h *History
	m sim.Commit
}

// created checks S5, S6, S8 and S9 when the controller has created a pod.
func (c creation) created() {
	job, pod := c.h.Job, c.m.NewPod
	switch {
	case !c.isOurs(job):
		c.Violate("S8", "pod %s is created in a Job that is not ours", pod.Name)
	case c.m.Late():
		return // The process is gone, so this is no longer its decision.
	case c.knowsEnd(c.m.By):
		c.Violate("S9", "pod %s is created in a Job that is about to end", pod.Name)
	case wantsPodGroup(job):
		c.Violate("S9", "pod %s is created without the group that its Job asks for", pod.Name)
	case !c.h.suspendedSince.IsZero() && ptr.Deref(job.Spec.Suspend, false) && !c.recent(c.h.suspendedSince):
		c.Violate("S9", "pod %s is created in a suspended Job", pod.Name)
	}
	if !c.othersWrote(c.m.By) {
		c.bounds()
	}
	if c.features().perIndex(&job.Spec) {
		c.indexCreated(pod)
		return
	}
	n, last := c.failures(c.m.By)
	c.waited(pod, n, last)
}

// wantsPodGroup reports whether the Job asks to schedule or disrupt its pods as a group, for which no pods are created
// (JOB-64).
func wantsPodGroup(job *batchv1.Job) bool {
	s := job.Spec.Scheduling
	if s == nil || job.Spec.Template.Spec.SchedulingGroup != nil {
		return false
	}
	gang := s.SchedulingPolicy != nil && s.SchedulingPolicy.Gang != nil
	together := s.DisruptionMode != nil && s.DisruptionMode.All != nil
	near := s.SchedulingConstraints != nil && len(s.SchedulingConstraints.Topology) > 0
	return gang || together || near || len(s.ResourceClaims) > 0
}

// knowsEnd reports whether a process must know that the Job is about to end. A process that stored this itself without
// getting a response must not create pods either: it sees all of them, unless another process released some or another
// client changed some.
func (c creation) knowsEnd(process int) bool {
	stored := c.h.EndingBy == process && c.alone() && !c.h.Tampered()
	return !c.h.EndingSince.IsZero() && (stored || !c.recent(c.h.EndingSince))
}

// bounds checks S5 and S6: no more pods than allowed, and one per index, under one of the specs that the process may
// have seen.
func (c creation) bounds() {
	problem := ""
	for _, v := range c.possible(c.h) {
		running, terminating := c.running(v.spec)
		limit := c.bound(c.h, v.spec)
		// A terminating pod may occupy the place of a failed index (PRP-07).
		if running <= limit+min(terminating, failedIndexes(c.h, v.spec)) && running <= max(limit, int(*v.spec.Parallelism)) {
			problem = ""
			break
		}
		problem = fmt.Sprintf("%d pods run, and %d may", running, limit)
	}
	if problem != "" {
		c.Violate("S5", "%s", problem)
	}
	index := history.IndexOf(c.m.NewPod)
	if twins := c.twins(); len(twins) > 1 {
		c.Violate("S6", "index %d has pods %v", index, twins)
	}
	if ended, _ := c.endedIndexes(c.h, c.knownStatus(c.h), &c.h.Job.Spec, everyone); index != reconcile.NoIndex && ended.Contains(index) {
		c.Violate("S6", "pod %s is created for index %d, which has ended", c.m.NewPod.Name, index)
	}
}

// running counts the pods that take a place and that the creating process must have seen, and how many of them are
// terminating.
func (c creation) running(spec *batchv1.JobSpec) (running, terminating int) {
	for _, l := range c.h.Order {
		if c.unseen(l, c.m) || !selects(c.h.Job, l.Pod) || !c.takesRoom(spec, l) {
			continue // A pod that is not selected is released at the same time.
		}
		running++
		if l.terminating() {
			terminating++
		}
	}
	return running, terminating
}

// twins returns the names of the other pods that block a new pod's index and that its creator must have seen: running
// pods, and terminating pods if every spec that the creator may have seen has podReplacementPolicy Failed (PRP-08).
func (c creation) twins() (names []string) {
	index := history.IndexOf(c.m.NewPod)
	for _, l := range c.h.Order {
		runs := !slices.ContainsFunc(c.possible(c.h), func(v specVersion) bool { return !c.takesRoom(v.spec, l) })
		if index != reconcile.NoIndex && l.index() == index && runs && !c.unseen(l, c.m) && selects(c.h.Job, l.Pod) {
			names = append(names, l.Pod.Name)
		}
	}
	return names
}

func failedIndexes(h *History, spec *batchv1.JobSpec) int {
	failed, _ := indexset.ParseTolerant(ptr.Deref(h.Job.Status.FailedIndexes, ""), ptr.Deref(spec.Completions, 0))
	return failed.Len()
}

// bound returns how many pods may run: parallelism, or the remaining completions if that is less. The controller may
// have missed a pod that has just succeeded, unless it is recorded.
func (c *Checker) bound(h *History, spec *batchv1.JobSpec) int {
	return min(int(*spec.Parallelism), c.remaining(h, c.knownStatus(h), spec, func(l *Life) bool { return !c.recent(l.endedAt) }))
}

// everyone accepts all successes, whether the controller saw them or not.
func everyone(*Life) bool { return true }

// remaining returns how many successes, or indexes, a Job still needs. Successes that are not in the status count if
// known accepts them. Without completions, there is no limit before the first success.
func (c *Checker) remaining(h *History, status *batchv1.JobStatus, spec *batchv1.JobSpec, known func(*Life) bool) int {
	done := int(status.Succeeded) + len(history.UncountedSucceeded(status))
	if history.IsIndexed(spec) {
		stored, seen := c.endedIndexes(h, status, spec, known)
		done = stored.Union(seen).Len()
	} else {
		for _, l := range h.Order {
			if l.endedWell() && !h.recorded[l.Pod.UID] && known(l) {
				done++
			}
		}
	}
	switch {
	case spec.Completions != nil:
		return max(0, int(*spec.Completions)-done) // Pods that were deleted by force may succeed after their replacements.
	case done > 0:
		return 0
	}
	return math.MaxInt
}

// endedIndexes returns the indexes in range that the status has as completed or failed, and the indexes that pods
// accepted by known completed.
func (c *Checker) endedIndexes(h *History, status *batchv1.JobStatus, spec *batchv1.JobSpec, known func(*Life) bool) (stored, seen indexset.Set) {
	completions := ptr.Deref(spec.Completions, 0)
	stored, _ = indexset.ParseTolerant(status.CompletedIndexes, completions)
	if c.features().perIndex(spec) {
		failed, _ := indexset.ParseTolerant(ptr.Deref(status.FailedIndexes, ""), completions)
		stored = stored.Union(failed)
	}
	var succeeded []int32
	for _, l := range h.Order {
		if l.endedWell() && history.InRange(spec, l.index()) && known(l) {
			succeeded = append(succeeded, l.index())
		}
	}
	return stored, indexset.Of(succeeded...)
}

// failures returns the number of failures since the last success that a process must have seen, and the time of the last
// one (JOB-18, D-13).
func (c creation) failures(by int) (n int, last time.Time) {
	var success time.Time
	for _, l := range c.h.Order {
		for _, ended := range []time.Time{l.endedAt, l.finishedAt(), l.deletedSooner()} { // They differ if another client changed the pod.
			if ended = ended.Truncate(time.Second); l.succeeded && ended.After(success) {
				success = ended
			}
		}
	}
	for _, l := range c.h.Order {
		failed := l.failedAt.Truncate(time.Second)
		// If another client took the pod from the Job, or the selector no longer matches it, its failure does not count
		// (TRK-25).
		if !c.mustKnow(l, by) || l.expired || !failed.After(success) || l.taken || !selects(c.h.Job, l.Pod) {
			continue
		}
		n++
		if failed.After(last) {
			last = failed
		}
	}
	return n, last
}

// mustKnow reports whether a process must know that the pod failed: it saw the failure, or the pod still shows it. If
// there are two processes, the other one may have released the pod.
func (c creation) mustKnow(l *Life, by int) bool {
	early := c.recent(l.SeenAt) && !l.Known[by]
	return !l.failedAt.IsZero() && !l.doubtful && !l.tampered && !early && (l.witness() || c.alone() && l.SeenAt.After(c.LostAt))
}

// backoffAfter returns the wait after n failures (JOB-18, BLI-22).
func backoffAfter(n int) time.Duration {
	return min(10*time.Second<<min(n-1, 10), 10*time.Minute)
}

// waited checks S9: no retry earlier than 10s·2^(n-1), at most 10 minutes, after the last of n failures.
func (c creation) waited(pod *corev1.Pod, n int, last time.Time) {
	if n > 0 && c.world.Now().Before(last.Add(backoffAfter(n)-c.slack())) {
		c.Violate("S9", "pod %s is created %v after the last of %d failures", pod.Name, c.world.Now().Sub(last), n)
	}
}

// indexCreated checks a pod of a Job with backoffLimitPerIndex (KEP-3850): the pod carries the number of all failures of
// its index (BLI-03, BLI-04), is created after the index's own back-off (BLI-22), and never for a failed index (BLI-13).
func (c creation) indexCreated(pod *corev1.Pod) {
	var total, least tally
	var before *Life
	var others []tally
	for _, l := range c.h.Order {
		if l.index() != history.IndexOf(pod) || l.Pod.UID == pod.UID || !c.mayHaveFailed(l, c.possible(c.h)...) {
			continue
		}
		ignored := c.features().ignored(c.h.Job, l.Pod)
		total.add(1, ignored)
		if l.expired {
			continue // A process that never saw the index out of range may continue its count.
		}
		var t tally
		counted, ignoredBefore := l.failures()
		t.counted, t.ignored = int64(counted), int64(ignoredBefore)
		t.add(1, ignored)
		if others = append(others, t); c.showsFailures(l) && (before == nil || t.sum() > least.sum()) {
			before, least = l, t
		}
	}
	n := least.sum()
	for _, t := range others {
		if before != nil && t.sum() >= n { // If an index has two pods, the new pod may replace either.
			least = tally{min(least.counted, t.counted), min(least.ignored, t.ignored)}
		}
	}
	c.counts(pod, least, total)
	if before == nil || before.tampered {
		return
	}
	c.waited(pod, int(n), before.failedAt.Truncate(time.Second))
	if c.h.regatedAt.IsZero() && c.failsIndex(c.h.Job, before) {
		c.Violate("S6", "pod %s is created for an index that pod %s has failed", pod.Name, before.Pod.Name)
	}
}

// showsFailures reports whether the failed pod still shows how often its index failed, so that the controller must know.
func (c creation) showsFailures(l *Life) bool {
	return !l.failedAt.IsZero() && !c.recent(l.SeenAt) && !l.gone && !l.doubtful && Tracked(l.Pod) && !c.h.recorded[l.Pod.UID]
}

// tally counts the failures of an index, by whether a rule ignored them.
type tally struct{ counted, ignored int64 }

func (t *tally) add(n int64, ignored bool) {
	if ignored {
		t.ignored += n
	} else {
		t.counted += n
	}
}

func (t *tally) sum() int64 { return t.counted + t.ignored }

// counts compares the failure counts of a new pod with the Checker's own: at least the failures that pods still show, at
// most all failures. The two differ only if a scale-down, a suspension or a user removed a pod.
func (c creation) counts(pod *corev1.Pod, least, most tally) {
	var reported tally
	reported.counted = int64(rules.CountIn(pod, batchv1.JobIndexFailureCountAnnotation))
	reported.ignored = int64(rules.CountIn(pod, batchv1.JobIndexIgnoredFailureCountAnnotation))
	_, has := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]
	_, hasIgnored := pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation]
	attempt, _ := strconv.Atoi(pod.Annotations[controller.AttemptAnnotation])
	switch {
	case !has || hasIgnored && reported.ignored == 0:
		c.Violate("BLI-03", "pod %s has annotations %v", pod.Name, pod.Annotations)
	case int64(attempt) != min(reported.sum()+1, math.MaxInt32):
		c.Violate("BLI-04", "pod %s is attempt %d after %d failures", pod.Name, attempt, reported.sum())
	case !c.h.regatedAt.IsZero() || c.h.Tampered():
	case reported.counted < least.counted || reported.counted > most.counted || reported.ignored < least.ignored || reported.ignored > most.ignored:
		c.Violate("BLI-04", "pod %s is told of %+v failures, there were %+v to %+v", pod.Name, reported, least, most)
	}
}
