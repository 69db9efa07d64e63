package observe

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// jobPods are the pods of one Job, and the strays that were and hold its finalizer.
type jobPods struct {
	// rows are in an order that follows from the changes alone, so that the same
	// changes always lead to the same decisions in the same order. They are pointers
	// into the table: to look 10^5 pods up by their UIDs, for each decision, costs more
	// than the decision.
	rows []*row[podRow]
	// pods are those of the rows, and odd is how many rows say more than that.
	pods []*reconcile.Pod
	odd  int
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
func (c *Cache) put(uid types.UID, r podRow, write func() bool) bool {
	old := c.pods.value(uid)
	existed := old.pod != nil
	if !write() {
		return false
	}
	entry := c.pods.rows[uid]
	if existed {
		c.tally(old, -1)
		c.strays.remove(old)
	}
	if existed && old.job == r.job {
		c.relink(entry, int(old.at))
	} else {
		if existed {
			c.unlink(old)
		}
		c.link(entry)
	}
	c.strays.add(entry)
	c.tally(r, 1)
	if c.onHeld != nil {
		c.reportHeld(entry, old.held)
	}
	return true
}

// reportHeld tells of a finished pod that comes to hold the tracking finalizer, or no
// longer does, whether a watch brought that or an own write.
func (c *Cache) reportHeld(entry *row[podRow], before bool) {
	now := entry.value
	held := now.pod.IsTerminal() && now.pod.Finalizer
	switch {
	case held == before:
	case before:
		c.onHeld(nil, now.pod, false)
	default:
		job := c.job(now.job)
		held = job != nil && c.onHeld(job, now.pod, true)
	}
	entry.value.held = held
}

// remove takes a pod away through write, and out of the indexes.
func (c *Cache) remove(uid types.UID, write func()) {
	old := c.pods.value(uid)
	write()
	if old.pod == nil {
		return
	}
	c.tally(old, -1)
	c.strays.remove(old)
	c.unlink(old)
	if old.held {
		c.onHeld(nil, old.pod, false)
	}
}

func (c *Cache) link(entry *row[podRow]) {
	if entry.value.job == "" {
		return
	}
	of := c.podsOf(entry.value.job)
	entry.value.at = int32(len(of.rows))
	of.rows, of.pods = append(of.rows, entry), append(of.pods, entry.value.pod)
}

// relink keeps a pod, in a newer version, in its place.
func (c *Cache) relink(entry *row[podRow], at int) {
	if of := c.byJob[entry.value.job]; of != nil {
		entry.value.at, of.pods[at] = int32(at), entry.value.pod
	}
}

// unlink takes a pod out of the index by Job; the last one takes its place.
func (c *Cache) unlink(r podRow) {
	if r.job == "" {
		return
	}
	of := c.byJob[r.job]
	last := len(of.rows) - 1
	if int(r.at) != last {
		of.rows[r.at], of.pods[r.at] = of.rows[last], of.pods[last]
		of.rows[r.at].value.at = r.at
	}
	of.rows[last], of.pods[last] = nil, nil
	of.rows, of.pods = of.rows[:last], of.pods[:last]
	c.dropEmpty(r.job, of)
}

// dropEmpty forgets what says nothing any more: without pods, a list matters as long as
// the Job is there.
func (c *Cache) dropEmpty(job types.UID, of *jobPods) {
	if len(of.rows) == 0 && (of.listed == "" || !c.hasJob(job)) {
		delete(c.byJob, job)
	}
}

func (c *Cache) tally(r podRow, n int) {
	if r.job == "" {
		return
	}
	of := c.podsOf(r.job)
	if r.more != nil {
		of.odd += n
	}
	switch {
	case r.isStray():
		of.strays += n
	case r.pod.IsActive():
		of.active += n
	}
}

func (c *Cache) activeOf(job types.UID) int {
	if of := c.byJob[job]; of != nil {
		return of.active
	}
	return 0
}
