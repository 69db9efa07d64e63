package observe

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Orphan is a pod that holds the tracking finalizer of a Job, and that the Job does not
// control: because the pod is a stray, or because the cache does not hold the Job, which
// is gone or not yet known.
type Orphan struct {
	Pod *reconcile.Pod
	// Stray says that nobody controls the pod any more, so that another Job may adopt it.
	Stray bool
	// Selected says that the Job may adopt it: the cache holds the Job, its selector
	// selects the stray, and that is not being deleted.
	Selected bool
	// Namespace is the pod's, if the cache has not held the pod together with its Job.
	Namespace string
	// JobName is the Job's, if besides this program created the pod (or that does not matter, OfAnyMaker).
	JobName string
	// Labels are a stray's. They must not be changed.
	Labels map[string]string
	// Adopters are the Jobs in the cache whose selector selects the stray, unless it is being
	// deleted, if the cache does not hold its own. They must not be changed.
	Adopters []*batchv1.Job
}

// unknownJob cannot be in the UID of any object.
const unknownJob = "unknown-job/"

// UnknownJob stands for the Job of those pods of a namespace that hold the tracking
// finalizer, that nobody controls, and that do not say which Job was theirs, as pods of a
// Job with a selector of its own do not. Orphans takes it, if OfAnyMaker was called.
func UnknownJob(namespace string) types.UID { return unknownJob + types.UID(namespace) }

// IsUnknownJob says whether a UID is that of an UnknownJob, and of which namespace.
func IsUnknownJob(uid types.UID) (namespace string, is bool) {
	return strings.CutPrefix(string(uid), unknownJob)
}

// formerJob is what a stray says of the Job that it belonged to.
func (c *Cache) formerJob(pod *corev1.Pod) (uid types.UID, name string) {
	uid, name = types.UID(pod.Labels[batchv1.ControllerUidLabel]), pod.Labels[batchv1.JobNameLabel]
	if c.anyMaker && (uid == "" || name == "") {
		return UnknownJob(pod.Namespace), ""
	}
	return uid, name
}

// Orphans returns the pods that have lost the Job, or are about to (TRK-20, TRK-22).
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
