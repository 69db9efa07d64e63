package observe

import (
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// ManagedByLabel is on all pods of Jobs that a controller of ours reconciles; its value
// identifies the controller (ManagedByLabelValue). A controller watches only these pods
// (ADR 0020).
const ManagedByLabel = "batchjob.dev/managed-by"

var notInLabels = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// ManagedByLabelValue returns the value of ManagedByLabel for a value of spec.managedBy, which
// has a slash. Nothing depends on the values of two controllers being different.
func ManagedByLabelValue(managedBy string) string {
	return strings.Trim(notInLabels.ReplaceAllString(managedBy, "_"), "._-")
}

// WatchesLabel declares that the watches of pods deliver only those with a value of
// ManagedByLabel. The cache keeps a pod that loses the label if it may matter to a Job that
// owns accepts, since it still exists. WatchesLabel must be called before the cache is filled.
func (c *Cache) WatchesLabel(value string, owns func(*batchv1.Job) bool) {
	c.label, c.owns = value, owns
}

// isWatched reports whether the watch delivers the pod.
func (c *Cache) isWatched(pod metav1.Object) bool {
	return c.label == "" || pod.GetLabels()[ManagedByLabel] == c.label
}

// follows reports whether a pod that the watch no longer delivers still matters: its
// finalizer has to be removed, or its Job has not finished. The caller holds the lock.
func (c *Cache) follows(r podRow) bool {
	job := c.job(r.job)
	switch {
	case c.label == "", r.job == "", job != nil && !c.owns(job):
		return false
	case r.pod.Finalizer:
		return true
	}
	return job != nil && !r.isStray() && !reconcile.IsFinished(job)
}

// leave handles a pod that a watch no longer delivers, as of a version: it is gone, or it has
// lost the label. A pod that matters is kept as it was until a write shows which. last is what the watch
// delivered with its end; nil if a new list of the watch no longer has the pod.
func (s *podStore) leave(uid types.UID, version string, last *slimPod) {
	c := s.cache
	c.mu.Lock()
	delete(c.doubtful, uid)
	r := c.pods.rows[uid]
	removed, isGone := c.pods.gone[uid]
	switch {
	case c.isMissing(uid), newer(removed.version, version),
		r != nil && c.label != "" && newer(r.version, version):
		c.pods.stream(s.stream).advance(version)
		c.mu.Unlock()
		return
	case r == nil && !isGone && last != nil && c.outdated(last.row, version) && c.follows(last.row):
		change := s.noteLeftOut(uid, version, last)
		c.mu.Unlock()
		c.listener.PodChanged(change)
		return
	case r == nil || !c.follows(r.value):
		c.mu.Unlock()
		s.drop(uid, version)
		return
	}
	c.pods.stream(s.stream).advance(version)
	now := r.value
	now.unwatched = true
	c.put(uid, now, func() bool { r.value = now; return true })
	change := PodChange{Job: now.job, Old: now.pod, New: now.pod, Active: c.activeOf(now.job), Relabeled: true}
	c.mu.Unlock()
	c.listener.PodChanged(change)
}

// leftOut notes the pods that only outdated events have shown, and that a new list of the watch no longer has. The watch
// may have missed that they lost the label.
func (s *podStore) leftOut(version string, listed map[types.UID]bool) (changes []PodChange) {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid, last := range c.doubtful {
		if listed[uid] || c.streamOf(last.namespace) != s.stream {
			continue
		}
		delete(c.doubtful, uid)
		if _, isGone := c.pods.gone[uid]; c.pods.rows[uid] == nil && !isGone && !c.isMissing(uid) && c.follows(last.row) {
			changes = append(changes, s.noteLeftOut(uid, version, last))
		}
	}
	return changes
}

// noteLeftOut notes a pod that a list of its Job's pods did not have, and that a watch no longer delivers. What is
// known of it is outdated, and must not be counted. The caller holds the lock.
func (s *podStore) noteLeftOut(uid types.UID, version string, last *slimPod) PodChange {
	c, job, pod := s.cache, last.row.job, last.row.pod
	c.pods.stream(s.stream).advance(version)
	of := c.podsOf(job)
	if of.leftOut == nil {
		of.leftOut = map[types.UID]types.NamespacedName{}
	}
	of.leftOut[uid] = types.NamespacedName{Namespace: last.namespace, Name: pod.Name}
	return PodChange{Job: job, Old: pod, New: pod, Active: c.activeOf(job), Relabeled: true}
}

// TakeLeftOut returns, once, the pods that the last list of the Job's pods did not have, and that a watch stopped
// delivering before: they are gone, or had lost their labels.
func (c *Cache) TakeLeftOut(job types.UID) map[types.UID]types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byJob[job]
	if of == nil {
		return nil
	}
	pods := of.leftOut
	of.leftOut = nil
	return pods
}

// Unwatched returns the pods of a Job that lack the label or are gone, and that matter. The namespace is "" if it is that of the Job.
func (c *Cache) Unwatched(job types.UID) map[types.UID]types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byJob[job]
	if of == nil || of.unwatched == 0 {
		return nil
	}
	pods := map[types.UID]types.NamespacedName{}
	for _, entry := range slices.Clone(of.rows) {
		r := entry.value
		switch {
		case !r.unwatched:
		case c.follows(r):
			pods[r.pod.UID] = types.NamespacedName{Namespace: r.namespace(), Name: r.pod.Name}
		case !newer(entry.version, entry.stream.seen):
			// No older event can bring it back.
			c.remove(r.pod.UID, func() { delete(c.pods.rows, r.pod.UID) })
		}
	}
	return pods
}

// putRead stores a pod that a read or a write of the caller returned. The caller holds the lock.
func (c *Cache) putRead(r podRow, s *stream, version string) bool {
	uid := r.pod.UID
	if known := c.pods.rows[uid]; known != nil && known.value.unwatched && !newer(version, s.seen) {
		r.unwatched = true // It is from before the watch ended the pod, and the watch will not do so again.
	}
	return !c.isMissing(uid) && c.put(uid, r, func() bool {
		if r.unwatched {
			return c.pods.read(s, uid, version, r)
		}
		return c.pods.written(s, uid, version, r)
	})
}

// Adopters returns the Jobs whose selector matches a pod without a controller, unless it is
// being deleted. They must not be changed.
func (c *Cache) Adopters(pod metav1.Object) []*batchv1.Job {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.adopters(podRow{
		pod:  &reconcile.Pod{Deleting: pod.GetDeletionTimestamp() != nil},
		more: &podMore{namespace: pod.GetNamespace(), labels: pod.GetLabels(), stray: true},
	})
}

// HasOwnSelector reports whether the Job's selector is not the generated one, which matches the
// Job's UID.
func HasOwnSelector(job *batchv1.Job) bool {
	s := job.Spec.Selector
	return s != nil && s.MatchLabels[batchv1.ControllerUidLabel] != string(job.UID)
}
