package observe

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// jobPods holds the pods of one Job, and its former pods that still have its finalizer.
type jobPods struct {
	// rows are in an order that depends only on the changes, so that the same changes always lead to the same decisions
	// in the same order. They are pointers into the table: looking up 10^5 pods by UID for each decision would cost more
	// than the decision.
	rows []*row[podRow]
	// pods are the pods of the rows. odd is the number of rows with podMore.
	pods []*reconcile.Pod
	odd  int
	// active is the number of active pods that the Job controls, strays the number of pods that it does not control.
	active, strays int
	// listed is the version of the last complete list of this Job's pods: older events about a pod that was not in the
	// list are outdated.
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

// put stores a pod by calling write, which reports whether it stored the pod, and updates the indexes.
func (c *Cache) put(uid types.UID, r podRow, write func() bool) bool {
	old := c.pods.value(uid)
	existed := old.pod != nil
	if !write() {
		return false
	}
	entry := c.pods.rows[uid]
	stays := existed && old.job == r.job
	if existed {
		c.strays.remove(old)
		if !stays {
			c.unlink(old)
		}
	}
	if r.job != "" {
		of := c.podsOf(r.job)
		if stays { // At its position.
			of.tally(old, -1)
			entry.value.at, of.pods[old.at] = old.at, r.pod
		} else {
			entry.value.at = int32(len(of.rows))
			of.rows, of.pods = append(of.rows, entry), append(of.pods, r.pod)
		}
		of.tally(r, 1)
	}
	c.strays.add(entry)
	if c.onHeld != nil {
		c.reportHeld(entry, old.held)
	}
	return true
}

// remove removes a pod by calling write, and removes it from the indexes.
func (c *Cache) remove(uid types.UID, write func()) {
	old := c.pods.value(uid)
	write()
	if old.pod == nil {
		return
	}
	c.strays.remove(old)
	c.unlink(old)
	if old.held {
		c.onHeld(nil, old.pod, false)
	}
}

// unlink removes a pod from the index by Job; the last pod moves to its position.
func (c *Cache) unlink(r podRow) {
	if r.job == "" {
		return
	}
	of := c.byJob[r.job]
	of.tally(r, -1)
	last := len(of.rows) - 1
	if int(r.at) != last {
		of.rows[r.at], of.pods[r.at] = of.rows[last], of.pods[last]
		of.rows[r.at].value.at = r.at
	}
	of.rows[last], of.pods[last] = nil, nil
	of.rows, of.pods = of.rows[:last], of.pods[:last]
	c.dropEmpty(r.job, of)
}

// dropEmpty deletes the entry of a Job without pods, unless the version of its last list
// still matters because the Job exists.
func (c *Cache) dropEmpty(job types.UID, of *jobPods) {
	if len(of.rows) == 0 && (of.listed == "" || c.job(job) == nil) {
		delete(c.byJob, job)
	}
}

// reportHeld calls onHeld for a finished pod that has the tracking finalizer, or no longer has it, after a watch event
// or a write of the caller.
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

// tally adds a pod to the counts (n is 1) or removes it (-1).
func (of *jobPods) tally(r podRow, n int) {
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
