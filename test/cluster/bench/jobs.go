//go:build unix

package main

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// side is the program that runs a Job: a controller or the floor.
type side string

const (
	ours    side = "ours"
	builtIn side = "built-in"
	floor   side = "floor"

	namespace = "default"
	// floorManagedBy keeps every controller away from the floor's Jobs and pods.
	floorManagedBy = "bench.batchjob.dev/floor"
)

// managedBy returns spec.managedBy of the side's Jobs, nil for the built-in controller.
func (s side) managedBy() *string {
	switch s {
	case ours:
		return ptr.To(controller.DefaultManagedBy)
	case floor:
		return ptr.To(floorManagedBy)
	}
	return nil
}

// shape is the number and kind of a Job's pods, the same for all sides.
type shape struct {
	pods    int
	indexed bool
}

func (s shape) String() string {
	switch {
	case s.indexed:
		return fmt.Sprintf("%d indexes", s.pods)
	case s.pods == 1:
		return "1 pod"
	case s.pods == 0:
		return "no pods"
	}
	return fmt.Sprintf("%d pods", s.pods)
}

// newJob returns a Job whose pods all run at once and succeed as soon as the node sees them. The pods name their node,
// so that neither admission nor a scheduler takes part.
func newJob(s side, number int, shape shape, variants ...variant) *batchv1.Job {
	mode := batchv1.NonIndexedCompletion
	if shape.indexed {
		mode = batchv1.IndexedCompletion
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", s, number)},
		Spec: batchv1.JobSpec{
			ManagedBy:      s.managedBy(),
			CompletionMode: &mode,
			Completions:    ptr.To(int32(shape.pods)),
			Parallelism:    ptr.To(int32(shape.pods)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				NodeName:      "node-1",
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "worker", Image: "busybox", Command: []string{"true"}}},
			}},
		},
	}
	for _, change := range variants {
		change(job)
	}
	return job
}

// jobMaker numbers Jobs, so that all names are unique.
type jobMaker struct{ made int }

func (m *jobMaker) job(s side, shape shape, variants ...variant) *batchv1.Job {
	m.made++
	return newJob(s, m.made, shape, variants...)
}

// floorPod returns the pod that a controller would create for an index of the Job. It needs an owner: the built-in
// controller removes the finalizer of pods without an owner.
func floorPod(job *batchv1.Job, index int) *corev1.Pod {
	template := job.Spec.Template.DeepCopy()
	text := strconv.Itoa(index)
	template.Labels[batchv1.JobCompletionIndexAnnotation] = text
	annotations := map[string]string{batchv1.JobCompletionIndexAnnotation: text}
	maps.Copy(annotations, template.Annotations)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       job.Namespace,
			GenerateName:    job.Name + "-" + text + "-",
			Labels:          template.Labels,
			Annotations:     annotations,
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: template.Spec,
	}
	pod.Spec.Hostname = job.Name + "-" + text
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{
		Name: "JOB_COMPLETION_INDEX",
		ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']",
		}},
	}}
	return pod
}

// outcome reports whether the Job is complete; a failed Job is an error.
func outcome(job *batchv1.Job) (complete bool, err error) {
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return true, nil
		case c.Type == batchv1.JobFailed:
			return false, fmt.Errorf("job %s failed: %s: %s", job.Name, c.Reason, c.Message)
		}
	}
	return false, nil
}

// variant modifies a Job made by newJob.
type variant func(*batchv1.Job)

// groupLabel marks the Jobs that form one load, and their pods.
const groupLabel = "bench.batchjob.dev/group"

func inGroup(name string) variant {
	return func(job *batchv1.Job) {
		job.Labels = map[string]string{groupLabel: name}
		job.Spec.Template.Labels = map[string]string{groupLabel: name}
	}
}

// running makes the pods run for this long before they succeed.
func running(d time.Duration) variant {
	return func(job *batchv1.Job) {
		job.Spec.Template.Annotations = map[string]string{"kwok.batchjob.dev/run-time": d.String()}
	}
}

// forever is longer than any test waits.
const forever = 24 * time.Hour

// perIndex sets backoffLimitPerIndex: 0 or 1 failures.
func perIndex(failures int32) variant {
	return func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = &failures }
}

// patient allows any number of failures.
func patient(job *batchv1.Job) { job.Spec.BackoffLimit = ptr.To(int32(1 << 30)) }

// hasFailed returns a condition: this many pods of the Job have failed and are counted.
func hasFailed(pods int) func(*batchv1.Job) (bool, error) {
	return func(job *batchv1.Job) (bool, error) {
		uncounted := ptr.Deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
		return job.Status.Failed == int32(pods) && len(uncounted.Failed) == 0, nil
	}
}
