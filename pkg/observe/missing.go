package observe

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// missingPod is a pod that a call did not find. Everything else about it is older, and must not bring it back: it could be
// counted again. It is remembered as long as its Job exists, unless the watch delivers its deletion as such. (What it
// delivers when a write that removes the last finalizer ends the pod looks like the loss of the label.)
type missingPod struct {
	// job is empty for a pod that any Job may adopt.
	job    types.UID
	stream *stream
}

// PodMissing removes a pod that the API server did not find in a call on behalf of a Job. If the pod belongs to another Job,
// the listener is told.
func (c *Cache) PodMissing(job types.UID, namespace string, uid types.UID) {
	for _, change := range c.podMissing(job, namespace, uid) {
		if change.Job != job {
			c.listener.PodChanged(change)
		}
	}
}

func (c *Cache) podMissing(job types.UID, namespace string, uid types.UID) []PodChange {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, r := c.pods.stream(c.streamOf(namespace)), c.pods.rows[uid]
	if r == nil {
		if !c.isMissing(uid) {
			c.missing[uid] = missingPod{job, s}
		}
		return nil
	}
	if r.stream != s {
		return nil
	}
	old := r.value
	if job = old.job; old.isStray() {
		job = ""
	}
	c.missing[uid] = missingPod{job, s}
	c.remove(uid, func() { delete(c.pods.rows, uid) })
	return c.changes(old, podRow{})
}

// isMissing reports whether a call did not find the pod. The caller holds the lock.
func (c *Cache) isMissing(uid types.UID) bool {
	_, missing := c.missing[uid]
	return missing
}

// forgetMissing forgets the missing pods of a Job that is gone. The caller holds the lock.
func (c *Cache) forgetMissing(job types.UID) {
	maps.DeleteFunc(c.missing, func(_ types.UID, pod missingPod) bool { return pod.job == job })
}

// forgetUnlisted forgets the missing pods that a list of a watch does not have, unless an older event may still add them
// to a Job; after a restore of etcd, all of that watch. The caller holds the lock.
func (c *Cache) forgetUnlisted(from *stream, restored bool, listed map[types.UID]bool) {
	maps.DeleteFunc(c.missing, func(uid types.UID, pod missingPod) bool {
		return pod.stream == from && (restored || !listed[uid] && !c.hasJob(pod.job))
	})
}
