package observe

import (
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// PodChange is a change of a Job's pod that a watch delivered. The caller's own
// writes are not reported.
type PodChange struct {
	Job types.UID
	// Old is nil for a new pod, New for a pod that is gone.
	Old, New *reconcile.Pod
	// Active is the current number of active pods of the Job.
	Active int
	// Relabeled reports whether labels changed, so that the Job's selector may no longer
	// match the pod, or match it again.
	Relabeled bool
}

// JobChange is a change of a Job that a watch delivered. The caller's own writes are not reported.
type JobChange struct {
	// Old is nil for a new Job, New for a Job that is gone.
	Old, New *batchv1.Job
}

// Listener receives the changes that the watches deliver. Calls come one at a time
// for each watch, without any lock of the Cache held.
type Listener interface {
	PodChanged(PodChange)
	JobChanged(JobChange)
	// StrayChanged reports a pod that has just lost its controller, or has no controller and new labels. affected, at
	// least one, are the Jobs whose selector matches the pod, and its former Job if the pod has the tracking finalizer.
	// It is also called after the caller's own writes, since they concern other Jobs.
	StrayChanged(affected []*batchv1.Job)
}

// Cache holds all Jobs of the watched namespaces, all pods that Jobs control, and all pods
// without a controller. It is safe for concurrent use.
type Cache struct {
	namespaces watched
	listener   Listener

	mu   sync.RWMutex
	jobs table[*batchv1.Job]
	pods table[podRow]
	// byJob holds each Job's pods, current and former.
	byJob  map[types.UID]*jobPods
	strays strayIndex
	// manual holds the Jobs, by namespace, whose selector is not generated.
	manual manualJobs
	// extra holds, for each Job, the last known fields that batchv1.Job lacks.
	extra map[types.UID]extraFields
	// onHeld is called for each finished pod that has the tracking finalizer (held is true; the result reports whether
	// the pod is of interest), and for each such pod that no longer has it, or is gone.
	onHeld func(job *batchv1.Job, pod *reconcile.Pod, held bool) (interesting bool)
	// owns reports whether the caller reconciles a Job.
	owns func(*batchv1.Job) bool
	// orphansOfAll reports whether pods of a deleted Job are of interest even if another program created them.
	orphansOfAll bool
}

// OnHeld sets a handler for finished pods that have the tracking finalizer. It must be set
// before the cache is filled, and must not call the Cache.
func (c *Cache) OnHeld(notify func(job *batchv1.Job, pod *reconcile.Pod, held bool) (interesting bool)) {
	c.onHeld = notify
}

// OrphansOfAll makes Orphans return pods of all Jobs, not only those that this program
// created. It must be called before the cache is filled.
func (c *Cache) OrphansOfAll() { c.orphansOfAll = true }

// NewCache returns an empty cache, to be filled by watches of the given namespaces, or by one watch of all namespaces
// if none is given. It keeps no pods of Jobs for which owns returns false; if owns is nil, it keeps the pods of all
// Jobs.
func NewCache(namespaces []string, owns func(*batchv1.Job) bool, listener Listener) *Cache {
	if owns == nil {
		owns = func(*batchv1.Job) bool { return true }
	}
	return &Cache{
		namespaces: namespaces,
		owns:       owns,
		listener:   listener,
		jobs:       newTable[*batchv1.Job](),
		pods:       newTable[podRow](),
		byJob:      map[types.UID]*jobPods{},
		strays:     strayIndex{},
		manual:     manualJobs{},
		extra:      map[types.UID]extraFields{},
	}
}

// watched lists the namespaces that have a watch each; none means that one watch covers all.
type watched []string

// streamOf returns the name of the watch that delivers a namespace.
func (w watched) streamOf(namespace string) string {
	if len(w) == 0 {
		return ""
	}
	return namespace
}

// Job returns the newest known version of a Job, or nil. It must not be changed.
func (c *Cache) Job(uid types.UID) *batchv1.Job {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.job(uid)
}

func (c *Cache) job(uid types.UID) *batchv1.Job { return c.jobs.value(uid) }

// HasEnded reports whether the Job has pods, and all of them have ended.
func (c *Cache) HasEnded(job types.UID) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of := c.byJob[job]
	return of != nil && of.active == 0 && len(of.rows) > 0
}

