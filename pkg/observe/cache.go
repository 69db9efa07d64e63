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
	// Relabelled says that labels changed, and that the Job's selector may no longer
	// select the pod, or do so again.
	Relabelled bool
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
	// StrayChanged tells of a pod that nobody controls, and that is new as such, or has
	// other labels; adopters are the Jobs whose selector selects it, at least one.
	// This is told after own writes too: they concern other Jobs.
	StrayChanged(adopters []*batchv1.Job)
}

// Cache holds all Jobs of the watched namespaces, all pods that Jobs control, and all
// pods that nobody controls. It is safe for concurrent use.
type Cache struct {
	namespaces []string
	listener   Listener

	mu   sync.RWMutex
	jobs table[*batchv1.Job]
	pods table[podRow]
	// byJob are each Job's pods, and those that were.
	byJob  map[types.UID]*jobPods
	strays strayIndex
	// manual are the Jobs, by namespace, whose selector is not the generated one.
	manual map[string]map[types.UID]bool
	// beyond is what was last read of each Job that batchv1.Job has no fields for.
	beyond map[types.UID]beyondJob
	// onHeld is told of each finished pod that comes to hold the tracking finalizer
	// (held, with its Job; it says whether the pod is of interest), and of each such pod
	// that no longer does, or is gone.
	onHeld func(job *batchv1.Job, pod *reconcile.Pod, held bool) (interesting bool)
	// anyMaker: the pods of a Job that is gone are of interest whoever created them.
	anyMaker bool
}

// OnHeld sets what is told of finished pods that hold the tracking finalizer. It must be
// set before the cache is filled, and must not call back.
func (c *Cache) OnHeld(tell func(job *batchv1.Job, pod *reconcile.Pod, held bool) (interesting bool)) {
	c.onHeld = tell
}

// OfAnyMaker lets Orphans name the Job of all pods, not only of those that this program
// created. It must be called before the cache is filled.
func (c *Cache) OfAnyMaker() { c.anyMaker = true }

// NewCache returns an empty cache that is filled by watches of the namespaces
// given, or by one watch of all namespaces if none is given.
func NewCache(namespaces []string, listener Listener) *Cache {
	return &Cache{
		namespaces: namespaces,
		listener:   listener,
		jobs:       newTable[*batchv1.Job](),
		pods:       newTable[podRow](),
		byJob:      map[types.UID]*jobPods{},
		strays:     strayIndex{},
		manual:     map[string]map[types.UID]bool{},
		beyond:     map[types.UID]beyondJob{},
	}
}

// streamOf is the name of the watch that delivers a namespace.
func (c *Cache) streamOf(namespace string) string {
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

func (c *Cache) job(uid types.UID) *batchv1.Job { return c.jobs.value(uid) }

func (c *Cache) hasJob(uid types.UID) bool { return c.job(uid) != nil }

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

// RuleNames returns the names that the API server serves for the rules of the Job's
// podFailurePolicy, by rule, or nil. They must not be changed. (A Job that a write
// returned has none: the policy is immutable, and so the watch's hold.)
func (c *Cache) RuleNames(uid types.UID) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.beyond[uid].ruleNames
}

// beyondJob is what a Job has that batchv1.Job has no fields for.
type beyondJob struct {
	ruleNames []string
	template  []byte
	// generation is that of the Job: another one may have another template.
	generation int64
}

// noteBeyond takes what a watch or a read brought of a Job, unless that is of another
// generation than the cache shows. Names stay: the policy is immutable.
func (c *Cache) noteBeyond(job *batchv1.Job, b beyondJob) {
	if known := c.job(job.UID); known == nil || known.Generation != b.generation {
		return
	}
	if len(b.ruleNames) == 0 {
		b.ruleNames = c.beyond[job.UID].ruleNames
	}
	c.beyond[job.UID] = b
}

// Template returns the pod template of a generation of the Job in JSON, if it has fields that
// corev1.PodTemplateSpec does not have, and else nil. It must not be changed. known says that
// a watch or a read has shown that generation: what a write returned does not tell of such
// fields.
func (c *Cache) Template(uid types.UID, generation int64) (template []byte, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	b, there := c.beyond[uid]
	if !there || b.generation != generation {
		return nil, false
	}
	return b.template, true
}

