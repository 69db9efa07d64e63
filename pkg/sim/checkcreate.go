package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// created holds S5, S6, S8 and S9 when the controller has created a pod.
func (c *Checker) created(h *history, pod *corev1.Pod) {
	job, now := h.job, c.world.Now()
	switch ending := !h.endingSince.IsZero() && (h.endingByUs || now.Sub(h.endingSince) > c.lag()); {
	case !c.isOurs(job):
		c.violate("S8", "pod %s is created in a Job that is not ours", pod.Name)
	case ending:
		c.violate("S9", "pod %s is created in a Job that is about to end", pod.Name)
	case !h.suspendedSince.IsZero() && ptr.Deref(job.Spec.Suspend, false) && now.Sub(h.suspendedSince) > c.lag():
		c.violate("S9", "pod %s is created in a suspended Job", pod.Name)
	}
	if now.Sub(h.meddledAt) > c.lag() {
		c.bounds(h, pod)
	}
	if c.perIndex(job) {
		c.indexCreated(h, pod)
		return
	}
	n, last := c.failures(h)
	c.waited(pod, n, last)
}

// bounds is S5 and S6: not more pods than may run, and one of an index.
func (c *Checker) bounds(h *history, pod *corev1.Pod) {
	running, twins := 0, []string{}
	index, selector := indexOf(pod), selectorOf(h.job)
	for _, l := range h.order {
		switch {
		case !selector.Matches(labels.Set(l.pod.Labels)):
			// Let go of at the same time.
		case c.takesRoom(h, l):
			running++
			if l.active() && index != reconcile.NoIndex && l.index() == index {
				twins = append(twins, l.pod.Name)
			}
		}
	}
	if limit := c.bound(h); running > limit {
		c.violate("S5", "%d pods run, and %d may", running, limit)
	}
	if len(twins) > 1 {
		c.violate("S6", "index %d has running pods %v", index, twins)
	}
	if ended, _ := c.endedIndexes(h); index != reconcile.NoIndex && ended.Contains(index) {
		c.violate("S6", "pod %s is created for index %d, which has ended", pod.Name, index)
	}
}

// bound is how many pods may run: parallelism, or what completions leave.
func (c *Checker) bound(h *history) int {
	job := h.job
	limit := int(*job.Spec.Parallelism)
	if c.world.Now().Sub(h.editedAt) <= c.lag() {
		return max(limit, int(h.parallelismThen))
	}
	if job.Spec.Completions == nil {
		return limit
	}
	return min(limit, c.remaining(h))
}

// remaining is how many successes, or indexes, a Job with completions still waits for.
func (c *Checker) remaining(h *history) int {
	done := 0
	if isIndexed(&h.job.Spec) {
		stored, seen := c.endedIndexes(h)
		done = stored.Union(seen).Len()
	} else {
		for _, l := range h.order {
			if l.endedWell() {
				done++
			}
		}
	}
	return int(*h.job.Spec.Completions) - done
}

// endedIndexes are the indexes in range that completed or failed as the status says,
// and those that completed as their pods show.
func (c *Checker) endedIndexes(h *history) (stored, seen indexset.Set) {
	completions := ptr.Deref(h.job.Spec.Completions, 0)
	stored, _ = indexset.ParseTolerant(h.job.Status.CompletedIndexes, completions)
	if c.perIndex(h.job) {
		failed, _ := indexset.ParseTolerant(ptr.Deref(h.job.Status.FailedIndexes, ""), completions)
		stored = stored.Union(failed)
	}
	var succeeded []int32
	for _, l := range h.order {
		if l.endedWell() && inRange(h.job, l.index()) {
			succeeded = append(succeeded, l.index())
		}
	}
	return stored, indexset.Of(succeeded...)
}

// failures counts the failures since the last success that the controller must know
// of, and says when the last of them was (JOB-18, D-13).
func (c *Checker) failures(h *history) (n int, last time.Time) {
	var success time.Time
	for _, l := range h.order {
		if ended := l.endedAt.Truncate(time.Second); l.succeeded && ended.After(success) {
			success = ended
		}
	}
	for _, l := range h.order {
		failed := l.failedAt.Truncate(time.Second)
		if !c.mustKnow(l) || l.expired || !failed.After(success) {
			continue
		}
		n++
		if failed.After(last) {
			last = failed
		}
	}
	return n, last
}

// mustKnow says that the controller must know that the pod failed: it saw it, or anybody
// can see it now.
func (c *Checker) mustKnow(l *life) bool {
	late := c.world.Now().Sub(l.seenAt) <= c.lag() && !l.known
	return !l.failedAt.IsZero() && !l.tampered && !late && (l.witness() || l.seenAt.After(c.lostAt))
}