// Jobs returns all Jobs, in no order. They must not be changed.
func (c *Cache) Jobs() []*batchv1.Job {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]*batchv1.Job, 0, len(c.jobs.rows))
	for _, r := range c.jobs.rows {
		out = append(out, r.value)
	}
	return out
}

// CountPods returns the number of pods in the cache.
func (c *Cache) CountPods() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.pods.rows)
}

// RuleNames returns the names that the API server serves for the rules of the Job's podFailurePolicy, by rule, or nil.
// They must not be changed. (The Job that a write returns has no names, but the policy is immutable: the names from the
// watch stay valid.)
func (c *Cache) RuleNames(uid types.UID) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.extra[uid].ruleNames
}

// extraFields are the fields of a Job that batchv1.Job lacks.
type extraFields struct {
	ruleNames []string
	template  []byte
	// generation is the Job's generation: the template may change with it.
	generation int64
}

// storeExtra stores the extra fields that a watch or a read returned, unless their generation differs from the cached
// Job's. Names are kept: the policy is immutable.
func (c *Cache) storeExtra(job *batchv1.Job, b extraFields) {
	if known := c.job(job.UID); known == nil || known.Generation != b.generation {
		return
	}
	if len(b.ruleNames) == 0 {
		b.ruleNames = c.extra[job.UID].ruleNames
	}
	c.extra[job.UID] = b
}

// Template returns the pod template of a generation of the Job in JSON, if it has fields that
// corev1.PodTemplateSpec lacks, otherwise nil. It must not be changed. known reports whether
// a watch or a read has delivered that generation: the response to a write lacks such fields.
func (c *Cache) Template(uid types.UID, generation int64) (template []byte, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	b, there := c.extra[uid]
	if !there || b.generation != generation {
		return nil, false
	}
	return b.template, true
}

// Pods returns the newest known versions of all pods that the Job controls, in no
// order, with Unselected set by the Job's selector. (A pod of another namespace that
// names the Job as its controller is not included.) The caller owns the slice, but
// must not change the pods.
func (c *Cache) Pods(job types.UID) []*reconcile.Pod {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of := c.byJob[job]
	if of == nil {
		return nil
	}
	if of.odd == 0 {
		return slices.Clone(of.pods)
	}
	known := c.job(job)
	s := selectorOf(known)
	out := make([]*reconcile.Pod, 0, len(of.rows))
	for _, entry := range of.rows {
		switch r := &entry.value; {
		case r.isStray(), r.isElsewhere(known):
		case r.labels() != nil && s.rejects(r.labels()):
			pod := *r.pod
			pod.Unselected = true
			out = append(out, &pod)
		default:
			out = append(out, r.pod)
		}
	}
	return out
}

// ReadJob stores a Job that the caller read from the API server.
func (c *Cache) ReadJob(job *NamedJob) {
	c.WroteJob(&job.Job)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storeExtra(&job.Job, job.beyond())
}

// WroteJob stores the Job that a write of the caller returned.
func (c *Cache) WroteJob(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs.written(c.jobs.stream(c.namespaces.streamOf(job.Namespace)), job.UID, job.ResourceVersion, job)
}

// WrotePod stores the pod that a write of the caller returned.
func (c *Cache) WrotePod(pod *corev1.Pod) {
	p, affected := slim(pod, c.orphansOfAll), []*batchv1.Job(nil)
	c.mu.Lock()
	s := c.pods.stream(c.namespaces.streamOf(pod.Namespace))
	if IsGone(pod) {
		c.remove(pod.UID, func() { c.pods.removed(s, pod.UID, pod.ResourceVersion) })
	} else {
		old := c.pods.value(pod.UID)
		if row := c.newRow(old, p); c.keeps(row) && c.putWritten(row, s, pod.ResourceVersion) {
			affected = c.affected(old, row)
		}
	}
	c.mu.Unlock()
	if len(affected) > 0 {
		c.listener.StrayChanged(affected)
	}
}

// putWritten stores a pod that a write or a list of the caller returned. The caller holds the lock.
func (c *Cache) putWritten(r podRow, s *stream, version string) bool {
	return c.put(r.pod.UID, r, func() bool { return c.pods.written(s, r.pod.UID, version, r) })
}

