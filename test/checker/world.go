package sim

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// CreateJob creates a Job of the given spec.
func (w *World) CreateJob(name string, spec batchv1.JobSpec, script Script) error {
	job := &batchv1.Job{Spec: spec}
	job.Name = name
	return w.Play(job, script)
}

// SwitchFeatures starts a new controller process with other features.
func (w *World) SwitchFeatures(f reconcile.Features) {
	w.Controller.Limits.Features = f
	w.checker().regated()
	w.Restart()
}

// AddScene makes the pods of a Job, those that run too, act as the scene says.
func (w *World) AddScene(job string, scene Scene) {
	script, _ := w.kubelet.behaviors[job].(Script)
	w.kubelet.behaviors[job] = append(script, scene)
}

// Settle lets virtual time pass and reports every write of the controller in it:
// at rest there is none (L3), and nothing is left over (L2, S3). Gauges that were
// postponed may follow in the first two batch periods.
func (w *World) Settle(d time.Duration) error {
	w.RunUntil(func() bool { return false }, 2*time.Second+w.Lag)
	c := w.checker()
	before := c.ownWrites
	w.RunUntil(func() bool { return false }, d)
	c.AtRest()
	if n := c.ownWrites - before; n > 0 {
		return fmt.Errorf("%d writes while nothing happened", n)
	}
	return nil
}

// finishedAll reports whether all Jobs are finished.
func (w *World) finishedAll() bool {
	for _, job := range w.Store.jobs {
		if !Finished(job) {
			return false
		}
	}
	return true
}
