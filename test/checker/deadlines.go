package sim

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

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

// set adds an expectation, and keeps the earlier of two moments.
func (e *expectation) set(due time.Time, what string) {
	if due.IsZero() || e.due.IsZero() || e.what != what || due.Before(e.due) {
		e.due, e.what = due, what
	}
}

// manyIndexes is how many indexes or pods make it too slow to compute after every write
// what has to happen next.
const manyIndexes = 200

// expect checks L5, together with passing: a pod that may start does so, whatever else
// waits (BLI-24), and a deadline ends the Job, both in time.
func (c *Checker) expect(h *history) {
	job := h.job
	c.expectDeadline(h)
	if c.idle(h) || job.DeletionTimestamp != nil || len(h.order) > manyIndexes || ptr.Deref(job.Spec.Completions, 0) > manyIndexes {
		h.creation.set(time.Time{}, "")
		return
	}
	// A pod that ends after its deletion begins its back-off anew.
	failures, over := 0, 0
	for _, l := range h.order {
		if l.delays() {
			failures++
			over += len(l.ends())
		}
	}
	ended, _ := c.endedIndexes(h, &job.Status, &job.Spec, everyone)
	h.creation.set(c.patience(c.startable(h)), fmt.Sprintf("a pod is created of %d, after %d others, %d failures with %d ends, and %d ended indexes",
		ptr.Deref(job.Spec.Completions, 0), len(h.order), failures, over, ended.Len()))
}

// expectDeadline also applies to a Job that is being deleted: another client's finalizer may
// wait for its end. Without a startTime, the time runs from the creation.
func (c *Checker) expectDeadline(h *history) {
	seconds, start := h.job.Spec.ActiveDeadlineSeconds, ptr.Deref(h.job.Status.StartTime, h.job.CreationTimestamp)
	if c.idle(h) || seconds == nil || *seconds >= 1<<31 || h.resumed() {
		h.deadline.set(time.Time{}, "")
		return
	}
	deadline := start.Add(time.Duration(*seconds) * time.Second)
	h.deadline.set(c.patience(deadline), fmt.Sprintf("the deadline of %s fires", deadline.Format(time.TimeOnly)))
}

// resumed reports whether the Job was suspended, and has no startTime since.
func (h *history) resumed() bool { return h.job.Status.StartTime == nil && !h.suspendedSince.IsZero() }

// idle reports whether nothing has to happen to a Job, because of what it is.
func (c *Checker) idle(h *history) bool {
	return h.gone || !c.isOurs(h.job) || ptr.Deref(h.job.Spec.Suspend, false) || !h.endingSince.IsZero()
}

// patience returns when something must have happened that may happen from a moment on:
// after a batch period, the shortest timer, a late event and a number of calls.
func (c *Checker) patience(from time.Time) time.Time {
	if from.IsZero() {
		return from
	}
	if now := c.world.Now(); from.Before(now) {
		from = now
	}
	return from.Add(3*time.Second + 2*max(c.world.Lag, c.slowest) + 500*c.world.Latency + 25*c.callTime() + c.slack())
}

// passing is called before the clock advances.
func (c *Checker) passing(to time.Time) {
	for _, h := range c.order {
		for _, e := range []*expectation{&h.creation, &h.deadline} {
			switch {
			case e.due.IsZero() || !e.due.Before(to):
			case c.world.Now().Before(c.late):
				e.due = c.patience(c.late)
			case c.inSync(h):
				e.due = c.patience(c.world.Now())
			default:
				c.violate("L5", "%s: %s, until %.3fs", h.job.Name, e.what, e.due.Sub(c.world.begun).Seconds())
				e.due = time.Time{}
			}
		}
	}
}

// inSync reports whether a process is in the middle of a sync of the Job: what it has planned is
// on its way, and it plans again then.
func (c *Checker) inSync(h *history) bool {
	return slices.ContainsFunc(c.world.processes, func(p *process) bool { return p.running[h.job.UID] })
}

// startable returns from when on another pod can run, as late as any process could compute
// it; zero if that is not possible now.
func (c *Checker) startable(h *history) time.Time {
	job := h.job
	if !c.hasRoom(h) || wantsPodGroup(job) || slices.ContainsFunc(h.order, c.isUnreported) {
		return time.Time{}
	}
	if !isIndexed(&job.Spec) {
		return c.latest(h, func(*life) bool { return true })
	}
	var first time.Time
	stored, seen := c.endedIndexes(h, &job.Status, &job.Spec, everyone)
	for index := range *job.Spec.Completions {
		if stored.Contains(index) || seen.Contains(index) || c.busy(h, index) {
			continue
		}
		from := c.latest(h, func(l *life) bool { return !c.perIndex(&job.Spec) || l.index() == index })
		if first.IsZero() || from.Before(first) {
			first = from
		}
	}
	return first
}

// isUnreported reports whether it is unknown how the pod ended. A podFailurePolicy waits for
// that, and starts over after a crash, so that the length of the wait is unknown.
func (c *Checker) isUnreported(l *life) bool {
	return l.pod.Status.Phase == corev1.PodFailed && slices.ContainsFunc(l.pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil
	})
}

// hasRoom reports whether the Job may have one more pod.
func (c *Checker) hasRoom(h *history) bool {
	taken := 0
	for _, l := range h.order {
		if l.tampered {
			return false // Who knows what was seen of it.
		}
		if c.takesRoom(&h.job.Spec, l) {
			taken++
		}
	}
	return taken < min(int(*h.job.Spec.Parallelism), c.remaining(h, &h.job.Status, &h.job.Spec, everyone))
}

func (c *Checker) takesRoom(spec *batchv1.JobSpec, l *life) bool {
	return l.active() || l.terminating() && c.replacesFailedOnly(spec)
}

// busy reports whether an index has a pod, or is about to be recorded as failed.
func (c *Checker) busy(h *history, index int32) bool {
	return slices.ContainsFunc(h.order, func(l *life) bool {
		if l.index() != index {
			return false
		}
		return c.takesRoom(&h.job.Spec, l) || c.perIndex(&h.job.Spec) && !l.expired && c.failsIndex(h.job, l)
	})
}

// delays reports whether a process that did not see the pod being released may take it for a
// failure that delays others.
func (l *life) delays() bool { return l.failed || !l.deletedAt.IsZero() }

// ends are the moments from which a back-off may run. A shorter grace period moves the moment at which the deletion
// seems to have been requested.
func (l *life) ends() (out []time.Time) {
	out = []time.Time{l.deletedAt, l.endedAt}
	if l.pod.DeletionTimestamp != nil {
		if requested := deletionRequested(l.pod); requested.After(l.deletedAt) {
			out = append(out, requested)
		}
	}
	return slices.DeleteFunc(out, time.Time.IsZero)
}

// latest returns the end of the longest back-off that the failures of the pods can cause.
func (c *Checker) latest(h *history, of func(*life) bool) time.Time {
	n, last := 0, time.Time{}
	for _, l := range h.order {
		if !of(l) || !l.delays() {
			continue
		}
		n++
		for _, t := range l.ends() {
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