// PodMissing removes a pod that the API server did not find in a call on behalf of a Job. The pod stays removed until
// the watch delivers its deletion. If the pod belongs to another Job, the change is reported to the listener.
func (c *Cache) PodMissing(job types.UID, namespace string, uid types.UID) {
	c.mu.Lock()
	old, changes := c.pods.value(uid), []PodChange(nil)
	if c.pods.isOf(c.pods.stream(c.namespaces.streamOf(namespace)), uid) {
		c.remove(uid, func() { c.pods.missing(uid) })
		changes = c.changes(old, podRow{})
	}
	c.mu.Unlock()
	for _, change := range changes {
		if change.Job != job {
			c.listener.PodChanged(change)
		}
	}
}

// HasMore reports whether a list lacks pods of the Job that the cache has, or that the Job's status has recorded and
// not yet counted: another process may have recorded a pod that our watch has not delivered yet.
func (c *Cache) HasMore(job *batchv1.Job, pods []corev1.Pod) bool {
	listed := uidsOf(pods)
	missing := func(uid types.UID) bool { return !listed[uid] }
	if u := job.Status.UncountedTerminatedPods; u != nil && (slices.ContainsFunc(u.Succeeded, missing) || slices.ContainsFunc(u.Failed, missing)) {
		return true
	}
	for _, p := range c.Pods(job.UID) {
		if !listed[p.UID] {
			return true
		}
	}
	return false
}

// ListedPods stores a complete list of one Job's pods, read from the API server at the given resourceVersion: pods that
// are not in it, and not newer, are gone. A listed pod that the Job no longer controls is removed from the Job's pods,
// so that it cannot be counted again. (Listed pods that never belonged to the Job are left to the watch.)
func (c *Cache) ListedPods(job *batchv1.Job, pods []corev1.Pod, version string) {
	changes, affected := c.listedPods(job, pods, version)
	for _, change := range changes {
		c.listener.PodChanged(change)
	}
	if len(affected) > 0 {
		c.listener.StrayChanged(affected)
	}
}

// listedPods stores the list, and returns the changes that the watch will not report again: the changes of pods that
// the Job no longer controls.
func (c *Cache) listedPods(job *batchv1.Job, pods []corev1.Pod, version string) (changes []PodChange, affected []*batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range pods {
		uid, s := pods[i].UID, c.pods.stream(c.namespaces.streamOf(pods[i].Namespace))
		old, lost := c.pods.value(uid), JobUID(&pods[i]) != job.UID
		row := c.newRow(old, slim(&pods[i], c.orphansOfAll))
		// A stray that the watch has not delivered yet may be recorded, and hold the finalizer.
		isFormer := old.pod == nil && row.isStray() && row.pod.Finalizer
		if lost && !isFormer && (old.job != job.UID || old.isStray()) {
			continue
		}
		news := c.putWritten(row, s, pods[i].ResourceVersion)
		if news && !c.keeps(row) {
			c.remove(uid, func() { c.pods.leaves(s, uid, pods[i].ResourceVersion) })
			row = podRow{}
		}
		if lost && news {
			changes, affected = append(changes, c.changes(old, row)...), append(affected, c.affected(old, row)...)
		}
	}
	c.removeUnlisted(job, uidsOf(pods), version)
	return changes, affected
}

// removeUnlisted removes the pods of the Job that are not in a list: they are gone, unless they are newer than the
// list. The caller holds the lock.
func (c *Cache) removeUnlisted(job *batchv1.Job, listed map[types.UID]bool, version string) {
	for _, r := range slices.Clone(c.podsOf(job.UID).rows) {
		if uid := r.value.pod.UID; !listed[uid] && !r.value.isStray() && !r.value.isElsewhere(job) && !newer(r.version, version) {
			c.remove(uid, func() { c.pods.leaves(r.stream, uid, version) })
		}
	}
	of := c.podsOf(job.UID)
	of.listed = version
	c.dropEmpty(job.UID, of)
}

func uidsOf(pods []corev1.Pod) map[types.UID]bool {
	uids := make(map[types.UID]bool, len(pods))
	for i := range pods {
		uids[pods[i].UID] = true
	}
	return uids
}
