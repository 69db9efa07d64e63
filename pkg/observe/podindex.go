package observe

import (
	"k8s.io/apimachinery/pkg/types"
)

// jobPods are the pods of one Job, and the strays that were and hold its finalizer.
type jobPods struct {
	// keys are in an order that follows from the changes alone, so that the same
	// changes always lead to the same decisions in the same order.
	keys []key
	// active counts the active pods that the Job controls, strays those that it does not.
	active, strays int
	// listed is the version of the last complete list of just this Job's pods:
	// events older than it say nothing new of a pod that is not there.
	listed string
}

func (c *Cache) podsOf(job types.UID) *jobPods {
	of := c.byJob[job]
	if of == nil {
		of = &jobPods{}
		c.byJob[job] = of
	}
	return of
}

// put stores a pod through write, which says whether it took it, and keeps the
// indexes right.
func (c *Cache) put(k key, r podRow, write func() bool) bool {
	old, existed := c.pods.rows[k]
	if !write() {
		return false
	}
	if existed {
		c.tally(old.value, -1)
		c.strays.remove(c, old.value)
	}
	if existed && old.value.job == r.job {
		c.place(k, int(old.value.at))
	} else {
		if existed {
			c.unlink(old.value)
		}
		c.link(k, r)
	}
	c.strays.add(k, r)
	c.tally(r, 1)
	if c.onHeld != nil {
		c.reportHeld(k, old.value.held, r)
	}
	return true
}

// reportHeld tells of a finished pod that comes to hold the tracking finalizer, or no
// longer does, whether a watch brought that or an own write.
func (c *Cache) reportHeld(k key, before bool, now podRow) {
	held := now.pod.IsTerminal() && now.pod.Finalizer
	switch {
	case held == before:
	case before:
		c.onHeld(nil, false)
	default:
		job := c.job(now.job)
		held = job != nil && c.onHeld(job, true)
	}
	r := c.pods.rows[k]
	r.value.held = held
	c.pods.rows[k] = r
}

func (c *Cache) place(k key, at int) {
	r := c.pods.rows[k]
	r.value.at = int32(at)
	c.pods.rows[k] = r
}

// remove takes a pod away through write, and out of the indexes.
func (c *Cache) remove(k key, write func()) {
	old, existed := c.pods.rows[k]
	write()
	if existed {
		c.tally(old.value, -1)
		c.strays.remove(c, old.value)
		c.unlink(old.value)
		if old.value.held {
			c.onHeld(nil, false)
		}
	}
}

func (c *Cache) link(k key, r podRow) {
	if r.job == "" {
		return
	}
	of := c.podsOf(r.job)
	of.keys = append(of.keys, k)
	c.place(k, len(of.keys)-1)
}

// unlink takes a pod out of the index by Job; the last one takes its place.
func (c *Cache) unlink(r podRow) {
	if r.job == "" {
		return
	}
	of := c.byJob[r.job]
	last := len(of.keys) - 1
	if at := int(r.at); at != last {
		of.keys[at] = of.keys[last]
		c.place(of.keys[at], at)
	}
	of.keys = of.keys[:last]
	c.dropEmpty(r.job, of)
}

// dropEmpty forgets what says nothing any more: without pods, a list matters as long as
// the Job is there.
func (c *Cache) dropEmpty(job types.UID, of *jobPods) {
	if len(of.keys) == 0 && (of.listed == "" || !c.hasJob(job)) {
		delete(c.byJob, job)
	}
}

func (c *Cache) tally(r podRow, n int) {
	switch {
	case r.job == "":
	case r.isStray():
		c.podsOf(r.job).strays += n
	case r.pod.IsActive():
		c.podsOf(r.job).active += n
	}
}

func (c *Cache) activeOf(job types.UID) int {
	if of := c.byJob[job]; of != nil {
		return of.active
	}
	return 0
}
