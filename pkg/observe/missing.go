package observe

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// missingPod is a pod that a call did not find. Everything else about it is older, and must not bring it back: it could be
// counted again. It is remembered until the watch delivers its deletion (which it does not if the pod lost the label
// before), or its Job is gone.
type missingPod struct {
	job    types.UID
	stream *stream
}

// PodMissing removes a pod that the API server reported as not found when it was written for a Job.
func (c *Cache) PodMissing(job types.UID, namespace string, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.pods.stream(c.streamOf(namespace))
	if r := c.pods.rows[uid]; r == nil || r.stream == s {
		c.missing[uid] = missingPod{job, s}
		c.remove(uid, func() { delete(c.pods.rows, uid) })
	}
}

// isMissing reports whether a call did not find the pod. The caller holds the lock.
func (c *Cache) isMissing(uid types.UID) bool {
	_, missing := c.missing[uid]
	return missing
}

// forgetMissing forgets missing pods. The caller holds the lock.
func (c *Cache) forgetMissing(which func(missingPod) bool) {
	maps.DeleteFunc(c.missing, func(_ types.UID, pod missingPod) bool { return which(pod) })
}
