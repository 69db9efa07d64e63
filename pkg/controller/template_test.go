package controller

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func templateJob(name string) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: "uid"}}
	job.Spec.Template = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}, Annotations: map[string]string{"note": "y"}, Finalizers: []string{"example.com/own"}},
		Spec: corev1.PodSpec{
			Hostname: "given", Subdomain: "sub",
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main"}, {Name: "own", Env: []corev1.EnvVar{{Name: completionIndexEnv, Value: "mine"}}}},
		},
	}
	return job
}

// JOB-39: the prefix of the generated name keeps the index, in 58 characters.
func TestGeneratedNameKeepsTheIndex(t *testing.T) {
	long := strings.Repeat("n", 63)
	for _, c := range []struct {
		job   string
		index int32
		want  string
	}{
		{"train", reconcile.NoIndex, "train-"},
		{"train", 7, "train-7-"},
		{long, 123, long[:53] + "-123-"},
		{"a.b", reconcile.NoIndex, "a.b-"},
	} {
		if got := generateName(c.job, c.index); got != c.want || c.index >= 0 && len(got) > maxGeneratePrefix {
			t.Errorf("%s %d: got %q, want %q", c.job, c.index, got, c.want)
		}
	}
}

// JOB-40..44, TRK-01, TRK-26: the fields of an indexed pod; the Job's template does not change.
// Requirements: JOB-41, JOB-42, JOB-43, JOB-44
func TestIndexedPodKnowsItsIndex(t *testing.T) {
	job := templateJob("train")
	before := job.DeepCopy()
	pod := podFor(job, reconcile.NewPod{Index: 3, Attempt: 2})
	other := podFor(job, reconcile.NewPod{Index: 4, Attempt: 1})
	assert.DeepEqual(t, job, before, "the Job was changed")
	if other.Annotations[AttemptAnnotation] != "1" || pod.Annotations[AttemptAnnotation] != "2" || pod.Labels[batchv1.JobCompletionIndexAnnotation] != "3" ||
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] != "3" || other.Labels[batchv1.JobCompletionIndexAnnotation] != "4" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	if pod.Labels["app"] != "x" || pod.Annotations["note"] != "y" || len(pod.Labels) != 2 {
		t.Errorf("from the template: labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	assert.DeepEqual(t, pod.Finalizers, []string{"example.com/own", batchv1.JobTrackingFinalizer}, "finalizers")
	if pod.Spec.Hostname != "train-3" || pod.Spec.Subdomain != "sub" || pod.GenerateName != "train-3-" {
		t.Errorf("hostname %q, subdomain %q, name %q", pod.Spec.Hostname, pod.Spec.Subdomain, pod.GenerateName)
	}
	for _, c := range []corev1.Container{pod.Spec.InitContainers[0], pod.Spec.Containers[0]} {
		if len(c.Env) != 1 || c.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.labels['batch.kubernetes.io/job-completion-index']" {
			t.Errorf("container %s: %v", c.Name, c.Env)
		}
	}
	if own := pod.Spec.Containers[1].Env; len(own) != 1 || own[0].Value != "mine" {
		t.Errorf("own variable: %v", own)
	}
	if owner := pod.OwnerReferences[0]; owner.UID != "uid" || owner.Kind != "Job" || !*owner.Controller || !*owner.BlockOwnerDeletion {
		t.Errorf("owner %v", owner)
	}
}

// Requirements: JOB-39
func TestNonIndexedPodHasNoIndex(t *testing.T) {
	job := templateJob("train")
	job.Spec.Template.Annotations = nil
	job.Spec.Template.Finalizers = []string{batchv1.JobTrackingFinalizer}
	pod := podFor(job, reconcile.NewPod{Index: reconcile.NoIndex, Attempt: 1})
	if len(pod.Finalizers) != 1 || pod.Spec.Hostname != "given" || len(pod.Spec.Containers[0].Env) != 0 || pod.Labels[batchv1.JobCompletionIndexAnnotation] != "" {
		t.Errorf("%+v", pod)
	}
}

// BLI-03, BLI-04: a pod has the failure counts of its index, "0" for the first pod; it has a count of ignored failures
// only once there are any, whatever the template has.
func TestPodCarriesTheFailuresOfItsIndex(t *testing.T) {
	job := templateJob("train")
	job.Spec.Template.Annotations = map[string]string{
		batchv1.JobIndexFailureCountAnnotation: "7", batchv1.JobIndexIgnoredFailureCountAnnotation: "8",
	}
	for _, c := range []struct {
		pod              reconcile.NewPod
		failures         string
		ignored, without bool
	}{
		{pod: reconcile.NewPod{PerIndex: true}, failures: "0", without: true},
		{pod: reconcile.NewPod{PerIndex: true, Failures: 2}, failures: "2", without: true},
		{pod: reconcile.NewPod{PerIndex: true, Failures: 1, Ignored: 3}, failures: "1", ignored: true},
		{pod: reconcile.NewPod{Failures: 1, Ignored: 3}, failures: "7"},
	} {
		a := podFor(job, c.pod).Annotations
		ignored, there := a[batchv1.JobIndexIgnoredFailureCountAnnotation]
		if a[batchv1.JobIndexFailureCountAnnotation] != c.failures || there == c.without || c.ignored && ignored != "3" {
			t.Errorf("%+v: %v", c.pod, a)
		}
	}
}
