package sim

import (
	"maps"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
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
			c.heldThoughReplaced(h)
			c.wrongGauges(h)
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
	switch {
	case busy || h.tampered():
	case h.job.Spec.Completions == nil && succeeded > 0, h.job.Spec.Completions != nil && succeeded >= int(*h.job.Spec.Completions):
		c.violate("L1", "%s has its %d successes, and is not finished", h.job.Name, succeeded)
	case isDecided(h.job):
		c.violate("L1", "how %s ends is decided, and it is not finished", h.job.Name)
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

// wrongGauges checks S12 when nothing happens anymore: the status has the pods as they are.
func (c *Checker) wrongGauges(h *history) {
	active, ready, terminating := int32(0), int32(0), int32(0)
	for _, l := range h.order {
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
	s := &h.job.Status
	if s.Active != active || ptr.Deref(s.Ready, 0) != ready || s.Terminating != nil && *s.Terminating != terminating {
		c.violate("S12", "at rest, active is %d, ready %d, terminating %d, and %d, %d and %d pods are",
			s.Active, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0), active, ready, terminating)
	}
}

// heldThoughReplaced checks L2 for a Job that goes on: a pod that has ended keeps its finalizer only as
// long as its index has no other pod (BLI-07).
func (c *Checker) heldThoughReplaced(h *history) {
	for _, l := range h.order {
		pod := c.world.Store.byUID[l.pod.UID]
		replaced := !c.perIndex(&h.job.Spec) || slices.ContainsFunc(h.order, func(other *life) bool { return other.active() && other.index() == l.index() })
		if tracked(pod) && isTerminal(pod) && c.owners[pod.UID] == h.job.UID && replaced && !c.nobodys(h, l) {
			c.violate("L2", "pod %s has ended, and holds its finalizer", pod.Name)
		}
	}
}

// nobodys reports whether no process can know whose pod it is (TRK-22, TRK-23): none has seen that the
// Job controls it, or it does not name the Job anymore; or the Job is gone, none has seen it, and the
// program did not make the pod.
func (c *Checker) nobodys(h *history, l *life) bool {
	pod := c.world.Store.byUID[l.pod.UID]
	owner := metav1.GetControllerOfNoCopy(pod)
	_, made := pod.Annotations[controller.AttemptAnnotation]
	label := pod.Labels[batchv1.ControllerUidLabel]
	labeled := made && (label == "" || label == string(h.job.UID))
	named := owner != nil || label == "" || pod.Labels[batchv1.JobNameLabel] != ""
	return !slices.ContainsFunc(c.world.processes, func(p *process) bool {
		knowsPod := owner != nil || labeled || c.sawPod(p, h, pod)
		return p.isWorking() && knowsPod && (made && named || c.sawJob(p, h))
	})
}

// sawPod reports whether a process wrote to a pod, or its watch showed it, while the Job controlled it.
func (c *Checker) sawPod(p *process, h *history, pod *corev1.Pod) bool {
	return p.pods.saw(func(m Commit) bool {
		return m.NewPod != nil && m.NewPod.UID == pod.UID || m.OldPod != nil && m.OldPod.UID == pod.UID
	},
		func(m Commit) bool {
			return m.NewPod != nil && observe.JobUID(m.NewPod) == h.job.UID && (p.knowsOfOwn(m) || watches(m.NewPod))
		})
}

// sawJob reports whether the watch of a process ever showed the Job.
func (c *Checker) sawJob(p *process, h *history) bool {
	return p.jobs.saw(func(m Commit) bool {
		return m.NewJob != nil && m.NewJob.UID == h.job.UID || m.OldJob != nil && m.OldJob.UID == h.job.UID
	},
		func(m Commit) bool { return m.NewJob != nil })
}

// knowsOfOwn reports whether a process made a write itself, and got the answer.
func (p *process) knowsOfOwn(m Commit) bool {
	return m.By == p.number && !m.Late() && !p.world.journal.lost[m.Version]
}

// saw reports whether a list or an event showed one of the versions of an object that count.
func (s *stream) saw(of, counts func(Commit) bool) bool {
	commits := slices.DeleteFunc(slices.Clone(s.process.world.journal.commits), func(m Commit) bool { return !of(m) })
	for i, m := range commits {
		until := int64(math.MaxInt64)
		if i+1 < len(commits) {
			until = commits[i+1].Version
		}
		listed := slices.ContainsFunc(s.lists, func(l listing) bool { return m.Version <= l.version && l.version < until })
		missed := slices.ContainsFunc(s.lists, func(l listing) bool { return l.before < m.Version && m.Version <= l.version })
		if counts(m) && (s.process.knowsOfOwn(m) || listed || !missed && m.Version <= s.seen) {
			return true
		}
	}
	return false
}

// tooMany checks S5 and S6 when nothing happens anymore: a surplus pod of a second leader or
// of a late creation is gone by now.
func (c *Checker) tooMany(h *history) {
	running, kept, indexes := 0, 0, map[int32]bool{}
	for _, l := range h.order {
		if !l.active() || h.tampered() {
			continue
		}
		running++
		if l.unasked || h.job.Spec.Completions == nil && l.joinedAt.Before(h.succeededAt) {
			kept++ // Without completions, pods that ran when the first one succeeded keep running.
		}
		if index := l.index(); index != reconcile.NoIndex && indexes[index] {
			c.violate("S6", "at rest, index %d has two running pods", index)
		}
		indexes[l.index()] = true
	}
	if limit := c.bound(h, &h.job.Spec); running-kept > limit {
		c.violate("S5", "at rest, %d pods run, and %d may", running, limit+kept)
	}
}