// backoffAfter is the wait after n failures (JOB-18, BLI-22).
func backoffAfter(n int) time.Duration {
	return min(10*time.Second<<min(n-1, 10), 10*time.Minute)
}

// waited is S9: no retry earlier than 10s·2^(n-1) after the last of n failures, 10 min
// at most.
func (c *Checker) waited(pod *corev1.Pod, n int, last time.Time) {
	if n > 0 && c.world.Now().Before(last.Add(backoffAfter(n))) {
		c.violate("S9", "pod %s is created %v after the last of %d failures", pod.Name, c.world.Now().Sub(last), n)
	}
}

// indexCreated holds what is special to backoffLimitPerIndex (KEP-3850): the pod knows
// of all failures of its index (BLI-03, BLI-04), comes after the index's own back-off
// (BLI-22), and not at all once the index has failed (BLI-13).
func (c *Checker) indexCreated(h *history, pod *corev1.Pod) {
	var total, least tally
	var before *life
	for _, l := range h.order {
		if !l.failedOf(pod) {
			continue
		}
		ignored := c.ignored(h.job, l.pod)
		total.add(1, ignored)
		if !c.tells(h, l) {
			continue
		}
		var t tally
		t.counted, t.ignored = l.failures()
		t.add(1, ignored)
		if before == nil || t.sum() > least.sum() {
			before, least = l, t
		}
	}
	c.counts(h, pod, least, total)
	if before == nil {
		return
	}
	c.waited(pod, int(least.sum()), before.failedAt.Truncate(time.Second))
	if !before.tampered && !h.regated && c.failsIndex(h.job, before) {
		c.violate("S6", "pod %s is created for an index that pod %s has failed", pod.Name, before.pod.Name)
	}
}

// failedOf says that the pod failed, and was another of the same index.
func (l *life) failedOf(pod *corev1.Pod) bool {
	return l.index() == indexOf(pod) && l.pod.UID != pod.UID && !l.failedAt.IsZero() && !l.expired
}

// tells says that the failed pod still tells how often its index has failed, and that the
// controller must know of it.
func (c *Checker) tells(h *history, l *life) bool {
	return c.world.Now().Sub(l.seenAt) > c.lag() && !l.gone && tracked(l.pod) && !h.recorded[l.pod.UID]
}

// tally counts the failures of an index.
type tally struct{ counted, ignored int32 }

func (t *tally) add(n int32, ignored bool) {
	if ignored {
		t.ignored += n
	} else {
		t.counted += n
	}
}

func (t *tally) sum() int32 { return t.counted + t.ignored }

// counts compares what a new pod is told of its index with the Checker's own count:
// at least the failures that the pods still tell of, at most all there ever were. The
// two differ only if a pod was removed by a scale-down, a suspension, or a user.
func (c *Checker) counts(h *history, pod *corev1.Pod, least, most tally) {
	var told tally
	told.counted = countIn(pod, batchv1.JobIndexFailureCountAnnotation)
	told.ignored = countIn(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
	_, has := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]
	_, hasIgnored := pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation]
	attempt, _ := strconv.Atoi(pod.Annotations[controller.AttemptAnnotation])
	switch {
	case !has || hasIgnored && told.ignored == 0:
		c.violate("BLI-03", "pod %s has annotations %v", pod.Name, pod.Annotations)
	case attempt != int(told.sum())+1:
		c.violate("BLI-04", "pod %s is attempt %d after %d failures", pod.Name, attempt, told.sum())
	case h.regated:
	case told.counted < least.counted || told.counted > most.counted || told.ignored < least.ignored || told.ignored > most.ignored:
		c.violate("BLI-04", "pod %s is told of %+v failures, there were %+v to %+v", pod.Name, told, least, most)
	}
}

// expectation is something that has to happen until it is due.
type expectation struct {
	due  time.Time
	what string
}

func (e *expectation) postpone(by time.Duration) {
	if !e.due.IsZero() {
		e.due = e.due.Add(by)
	}
}

// set keeps the earlier moment of what was expected before.
func (e *expectation) set(due time.Time, what string) {
	if due.IsZero() || e.due.IsZero() || e.what != what || due.Before(e.due) {
		e.due, e.what = due, what
	}
}

// manyIndexes is how many indexes or pods make it too slow to ask after every write
// what has to happen next.
const manyIndexes = 200

