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
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/rules"
)

// AtRest returns what is wrong when nothing happens anymore.
func (c *Checker) AtRest() {
	c.leftInNamespace()
	c.strayHeld()
	for _, h := range c.Order {
		switch {
		case !c.isOurs(h.Job):
		case h.Gone || history.IsFinished(h.Job):
			c.uncounted(h)
			c.heldForNothing(h)
		default:
			c.uncounted(h)
			c.tooMany(h)
			c.unfinished(h)
			c.heldThoughReplaced(h)
			c.wrongGauges(h)
		}
	}
}

// leftInNamespace checks L2 for a namespace that is being deleted: its deletion completes.
func (c *Checker) leftInNamespace() {
	store := c.world.Store
	if !store.State().Terminating {
		return
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(store.Jobs())), slices.Sorted(maps.Keys(store.Pods()))) {
		c.Violate("L2", "the namespace is being deleted, and %s is left", name)
	}
}

// unfinished checks L1 for a Job that has all its successes, and no running pods, whether or
// not it is being deleted.
func (c *Checker) unfinished(h *History) {
	busy := slices.ContainsFunc(h.Order, func(l *Life) bool { return l.active() || l.terminating() })
	succeeded := int(h.Job.Status.Succeeded)
	if rules.IsIndexed(&h.Job.Spec) { // The count may be larger: it never falls (STV-18).
		completed, _ := indexset.Parse(h.Job.Status.CompletedIndexes)
		succeeded = completed.Len()
	}
	switch {
	case busy || h.Tampered():
	case h.Job.Spec.Completions == nil && succeeded > 0, h.Job.Spec.Completions != nil && succeeded >= int(*h.Job.Spec.Completions):
		c.Violate("L1", "%s has its %d successes, and is not finished", h.Job.Name, succeeded)
	case history.IsDecided(h.Job):
		c.Violate("L1", "how %s ends is decided, and it is not finished", h.Job.Name)
	}
}

// uncounted checks S3: every pod that is recorded is counted.
func (c *Checker) uncounted(h *History) {
	if n := len(history.UncountedFailed(h.Job)) + len(history.UncountedSucceeded(h.Job)); n > 0 && !h.Gone {
		c.Violate("S3", "%d pods of %s are recorded and not counted", n, h.Job.Name)
	}
}

// heldForNothing checks L2: no finished pod of a Job that is finished or gone holds the
// tracking finalizer.
func (c *Checker) heldForNothing(h *History) {
	for _, l := range h.Order {
		pod := c.world.Store.PodByUID(l.Pod.UID)
		if Tracked(pod) && history.HasEnded(pod) && c.Owners[pod.UID] == h.Job.UID && !c.nobodys(h, l) {
			c.Violate("L2", "%s is finished or gone, and pod %s holds its finalizer", h.Job.Name, pod.Name)
		}
	}
}

// wrongGauges checks S12 when nothing happens anymore: the status has the pods as they are.
func (c *Checker) wrongGauges(h *History) {
	active, ready, terminating := int32(0), int32(0), int32(0)
	for _, l := range h.Order {
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
	s := &h.Job.Status
	if s.Active != active || ptr.Deref(s.Ready, 0) != ready || s.Terminating != nil && *s.Terminating != terminating {
		c.Violate("S12", "at rest, active is %d, ready %d, terminating %d, and %d, %d and %d pods are",
			s.Active, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0), active, ready, terminating)
	}
}

// heldThoughReplaced checks L2 for a Job that goes on: a pod that has ended keeps its finalizer only as
// long as its index has no other pod (BLI-07).
func (c *Checker) heldThoughReplaced(h *History) {
	for _, l := range h.Order {
		pod := c.world.Store.PodByUID(l.Pod.UID)
		replaced := !c.perIndex(&h.Job.Spec) || slices.ContainsFunc(h.Order, func(other *Life) bool { return other.active() && other.index() == l.index() })
		if Tracked(pod) && history.HasEnded(pod) && c.Owners[pod.UID] == h.Job.UID && replaced && !c.nobodys(h, l) {
			c.Violate("L2", "pod %s has ended, and holds its finalizer", pod.Name)
		}
	}
}

// nobodys reports whether no process can know whose pod it is (TRK-22, TRK-23): none has seen that the
// Job controls it, or it does not name the Job anymore; or the Job is gone, none has seen it, and the
// program did not make the pod.
func (c *Checker) nobodys(h *History, l *Life) bool {
	pod := c.world.Store.PodByUID(l.Pod.UID)
	owner := metav1.GetControllerOfNoCopy(pod)
	_, made := pod.Annotations[controller.AttemptAnnotation]
	label := pod.Labels[batchv1.ControllerUidLabel]
	labeled := made && (label == "" || label == string(h.Job.UID))
	named := owner != nil || label == "" || pod.Labels[batchv1.JobNameLabel] != ""
	return !slices.ContainsFunc(c.world.Processes(), func(p sim.Process) bool {
		knowsPod := owner != nil || labeled || c.sawPod(p, h, pod)
		return p.IsWorking() && knowsPod && (made && named || c.sawJob(p, h))
	})
}

// sawPod reports whether a process wrote to a pod, or its watch showed it, while the Job controlled it.
func (c *Checker) sawPod(p sim.Process, h *History, pod *corev1.Pod) bool {
	isOf := func(m sim.Commit) bool {
		return m.NewPod != nil && m.NewPod.UID == pod.UID || m.OldPod != nil && m.OldPod.UID == pod.UID
	}
	return p.Saw(isOf, func(m sim.Commit) bool {
		return m.NewPod != nil && observe.JobUID(m.NewPod) == h.Job.UID && (p.Wrote(m) || p.Watches(m.NewPod))
	})
}

// sawJob reports whether the watch of a process ever showed the Job.
func (c *Checker) sawJob(p sim.Process, h *History) bool {
	isOf := func(m sim.Commit) bool {
		return m.NewJob != nil && m.NewJob.UID == h.Job.UID || m.OldJob != nil && m.OldJob.UID == h.Job.UID
	}
	return p.Saw(isOf, func(m sim.Commit) bool { return m.NewJob != nil })
}

// tooMany checks S5 and S6 when nothing happens anymore: a surplus pod of a second leader or
// of a late creation is gone by now.
func (c *Checker) tooMany(h *History) {
	running, kept, indexes := 0, 0, map[int32]bool{}
	for _, l := range h.Order {
		if !l.active() || h.Tampered() {
			continue
		}
		running++
		if l.unasked || h.Job.Spec.Completions == nil && l.JoinedAt.Before(h.SucceededAt) {
			kept++ // Without completions, pods that ran when the first one succeeded keep running.
		}
		if index := l.index(); index != reconcile.NoIndex && indexes[index] {
			c.Violate("S6", "at rest, index %d has two running pods", index)
		}
		indexes[l.index()] = true
	}
	if limit := c.bound(h, &h.Job.Spec); running-kept > limit {
		c.Violate("S5", "at rest, %d pods run, and %d may", running, limit+kept)
	}
}
