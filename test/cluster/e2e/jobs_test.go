package e2e

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The built-in controller runs beside ours: each keeps to its own Jobs, and a third controller's Job is unchanged
// (MGB-01, MGB-05, MGB-06, MGB-13). The verdict about what the cluster stored needs all four kinds.
func TestEachControllerKeepsToItsJobs(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	named := func(name string, managedBy *string) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Name, j.Spec.ManagedBy = name, managedBy }
	}
	apply(t, ns, "non-indexed.yaml", named("ours", ptr.To("batchjob.dev/controller")))
	apply(t, ns, "non-indexed.yaml", named("built-in", nil))
	apply(t, ns, "non-indexed.yaml", named("reserved", ptr.To(batchv1.JobControllerName)))
	apply(t, ns, "non-indexed.yaml", named("foreign", ptr.To("example.com/other")))
	for name, manager := range map[string]string{"ours": "kubectl-batchjob-controller", "built-in": "kube-controller-manager", "reserved": "kube-controller-manager"} {
		job, reason := finished(t, ns, name)
		if reason != "Complete/CompletionsReached" || job.Status.Succeeded != 4 {
			t.Errorf("%s: %s %+v", name, reason, job.Status)
		}
		for _, f := range job.ManagedFields {
			if f.Subresource == "status" && f.Manager != manager {
				t.Errorf("the status of %s was written by %s", name, f.Manager)
			}
		}
		for _, pod := range pods(t, ns, name) {
			_, numbered := pod.Annotations["batchjob.dev/attempt"]
			assert.Equalf(t, numbered, (name == "ours"), "pod %s was created by the wrong controller", pod.Name)
		}
	}
	foreign, err := client.BatchV1().Jobs(ns).Get(t.Context(), "foreign", metav1.GetOptions{})
	assert.NoError(t, err)
	if s := foreign.Status; s.StartTime != nil || s.UncountedTerminatedPods != nil || len(s.Conditions) > 0 || len(pods(t, ns, "foreign")) > 0 {
		t.Errorf("the foreign Job was touched: %+v", s)
	}
}

// With restartPolicy OnFailure, each container fails once and is restarted in its pod, and nothing counts as failed
// (JOB-59).
func TestLocalRestartsDoNotCountAsFailed(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexedJob(3, 2, map[string]string{"run-time": "500ms", "exit-code.x.1": "1"}, func(s *batchv1.JobSpec) {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}))
	untilEnd(t, ns, "job", complete(reached, completionsReached, 3, 0, "0-2", 3))
	for _, pod := range past.pods(ns, "job") {
		assert.Equal(t, pod.Status.ContainerStatuses[0].RestartCount, 1, pod.Name)
	}
}

// indexedJob returns a Job whose pods follow the annotations, given without the prefix kwok.batchjob.dev/.
func indexedJob(completions, parallelism int32, annotations map[string]string, change func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	job.Spec = batchv1.JobSpec{
		ManagedBy: ptr.To("batchjob.dev/controller"), CompletionMode: ptr.To(batchv1.IndexedCompletion),
		Completions: &completions, Parallelism: &parallelism,
	}
	job.Spec.Template.Annotations = map[string]string{}
	for key, value := range annotations {
		job.Spec.Template.Annotations["kwok.batchjob.dev/"+key] = value
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}
	if change != nil {
		change(&job.Spec)
	}
	return job
}
