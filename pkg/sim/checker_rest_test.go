package sim

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// AtRest returns what is wrong when nothing happens anymore.
func (c *Checker) AtRest() {
	c.leftInNamespace()
	c.strayHeld()
	for _, h := range c.order {
		switch {
		case !c.isOurs(h.job):
		case h.gone || view(h.job).finished():
			c.uncounted(h)
			c.heldForNothing(h)
		default:
			c.uncounted(h)
			c.tooMany(h)
			c.unfinished(h)
		}
	}
}

// leftInNamespace checks L2 for a namespace that is being deleted: its deletion completes.
func (c *Checker) leftInNamespace() {
	store := c.world.Store
	if !store.terminating {
		return
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(store.jobs)), slices.Sorted(maps.Keys(store.pods))) {
		c.violate("L2", "the namespace is being deleted, and %s is left", name)
	}
}

// unfinished checks L1 for a Job that has all its successes, and no running pods, whether or
// not it is being deleted.
func (c *Checker) unfinished(h *history) {
	busy := slices.ContainsFunc(h.order, func(l *life) bool { return l.active() || l.terminating() })
	succeeded := int(h.job.Status.Succeeded)
	if isIndexed(&h.job.Spec) { // The count may be larger: it never falls (STV-18).
		completed, _ := indexset.Parse(h.job.Status.CompletedIndexes)
		succeeded = completed.Len()
	}
	if !busy && !h.tampered() && h.job.Spec.Completions != nil && succeeded >= int(*h.job.Spec.Completions) {
		c.violate("L1", "%s has its %d successes, and is not finished", h.job.Name, succeeded)
	}
}

// uncounted checks S3: every pod that is recorded is counted.
func (c *Checker) uncounted(h *history) {
	if n := len(failedUIDs(&h.job.Status)) + len(succeededUIDs(&h.job.Status)); n > 0 && !h.gone {
		c.violate("S3", "%d pods of %s are recorded and not counted", n, h.job.Name)
	}
}

// heldForNothing checks L2: no finished pod of a Job that is finished or gone holds the
// tracking finalizer.
func (c *Checker) heldForNothing(h *history) {
	for _, l := range h.order {
		pod := c.world.Store.byUID[l.pod.UID]
		if tracked(pod) && isTerminal(pod) && c.owners[pod.UID] == h.job.UID && !c.nobodys(h, l) {
			c.violate("L2", "%s is finished or gone, and pod %s holds its finalizer", h.job.Name, pod.Name)
		}
	}
}

// nobodys reports whether a new process cannot know whose pod it is (TRK-23): nothing names its Job
// anymore, or the Job is gone, and somebody else made the pod.
func (c *Checker) nobodys(h *history, l *life) bool {
	pod := c.world.Store.byUID[l.pod.UID]
	named := metav1.GetControllerOfNoCopy(pod) != nil || pod.Labels[batchv1.ControllerUidLabel] != ""
	unseen := c.world.started[len(c.world.started)-1].After(h.endingSince) || c.blindUntil.After(h.endingSince)
	made := l.by == 0 && h.gone && unseen
	return made || !named && (h.gone || len(c.world.started) > 1)
}

// tooMany checks S5 and S6 when nothing happens anymore: a surplus pod of a second leader or
// of a late creation is gone by now.
func (c *Checker) tooMany(h *history) {
	running, indexes := 0, map[int32]bool{}
	for _, l := range h.order {
		if !l.active() || h.tampered() {
			continue
		}
		running++
		if index := l.index(); index != reconcile.NoIndex && indexes[index] {
			c.violate("S6", "at rest, index %d has two running pods", index)
		}
		indexes[l.index()] = true
	}
	// Without completions, pods that run after the first success keep running, whatever the parallelism.
	free := h.job.Spec.Completions == nil && slices.ContainsFunc(h.order, func(l *life) bool { return l.succeeded })
	if limit := c.bound(h); running > limit && !free {
		c.violate("S5", "at rest, %d pods run, and %d may", running, limit)
	}
}
