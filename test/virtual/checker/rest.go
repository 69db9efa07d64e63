package checker

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// AtRest checks the invariants that hold when nothing happens anymore.
func (c *Checker) AtRest() {
	c.leftInNamespace()
	c.strayHeld()
	for _, h := range c.Order {
		switch {
		case !c.isOurs(h.Job):
		case h.Gone || history.IsFinished(h.Job):
			resting{c, h}.uncounted()
			resting{c, h}.heldForNothing()
		default:
			resting{c, h}.uncounted()
			resting{c, h}.tooMany()
			resting{c, h}.unfinished()
			resting{c, h}.heldThoughReplaced()
			resting{c, h}.wrongGauges()
		}
	}
}

// resting checks a Job in which nothing happens anymore.
type resting struct {
	*Checker
	h *History
}

// leftInNamespace checks L2 for a namespace that is being deleted: it becomes empty.
func (c *Checker) leftInNamespace() {
	store := c.world.Store
	if !store.State().Terminating {
		return
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(store.Jobs())), slices.Sorted(maps.Keys(store.Pods()))) {
		c.Violate("L2", "the namespace is being deleted, and %s is left", name)
	}
}

// unfinished checks L1: a Job that has all its successes and no running pods is finished, even if it is being deleted.
func (c resting) unfinished() {
	busy := slices.ContainsFunc(c.h.Order, func(l *Life) bool { return l.active() || l.terminating() })
	succeeded := int(c.h.Job.Status.Succeeded)
	if history.IsIndexed(&c.h.Job.Spec) { // status.succeeded may be larger: it never falls (STV-18).
		completed, _ := indexset.Parse(c.h.Job.Status.CompletedIndexes)
		succeeded = completed.Len()
	}
	switch {
	case busy || c.h.Tampered():
	case c.h.Job.Spec.Completions == nil && succeeded > 0, c.h.Job.Spec.Completions != nil && succeeded >= int(*c.h.Job.Spec.Completions):
		c.Violate("L1", "%s has its %d successes, and is not finished", c.h.Job.Name, succeeded)
	case history.IsDecided(c.h.Job):
		c.Violate("L1", "how %s ends is decided, and it is not finished", c.h.Job.Name)
	}
}

// uncounted checks S3: every pod that is recorded is counted.
func (c resting) uncounted() {
	if n := len(history.UncountedFailed(&c.h.Job.Status)) + len(history.UncountedSucceeded(&c.h.Job.Status)); n > 0 && !c.h.Gone {
		c.Violate("S3", "%d pods of %s are recorded and not counted", n, c.h.Job.Name)
	}
}

// heldForNothing checks L2: no finished pod of a Job that is finished or gone holds the
// tracking finalizer.
func (c resting) heldForNothing() {
	for _, l := range c.h.Order {
		pod := c.world.Store.PodByUID(l.Pod.UID)
		if Tracked(pod) && history.HasEnded(pod) && c.Owners[pod.UID] == c.h.Job.UID && !c.nobodys(l) {
			c.Violate("L2", "%s is finished or gone, and pod %s holds its finalizer", c.h.Job.Name, pod.Name)
		}
	}
}

// wrongGauges checks S12 at rest: the status counts the pods as they are.
func (c resting) wrongGauges() {
	active, ready, terminating := int32(0), int32(0), int32(0)
	for _, l := range c.h.Order {
		switch {
		case l.terminating():
			terminating++
		case l.ready():
			ready++
			active++
		case l.active():
			active++
		}
	}
	s := &c.h.Job.Status
	if s.Active != active || ptr.Deref(s.Ready, 0) != ready || s.Terminating != nil && *s.Terminating != terminating {
		c.Violate("S12", "at rest, active is %d, ready %d, terminating %d, and %d, %d and %d pods are",
			s.Active, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0), active, ready, terminating)
	}
}

// heldThoughReplaced checks L2 for an unfinished Job: an ended pod keeps its finalizer only while its index has no other
// pod (BLI-07).
func (c resting) heldThoughReplaced() {
	for _, l := range c.h.Order {
		pod := c.world.Store.PodByUID(l.Pod.UID)
		replaced := !c.features().perIndex(&c.h.Job.Spec) || slices.ContainsFunc(c.h.Order, func(other *Life) bool { return other.active() && other.index() == l.index() })
		if Tracked(pod) && history.HasEnded(pod) && c.Owners[pod.UID] == c.h.Job.UID && replaced && !c.nobodys(l) {
			c.Violate("L2", "pod %s has ended, and holds its finalizer", pod.Name)
		}
	}
}

// nobodys reports whether no process can know whose pod it is (TRK-22, TRK-23): no process has seen the Job control it,
// or the pod no longer names the Job; or the Job is gone, no process has seen it, and the controller did not create the
// pod.
func (c resting) nobodys(l *Life) bool {
	pod := c.world.Store.PodByUID(l.Pod.UID)
	owner := metav1.GetControllerOfNoCopy(pod)
	_, made := pod.Annotations[controller.AttemptAnnotation]
	label := pod.Labels[batchv1.ControllerUidLabel]
	labeled := made && (label == "" || label == string(c.h.Job.UID))
	named := owner != nil || label == "" || pod.Labels[batchv1.JobNameLabel] != ""
	return !slices.ContainsFunc(c.world.Processes(), func(p sim.Process) bool {
		knowsPod := owner != nil || labeled || sawPod(p, c.h, pod)
		return p.IsWorking() && knowsPod && (made && named || sawJob(p, c.h))
	})
}

// sawPod reports whether a process wrote to a pod, or its watch showed it, while the Job controlled it.
func sawPod(p sim.Process, h *History, pod *corev1.Pod) bool {
	isOf := func(m sim.Commit) bool {
		return m.NewPod != nil && m.NewPod.UID == pod.UID || m.OldPod != nil && m.OldPod.UID == pod.UID
	}
	return p.Saw(isOf, func(m sim.Commit) bool {
		return m.NewPod != nil && observe.JobUID(m.NewPod) == h.Job.UID && (p.Wrote(m) || sim.Watches(m.NewPod))
	})
}

// sawJob reports whether the watch of a process ever showed the Job.
func sawJob(p sim.Process, h *History) bool {
	isOf := func(m sim.Commit) bool {
		return m.NewJob != nil && m.NewJob.UID == h.Job.UID || m.OldJob != nil && m.OldJob.UID == h.Job.UID
	}
	return p.Saw(isOf, func(m sim.Commit) bool { return m.NewJob != nil })
}

// tooMany checks S5 and S6 at rest: a surplus pod of a second leader or of a late creation is gone by now.
func (c resting) tooMany() {
	running, kept, indexes := 0, 0, map[int32]bool{}
	for _, l := range c.h.Order {
		if !l.active() || c.h.Tampered() {
			continue
		}
		running++
		if l.unasked || c.h.Job.Spec.Completions == nil && l.JoinedAt.Before(c.h.SucceededAt) {
			kept++ // Without completions, pods that ran at the first success keep running.
		}
		if index := l.index(); index != reconcile.NoIndex && indexes[index] {
			c.Violate("S6", "at rest, index %d has two running pods", index)
		}
		indexes[l.index()] = true
	}
	if limit := c.bound(c.h, &c.h.Job.Spec); running-kept > limit {
		c.Violate("S5", "at rest, %d pods run, and %d may", running, limit+kept)
	}
}
