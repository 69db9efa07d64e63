package observe

import (
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// PodChange tells of a pod of a Job that a watch changed. Own writes are not told.
type PodChange struct {
	Job types.UID
	// Old is nil for a pod that is new, New for one that is gone.
	Old, New *reconcile.Pod
	// Active is how many active pods the Job has now.
	Active int
}

// JobChange tells of a Job that a watch changed. Own writes are not told.
type JobChange struct {
	// Old is nil for a Job that is new, New for one that is gone.
	Old, New *batchv1.Job
}

// Listener is told of what the watches bring. Calls come one at a time for each
// watch, without any lock of the Cache held.
type Listener interface {
	PodChanged(PodChange)
	JobChanged(JobChange)
}

// Cache holds all Jobs of the watched namespaces, and all pods that Jobs control.
// It is safe for concurrent use.
type Cache struct {
	namespaces []string
	listener   Listener

	mu   sync.RWMutex
	jobs table[*batchv1.Job]
	pods table[podRow]
	// byJob are the keys of each Job's pods.
	byJob map[types.UID]*jobPods
}

type podRow struct {
	job types.UID
	pod *reconcile.Pod
	// orphan says that the pod has lost its owner, which was job, and still holds
	// the tracking finalizer.
	orphan bool
	// at is the pod's place in jobPods.keys.
	at int
}

type jobPods struct {
	// keys are in an order that follows from the changes alone, so that the same
	// changes always lead to the same decisions in the same order.
	keys   []key
	active int
	// listed is the version of the last complete list of just this Job's pods:
	// events older than it say nothing new of a pod that is not there.
	listed string
}

// NewCache returns an empty cache that is filled by watches of the namespaces
// given, or by one watch of all namespaces if none is given.
func NewCache(namespaces []string, listener Listener) *Cache {
	return &Cache{
		namespaces: namespaces,
		listener:   listener,
		jobs:       newTable[*batchv1.Job](),
		pods:       newTable[podRow](),
		byJob:      map[types.UID]*jobPods{},
	}
}

// stream is the watch that delivers a namespace.
func (c *Cache) stream(namespace string) string {
	if len(c.namespaces) == 0 {
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

func (c *Cache) job(uid types.UID) *batchv1.Job {
	for _, stream := range c.streams() {
		if r, ok := c.jobs.rows[key{uid, stream}]; ok {
			return r.value
		}
	}
	return nil
}

func (c *Cache) hasJob(uid types.UID) bool { return c.job(uid) != nil }

func (c *Cache) streams() []string {
	if len(c.namespaces) == 0 {
		return []string{""}
	}
	return c.namespaces
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

// Pods returns the newest known versions of all pods that the Job controls, in
// no order. The slice is the caller's, the pods must not be changed. For a Job that is gone they include the pods
// that lost it as their owner and still hold the tracking finalizer: nobody else
// would take it from them (TRK-20).
func (c *Cache) Pods(job types.UID) []*reconcile.Pod {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of := c.byJob[job]
	if of == nil {
		return nil
	}
	gone := !c.hasJob(job)
	out := make([]*reconcile.Pod, 0, len(of.keys))
	for _, k := range of.keys {
		if r := c.pods.rows[k].value; gone || !r.orphan {
			out = append(out, r.pod)
		}
	}
	return out
}

// WroteJob takes the Job that a write of the caller, or a read past the cache, returned.
func (c *Cache) WroteJob(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs.written(key{job.UID, c.stream(job.Namespace)}, job.ResourceVersion, job)
}

// WrotePod takes the pod that a write of the caller returned.
func (c *Cache) WrotePod(pod *corev1.Pod) {
	k, row := c.convert(pod)
	c.mu.Lock()
	defer c.mu.Unlock()
	if IsGone(pod) {
		c.remove(k, func() { c.pods.removed(k, pod.ResourceVersion) })
		return
	}
	if row.job != "" {
		c.put(k, row, func() bool { return c.pods.written(k, pod.ResourceVersion, row) })
	}
}

// PodMissing takes the answer that a pod no longer exists.
func (c *Cache) PodMissing(namespace string, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{uid, c.stream(namespace)}
	if r, ok := c.pods.rows[k]; ok {
		c.remove(k, func() { c.pods.removed(k, r.version) })
	}
}

// HasMore says that the cache holds pods of the Job that are not in the list.
func (c *Cache) HasMore(job *batchv1.Job, pods []corev1.Pod) bool {
	listed := make(map[types.UID]bool, len(pods))
	for i := range pods {
		listed[pods[i].UID] = true
	}
	for _, p := range c.Pods(job.UID) {
		if !listed[p.UID] {
			return true
		}
	}
	return false
}

// ListedPods takes a complete list of one Job's pods, read past the cache at the
// given resourceVersion: what is not in it, and is not newer, is gone.
func (c *Cache) ListedPods(job *batchv1.Job, pods []corev1.Pod, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := make(map[types.UID]bool, len(pods))
	for i := range pods {
		if JobUID(&pods[i]) != job.UID {
			continue
		}
		listed[pods[i].UID] = true
		k, row := c.convert(&pods[i])
		c.put(k, row, func() bool { return c.pods.written(k, pods[i].ResourceVersion, row) })
	}
	for _, k := range slices.Clone(c.podsOf(job.UID).keys) {
		if !listed[k.uid] && !c.pods.rows[k].value.orphan && !newer(c.pods.rows[k].version, version) {
			c.remove(k, func() { c.pods.removed(k, version) })
		}
	}
	c.podsOf(job.UID).listed = version
}

func (c *Cache) convert(pod *corev1.Pod) (key, podRow) {
	p := Pod(pod)
	return key{pod.UID, c.stream(pod.Namespace)}, podRow{job: JobUID(pod), pod: &p}
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
// index by Job right.
func (c *Cache) put(k key, r podRow, write func() bool) bool {
	old, existed := c.pods.rows[k]
	if !write() {
		return false
	}
	switch {
	case existed && old.value.job == r.job:
		c.place(k, old.value.at)
		if old.value.pod.IsActive() {
			c.byJob[r.job].active--
		}
	default:
		if existed {
			c.unlink(old.value)
		}
		of := c.podsOf(r.job)
		of.keys = append(of.keys, k)
		c.place(k, len(of.keys)-1)
	}
	if r.pod.IsActive() {
		c.byJob[r.job].active++
	}
	return true
}

func (c *Cache) place(k key, at int) {
	r := c.pods.rows[k]
	r.value.at = at
	c.pods.rows[k] = r
}

// remove takes a pod away through write, and out of the index by Job.
func (c *Cache) remove(k key, write func()) {
	old, existed := c.pods.rows[k]
	write()
	if existed {
		c.unlink(old.value)
	}
}

// unlink takes a pod out of the index by Job; the last one takes its place.
func (c *Cache) unlink(r podRow) {
	of := c.byJob[r.job]
	last := len(of.keys) - 1
	if r.at != last {
		of.keys[r.at] = of.keys[last]
		c.place(of.keys[r.at], r.at)
	}
	of.keys = of.keys[:last]
	if r.pod.IsActive() {
		of.active--
	}
	if len(of.keys) == 0 && of.listed == "" {
		delete(c.byJob, r.job)
	}
}

func (c *Cache) activeOf(job types.UID) int {
	if of := c.byJob[job]; of != nil {
		return of.active
	}
	return 0
}
