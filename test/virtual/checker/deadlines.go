package checker

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Expectation describes an event that must happen before it is due.
type Expectation struct {
	due  time.Time
	what string
}

func (e *Expectation) postpone(by time.Duration) {
	if !e.due.IsZero() {
		e.due = e.due.Add(by)
	}
}

// set replaces the expectation, unless the same one is already due earlier.
func (e *Expectation) set(due time.Time, what string) {
	if due.IsZero() || e.due.IsZero() || e.what != what || due.Before(e.due) {
		e.due, e.what = due, what
	}
}

// manyIndexes is the number of indexes or pods above which it is too slow to compute the expectations after every write.
const manyIndexes = 200

// progress computes the expectations for a Job.
type progress struct {
	*Checker
	h *History
}

// expect checks L5, together with passing: a pod that may start does so, whatever else waits (BLI-24), and a deadline
// ends the Job, both in time.
func (c progress) expect() {
	job := c.h.Job
	c.expectDeadline()
	if c.idle() || job.DeletionTimestamp != nil || len(c.h.Order) > manyIndexes || ptr.Deref(job.Spec.Completions, 0) > manyIndexes {
		c.h.Creation.set(time.Time{}, "")
		return
	}
	// A pod that ends after its deletion restarts its back-off.
	failures, over := 0, 0
	for _, l := range c.h.Order {
		if l.Delays() {
			failures++
			over += len(l.ends())
		}
	}
	ended, _ := c.endedIndexes(c.h, &job.Status, &job.Spec, everyone)
	c.h.Creation.set(c.patience(c.startable()), fmt.Sprintf("a pod is created of %d, after %d others, %d failures with %d ends, and %d ended indexes",
		ptr.Deref(job.Spec.Completions, 0), len(c.h.Order), failures, over, ended.Len()))
}

// expectDeadline also applies to a Job that is being deleted: another client's finalizer may wait for the Job to end.
// Without a startTime, the deadline counts from the creation.
func (c progress) expectDeadline() {
	seconds, start := c.h.Job.Spec.ActiveDeadlineSeconds, ptr.Deref(c.h.Job.Status.StartTime, c.h.Job.CreationTimestamp)
	if c.idle() || seconds == nil || *seconds >= 1<<31 || c.h.resumed() {
		c.h.Deadline.set(time.Time{}, "")
		return
	}
	deadline := start.Add(time.Duration(*seconds) * time.Second)
	c.h.Deadline.set(c.patience(deadline), fmt.Sprintf("the deadline of %s fires", deadline.Format(time.TimeOnly)))
}

// resumed reports whether the Job was suspended and has had no startTime since.
func (h *History) resumed() bool { return h.Job.Status.StartTime == nil && !h.suspendedSince.IsZero() }

// idle reports whether no progress is expected from a Job, because of its state.
func (c progress) idle() bool {
	return c.h.Gone || !c.isOurs(c.h.Job) || ptr.Deref(c.h.Job.Spec.Suspend, false) || !c.h.EndingSince.IsZero()
}

// patience returns the time by which an event must have happened that may happen from the given time on: after a batch
// period, the shortest timer, a late watch event and some calls.
func (c *Checker) patience(from time.Time) time.Time {
	if from.IsZero() {
		return from
	}
	if now := c.world.Now(); from.Before(now) {
		from = now
	}
	return from.Add(3*time.Second + 2*max(c.world.Lag, c.slowest) + 500*c.world.Latency + 25*c.callTime() + c.slack())
}

// passing reports overdue expectations before the clock advances.
func (c *Checker) passing(to time.Time) {
	for _, h := range c.Order {
		for _, e := range []*Expectation{&h.Creation, &h.Deadline} {
			switch {
			case e.due.IsZero() || !e.due.Before(to):
			case c.world.Now().Before(c.Late):
				e.due = c.patience(c.Late)
			case progress{c, h}.inSync():
				e.due = c.patience(c.world.Now())
			default:
				c.Violate("L5", "%s: %s, until %.3fs", h.Job.Name, e.what, (c.world.Elapsed() + e.due.Sub(c.world.Now())).Seconds())
				e.due = time.Time{}
			}
		}
	}
}

