package observe

import (
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
		o := Orphan{Pod: r.pod, Stray: r.isStray(), Selected: r.isStray() && !r.pod.Deleting && s.selects(r.labels())}
		if r.more != nil {
			o.Namespace, o.JobName = r.more.namespace, r.more.jobName
		}
		out = append(out, o)
	}
	return out
}
