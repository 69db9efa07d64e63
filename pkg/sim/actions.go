package sim

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// CreateJob creates a Job of the given spec as a user would. A managedBy, a
// container and a restart policy are added where the spec has none.
func (w *World) CreateJob(name string, spec batchv1.JobSpec, script Script) error {
	job := &batchv1.Job{Spec: spec}
	job.Name = name
	w.kubelet.scripts[name] = script
	return w.createJob(job)
}

// Play creates a whole Job, of which name, annotations and spec count.
func (w *World) Play(job *batchv1.Job, script Script) error {
	w.kubelet.scripts[job.Name] = script
	return w.createJob(job)
}

func (w *World) createJob(job *batchv1.Job) error {
	if job.Spec.ManagedBy == nil {
		job.Spec.ManagedBy = ptr.To(controller.DefaultManagedBy)
	}
	template := &job.Spec.Template.Spec
	if len(template.Containers) == 0 {
		template.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	}
	if template.RestartPolicy == "" {
		template.RestartPolicy = corev1.RestartPolicyNever
	}
	_, err := w.Store.CreateJob(job)
	return err
}

// SwitchFeatures starts a new controller process with other features.
func (w *World) SwitchFeatures(f reconcile.Features) {
	w.Controller.Limits.Features = f
	w.checker().regated()
	w.Restart()
}

// AddScene makes the pods of a Job, those that run too, act as the scene says.
func (w *World) AddScene(job string, scene Scene) {
	w.kubelet.scripts[job] = append(w.kubelet.scripts[job], scene)
}

// Finished says that the Job of that name is finished.
func (w *World) Finished(name string) bool {
	job := w.Store.jobs[name]
	return job != nil && Finished(job)
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

// finishedAll says that all Jobs are finished.
func (w *World) finishedAll() bool {
	for _, job := range w.Store.jobs {
		if !Finished(job) {
			return false
		}
	}
	return true
}