// inSync reports whether a process is in the middle of a sync of the Job: it will carry out its plan, and then plan
// again.
func (c progress) inSync() bool {
	return slices.ContainsFunc(c.world.Processes(), func(p sim.Process) bool { return p.Syncs(c.h.Job.UID) })
}

// startable returns the latest time that any process could compute for the start of another pod; zero if no pod can
// start now, or if a process counts from the time at which it first saw a failure.
func (c progress) startable() time.Time {
	job, places := c.h.Job, c.places()
	if places <= 0 || wantsPodGroup(job) || slices.ContainsFunc(c.h.Order, isUnreported) || slices.ContainsFunc(c.h.Order, endIsUnknown) {
		return time.Time{}
	}
	if !history.IsIndexed(&job.Spec) {
		return c.latest(func(*Life) bool { return true })
	}
	var first time.Time
	stored, seen := c.endedIndexes(c.h, &job.Status, &job.Spec, everyone)
	for index := range *job.Spec.Completions {
		if stored.Contains(index) || seen.Contains(index) || c.busy(index) {
			continue
		}
		from := c.latest(func(l *Life) bool { return !c.features().perIndex(&job.Spec) || l.index() == index })
		if first.IsZero() || from.Before(first) {
			first = from
		}
		// An index keeps its place during a short back-off. Whether it is short for a process is unknown: the times here are the
		// latest that any process may compute.
		if from.After(c.world.Now()) {
			places--
		}
		if places == 0 {
			break
		}
	}
	return first
}

// isUnreported reports whether the pod failed without reporting how its containers ended. A podFailurePolicy waits for
// that, and starts over after a crash, so the length of the wait is unknown.
func isUnreported(l *Life) bool {
	return l.Pod.Status.Phase == corev1.PodFailed && slices.ContainsFunc(l.Pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil
	})
}

// endIsUnknown reports whether the pod failed and its status does not show when.
func endIsUnknown(l *Life) bool {
	return l.Pod.Status.Phase == corev1.PodFailed && observe.Pod(l.Pod).EndUnknown
}

// places returns how many more pods the Job may have.
func (c progress) places() int {
	taken := 0
	for _, l := range c.h.Order {
		if l.tampered {
			return 0 // The controller may have seen any of its versions.
		}
		if c.takesRoom(&c.h.Job.Spec, l) {
			taken++
		}
	}
	return min(int(*c.h.Job.Spec.Parallelism), c.remaining(c.h, &c.h.Job.Status, &c.h.Job.Spec, everyone)) - taken
}

func (c *Checker) takesRoom(spec *batchv1.JobSpec, l *Life) bool {
	return l.active() || l.terminating() && c.features().replacesFailedOnly(spec)
}

// busy reports whether an index has a pod, or is about to be recorded as failed.
func (c progress) busy(index int32) bool {
	return slices.ContainsFunc(c.h.Order, func(l *Life) bool {
		if l.index() != index {
			return false
		}
		return c.takesRoom(&c.h.Job.Spec, l) || c.features().perIndex(&c.h.Job.Spec) && !l.expired && c.failsIndex(c.h.Job, l)
	})
}

// Delays reports whether a process that missed the pod's release may count it as a failure that delays other pods.
func (l *Life) Delays() bool { return l.Failed || !l.deletedAt.IsZero() }

// ends returns the times from which a back-off may count. A shorter grace period moves the apparent time of the deletion
// request.
func (l *Life) ends() (out []time.Time) {
	out = []time.Time{l.deletedAt, l.endedAt}
	if l.Pod.DeletionTimestamp != nil {
		if requested := deletionRequested(l.Pod); requested.After(l.deletedAt) {
			out = append(out, requested)
		}
	}
	return slices.DeleteFunc(out, time.Time.IsZero)
}

// latest returns the end of the longest back-off that the failures of the selected pods can cause.
func (c progress) latest(of func(*Life) bool) time.Time {
	n, last := 0, time.Time{}
	for _, l := range c.h.Order {
		if !of(l) || !l.Delays() {
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