// expect is L5, together with passing: where a pod may start it does, whatever else
// waits (BLI-24), and a deadline ends the Job, both in time.
func (c *Checker) expect(h *history) {
	job := h.job
	if c.idle(h) || len(h.order) > manyIndexes || ptr.Deref(job.Spec.Completions, 0) > manyIndexes {
		h.creation.set(time.Time{}, "")
		h.deadline.set(time.Time{}, "")
		return
	}
	failures := 0
	for _, l := range h.order {
		if !l.failedAt.IsZero() {
			failures++
		}
	}
	h.creation.set(c.patience(c.startable(h)), fmt.Sprintf("a pod is created after %d others and %d failures", len(h.order), failures))
	var deadline time.Time
	if seconds, start := job.Spec.ActiveDeadlineSeconds, job.Status.StartTime; seconds != nil && start != nil && *seconds < 1<<31 {
		deadline = start.Add(time.Duration(*seconds) * time.Second)
	}
	h.deadline.set(c.patience(deadline), fmt.Sprintf("the deadline of %s fires", deadline.Format(time.TimeOnly)))
}

// idle says that nothing has to happen to a Job, because of what it is.
func (c *Checker) idle(h *history) bool {
	return h.gone || !c.isOurs(h.job) || h.job.DeletionTimestamp != nil || ptr.Deref(h.job.Spec.Suspend, false) || !h.endingSince.IsZero()
}

// patience is when something must have happened that may happen from a moment on:
// after a batch period, the shortest timer, a late event and a number of calls.
func (c *Checker) patience(from time.Time) time.Time {
	if from.IsZero() {
		return from
	}
	if now := c.world.Now(); from.Before(now) {
		from = now
	}
	return from.Add(3*time.Second + 2*c.world.Lag + 500*c.world.Latency)
}

// passing is called before the clock moves on.
func (c *Checker) passing(to time.Time) {
	for _, h := range c.order {
		for _, e := range []*expectation{&h.creation, &h.deadline} {
			switch {
			case e.due.IsZero() || !e.due.Before(to):
			case c.world.Now().Before(c.late):
				e.due = c.patience(c.late)
			default:
				c.violate("L5", "%s: %s, until %.3fs", h.job.Name, e.what, e.due.Sub(c.world.begun).Seconds())
				e.due = time.Time{}
			}
		}
	}
}

// startable is from when on a further pod can run, as late as anybody could compute
// it; zero if none can for now.
func (c *Checker) startable(h *history) time.Time {
	job := h.job
	if !c.hasRoom(h) {
		return time.Time{}
	}
	if !isIndexed(&job.Spec) {
		return c.latest(h, func(*life) bool { return true })
	}
	var first time.Time
	stored, seen := c.endedIndexes(h)
	for index := range *job.Spec.Completions {
		if stored.Contains(index) || seen.Contains(index) || c.busy(h, index) {
			continue
		}
		from := c.latest(h, func(l *life) bool { return !c.perIndex(job) || l.index() == index })
		if first.IsZero() || from.Before(first) {
			first = from
		}
	}
	return first
}

// hasRoom says that the Job may have one more pod.
func (c *Checker) hasRoom(h *history) bool {
	taken, succeeded := 0, false
	for _, l := range h.order {
		if l.tampered {
			return false // Who knows what was seen of it.
		}
		if c.takesRoom(h, l) {
			taken++
		}
		succeeded = succeeded || l.succeeded
	}
	slots := int(*h.job.Spec.Parallelism)
	if h.job.Spec.Completions == nil {
		return taken < slots && !succeeded
	}
	return taken < min(slots, c.remaining(h))
}

func (c *Checker) takesRoom(h *history, l *life) bool {
	return l.active() || l.terminating() && c.replacesFailedOnly(h.job)
}

// busy says that an index has a pod, or is about to be declared failed.
func (c *Checker) busy(h *history, index int32) bool {
	return slices.ContainsFunc(h.order, func(l *life) bool {
		if l.index() != index {
			return false
		}
		return c.takesRoom(h, l) || c.perIndex(h.job) && !l.expired && c.failsIndex(h.job, l)
	})
}

// latest is the end of the longest back-off that the failures of some pods can cause.
func (c *Checker) latest(h *history, of func(*life) bool) time.Time {
	n, last := 0, time.Time{}
	for _, l := range h.order {
		if !of(l) || !l.failed && l.deletedAt.IsZero() {
			continue
		}
		n++
		for _, t := range []time.Time{l.deletedAt, l.endedAt} {
			if t.After(last) {
				last = t
			}
		}
	}
	if n == 0 {
		return c.world.Now()
	}
	return last.Add(backoffAfter(n))
}