// Pods returns the newest known versions of all pods that the Job controls, in
// no order, with Unselected as the Job's selector says. (A pod of another namespace
// that names the Job as its controller is none of them.) The slice is the caller's,
// the pods must not be changed.
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

// ReadJob takes the Job that a read past the cache returned.
func (c *Cache) ReadJob(job *NamedJob) {
	c.WroteJob(&job.Job)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteBeyond(&job.Job, job.beyond())
}

// WroteJob takes the Job that a write of the caller returned.
func (c *Cache) WroteJob(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs.written(c.jobs.stream(c.streamOf(job.Namespace)), job.UID, job.ResourceVersion, job)
}

// WrotePod takes the pod that a write of the caller returned.
func (c *Cache) WrotePod(pod *corev1.Pod) {
	if adopters := c.wrotePod(pod); len(adopters) > 0 {
		c.listener.StrayChanged(adopters)
	}
}

func (c *Cache) wrotePod(pod *corev1.Pod) []*batchv1.Job {
	p := c.slim(pod)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.pods.stream(c.streamOf(pod.Namespace))
	if IsGone(pod) {
		c.remove(pod.UID, func() { c.pods.removed(s, pod.UID, pod.ResourceVersion) })
		return nil
	}
	old := c.pods.value(pod.UID)
	row := c.settle(old, p)
	if !row.isKept() || !c.put(pod.UID, row, func() bool { return c.pods.written(s, pod.UID, pod.ResourceVersion, row) }) {
		return nil
	}
	return c.newAdopters(old, row)
}

// PodMissing takes the answer that a pod no longer exists.
func (c *Cache) PodMissing(namespace string, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.pods.rows[uid]; r != nil && r.stream == c.pods.stream(c.streamOf(namespace)) {
		c.remove(uid, func() { c.pods.removed(r.stream, uid, r.version) })
	}
}

// HasMore says that the cache holds pods of the Job that are not in the list.
func (c *Cache) HasMore(job *batchv1.Job, pods []corev1.Pod) bool {
	listed := uidsOf(pods)
	for _, p := range c.Pods(job.UID) {
		if !listed[p.UID] {
			return true
		}
	}
	return false
}

// ListedPods takes a complete list of one Job's pods, read past the cache at the
// given resourceVersion: what is not in it, and is not newer, is gone. A pod in it that the
// Job does not control any more is no longer one of its pods: as the Job's it could be
// counted again. (Other pods in it are left to the watch.)
func (c *Cache) ListedPods(job *batchv1.Job, pods []corev1.Pod, version string) {
	changes, adopters := c.listedPods(job, pods, version)
	for _, change := range changes {
		c.listener.PodChanged(change)
	}
	if len(adopters) > 0 {
		c.listener.StrayChanged(adopters)
	}
}

// listedPods returns the changes that nobody knows of but the watch, which will not report
// them again: those of pods that the Job has lost.
func (c *Cache) listedPods(job *batchv1.Job, pods []corev1.Pod, version string) (changes []PodChange, adopters []*batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range pods {
		uid, s := pods[i].UID, c.pods.stream(c.streamOf(pods[i].Namespace))
		old, lost := c.pods.value(uid), JobUID(&pods[i]) != job.UID
		if lost && (old.job != job.UID || old.isStray()) {
			continue
		}
		row := c.settle(old, c.slim(&pods[i]))
		news := c.put(uid, row, func() bool { return c.pods.written(s, uid, pods[i].ResourceVersion, row) })
		if lost && news {
			changes, adopters = append(changes, c.changes(old, row)...), append(adopters, c.newAdopters(old, row)...)
		}
		if news && !row.isKept() {
			c.remove(uid, func() { c.pods.removed(s, uid, pods[i].ResourceVersion) })
		}
	}
	c.settleUnlisted(job, pods, version)
	return changes, adopters
}

// settleUnlisted removes the pods of the Job that a list does not have, unless they are newer.
func (c *Cache) settleUnlisted(job *batchv1.Job, pods []corev1.Pod, version string) {
	listed := uidsOf(pods)
	for _, r := range slices.Clone(c.podsOf(job.UID).rows) {
		if uid := r.value.pod.UID; !listed[uid] && !r.value.isStray() && !newer(r.version, version) {
			c.remove(uid, func() { c.pods.removed(r.stream, uid, version) })
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
