package controller

import (
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// maxGeneratePrefix is the longest prefix of a generated name: 63 characters of a
// hostname minus five random ones (JOB-39).
const maxGeneratePrefix = 58

const completionIndexEnv = "JOB_COMPLETION_INDEX"

// podFor builds a pod of the Job from its template (JOB-39..44, TRK-01). It does not change the Job, and the pods share
// no mutable data.
func podFor(job *batchv1.Job, n reconcile.NewPod) *corev1.Pod {
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       job.Namespace,
			GenerateName:    generateName(job.Name, n.Index),
			Labels:          template.Labels,
			Annotations:     maps.Clone(template.Annotations),
			Finalizers:      template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*jobReference(job)},
		},
		Spec: template.Spec,
	}
	if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[AttemptAnnotation] = strconv.Itoa(int(n.Attempt))
	if n.Index != reconcile.NoIndex {
		setIndex(pod, job.Name, n.Index)
	}
	if n.PerIndex {
		setFailures(pod, n)
	}
	return pod
}

// setFailures adds the number of earlier failures of the index (KEP-3850). The count of ignored failures is omitted if
// it is 0 (BLI-04).
func setFailures(pod *corev1.Pod, n reconcile.NewPod) {
	pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(n.Failures))
	delete(pod.Annotations, batchv1.JobIndexIgnoredFailureCountAnnotation)
	if n.Ignored > 0 {
		pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(n.Ignored))
	}
}

// jobReference returns a reference to the Job as the controller of an object.
func jobReference(job *batchv1.Job) *metav1.OwnerReference {
	return metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

func generateName(job string, index int32) string {
	if index == reconcile.NoIndex {
		if prefix := job + "-"; len(apivalidation.NameIsDNSSubdomain(prefix, true)) == 0 {
			return prefix
		}
		return job
	}
	suffix := "-" + strconv.Itoa(int(index)) + "-"
	return job[:min(len(job), maxGeneratePrefix-len(suffix))] + suffix
}

// setIndex sets the completion index of the pod (KEP-2214, KEP-4017).
func setIndex(pod *corev1.Pod, job string, index int32) {
	text := strconv.Itoa(int(index))
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[batchv1.JobCompletionIndexAnnotation] = text
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = text
	pod.Spec.Hostname = job + "-" + text
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addIndexEnv(&containers[i])
		}
	}
}

// addIndexEnv adds the index as an environment variable, unless the container already has a variable of that name
// (JOB-42, D-25).
func addIndexEnv(c *corev1.Container) {
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == completionIndexEnv }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{
		Name: completionIndexEnv,
		ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']",
		}},
	})
}
