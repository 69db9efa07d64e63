package observe

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Orphan is a pod with the tracking finalizer of a Job that does not control it, because the pod is a stray, or because
// the Job is not in the cache (gone or not yet known).
type Orphan struct {
	Pod *reconcile.Pod
	// Stray reports whether the pod has no controller, so that another Job may adopt it.
	Stray bool
	// Selected reports whether the Job may adopt the pod: the Job is in the cache, its selector matches the stray, and
	// the stray is not being deleted.
	Selected bool
	// Namespace is the pod's namespace, if the pod and its Job were never in the cache together.
	Namespace string
	// JobName is the Job's name, if in addition this program created the pod (or with OrphansOfAll).
	JobName string
	// Labels are the labels of a stray. They must not be changed.
	Labels map[string]string
	// Adopters are the Jobs in the cache whose selector matches the stray, if its own Job is
	// not in the cache and the stray is not being deleted. They must not be changed.
	Adopters []*batchv1.Job
}

// unknownJob is a prefix that cannot occur in the UID of an object.
const unknownJob = "unknown-job/"

// UnknownJob returns a UID that stands for the unknown Job of the pods of a namespace that have the tracking finalizer
// but no controller, and do not name their Job, such as pods of a Job with manualSelector, or pods without labels.
// Orphans accepts it.
func UnknownJob(namespace string) types.UID { return unknownJob + types.UID(namespace) }

// IsUnknownJob reports whether a UID is from UnknownJob, and returns its namespace.
func IsUnknownJob(uid types.UID) (namespace string, is bool) {
	return strings.CutPrefix(string(uid), unknownJob)
}

// formerJob returns the Job that a stray names as its former controller; ofAll is Cache.orphansOfAll.
func formerJob(pod *corev1.Pod, ofAll bool) (uid types.UID, name string) {
	uid, name = types.UID(pod.Labels[batchv1.ControllerUidLabel]), pod.Labels[batchv1.JobNameLabel]
	if uid == "" || ofAll && name == "" {
		return UnknownJob(pod.Namespace), ""
	}
	return uid, name
}

// Orphans returns the pods with the tracking finalizer that the Job does not control, or whose Job is not in the cache
// (TRK-20, TRK-22).
func (c *Cache) Orphans(job types.UID) []Orphan {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of, known := c.byJob[job], c.job(job)
	if of == nil || known != nil && of.strays == 0 {
		return nil
	}
	s := selectorOf(known)
	var out []Orphan
	for _, entry := range of.rows {
		r := entry.value
		if !r.pod.Finalizer || known != nil && !r.isStray() {
			continue
		}
		o := orphanOf(r)
		switch {
		case !o.Stray:
		case known == nil:
			o.Adopters = c.adopters(r)
		default:
			o.Selected = !r.pod.Deleting && s.selects(o.Labels)
		}
		out = append(out, o)
	}
	return out
}

// Held returns which of the pods that the Job's status records have the tracking finalizer. Without a controller, a pod still
// counts as recorded, whatever labels it has lost. unnamed are the pods among these that do not name the Job, because they lost
// its label, or because another client created them: no change of them will be reported as a change of the Job's pods.
func (c *Cache) Held(job types.UID, recorded []types.UID) (held map[types.UID]bool, unnamed []Orphan) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := selectorOf(c.job(job))
	held = map[types.UID]bool{}
	for _, uid := range recorded {
		r := c.pods.rows[uid]
		if r == nil || !r.value.pod.Finalizer || r.value.job != job && !r.value.isStray() {
			continue
		}
		held[uid] = true
		if r.value.job != job {
			o := orphanOf(r.value)
			o.Selected, o.Adopters = !o.Pod.Deleting && s.selects(o.Labels), c.adopters(r.value)
			unnamed = append(unnamed, o)
		}
	}
	return held, unnamed
}

func orphanOf(r podRow) Orphan {
	o := Orphan{Pod: r.pod, Stray: r.isStray(), JobName: r.jobName()}
	if r.more != nil {
		o.Namespace = r.more.namespace
	}
	if o.Stray {
		o.Labels = r.labels()
	}
	return o
}
