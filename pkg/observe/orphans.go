package observe

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Orphan is a pod that holds the tracking finalizer of a Job that the cache does not
// hold: the Job is gone, or its watch has not told of it yet.
type Orphan struct {
	Pod *reconcile.Pod
	// Stray says that nobody controls the pod any more, so that another Job may adopt it.
	Stray bool
	// Namespace is the pod's, if the cache has not held the pod together with its Job.
	Namespace string
	// JobName is the Job's, if besides this program created the pod.
	JobName string
}

// Orphans returns the pods that have lost the Job, or are about to (TRK-20, TRK-22).
// There are none as long as the cache holds the Job.
func (c *Cache) Orphans(job types.UID) []Orphan {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of := c.byJob[job]
	if of == nil || c.hasJob(job) {
		return nil
	}
	var out []Orphan
	for _, k := range of.keys {
		r := c.pods.rows[k].value
		if !r.pod.Finalizer {
			continue
		}
		o := Orphan{Pod: r.pod, Stray: r.isStray()}
		if r.more != nil {
			o.Namespace, o.JobName = r.more.namespace, r.more.jobName
		}
		out = append(out, o)
	}
	return out
}
