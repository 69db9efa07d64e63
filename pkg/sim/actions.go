package sim

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Play creates a Job as a user would, with the name, annotations and spec of job. It adds a
// managedBy, a container and a restart policy if the spec has none.
func (w *World) Play(job *batchv1.Job, pods Behavior) error {
	w.kubelet.behaviors[job.Name] = pods
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

// Matched reports whether scene i of the Job's Layers has matched a pod, even if a later scene
// applied.
func (w *World) Matched(name string, i int) bool {
	layers, _ := w.kubelet.behaviors[name].(Layers)
	return w.kubelet.matched[&layers.Script[i]]
}

// Finished reports whether the Job of that name is finished.
func (w *World) Finished(name string) bool {
	job := w.Store.jobs[name]
	return job != nil && Finished(job)
}

// Finished reports whether the Job has a terminal condition.
func Finished(job *batchv1.Job) bool { return view(job).finished() }
