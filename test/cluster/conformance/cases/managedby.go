package cases

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var managedBy = []suite.Case{
	{Name: "managed-by-somebody-else", Title: "A Job of another controller gets no pods, and its status is not touched",
		Source: "API: JobSpec.managedBy", Requirements: []string{"MGB-01", "MGB-06"}, Run: somebodyElsesJob},
	{Name: "managed-by-built-in", Title: "A Job of the built-in controller is not touched by another one",
		Source: "API: JobSpec.managedBy", Requirements: []string{"MGB-01", "MGB-05"}, Run: builtInJob},
	{Name: "recreated-for-somebody-else", Title: "A Job that is created again for another controller, under the same name, is not touched",
		Source: "KEP-4368, Alternatives", Requirements: []string{"MGB-03", "JOB-38"}, Run: recreatedForSomebodyElse},
	{Name: "pods-of-somebody-else", Title: "Pods of a Job of another controller keep the finalizer",
		Source: "KEP-4368, Design Details", Requirements: []string{"MGB-01", "TRK-23"}, Run: podsOfSomebodyElse},
}

// nobody is a controller that does not exist.
const nobody = "conformance.batchjob.dev/nobody"

func forNobody(job *batchv1.Job) { job.Spec.ManagedBy = ptr.To(nobody) }

func wantUntouched(t *suite.T, j *suite.Job) {
	job := j.Now()
	if !equality.Semantic.DeepEqual(job.Status, batchv1.JobStatus{}) {
		t.Errorf("the status of the Job is empty", "%+v", job.Status)
	} else {
		t.Observe("the status of the Job is empty")
	}
	wantPods(t, j, 0)
	suite.Equal(t, "the number of versions of the Job", 1, len(j.Versions()))
}

func somebodyElsesJob(t *suite.T) {
	j := t.Create(forNobody)
	t.Fence()
	t.Fence()
	wantUntouched(t, j)
}

func builtInJob(t *suite.T) {
	if t.ManagedBy == "" {
		t.Skip("the controller under test is the built-in one")
	}
	own := t.Create()
	t.End(0, own.UntilRunning(1)...)
	own.UntilComplete()
	unmanaged := t.CreateNamed("-absent", all(2), func(job *batchv1.Job) { job.Spec.ManagedBy = nil })
	reserved := t.CreateNamed("-reserved", all(2), func(job *batchv1.Job) { job.Spec.ManagedBy = ptr.To(batchv1.JobControllerName) })
	t.Fence()
	t.Fence()
	managers := writers(own)
	t.Observe("a Job under test and its pods are written by %v", managers)
	for _, j := range []*suite.Job{unmanaged, reserved} {
		both := slices.DeleteFunc(writers(j), func(name string) bool { return !slices.Contains(managers, name) })
		suite.Equal(t, "the number of them that have also written "+j.Name()+" or its pods", 0, len(both))
	}
}

// writers returns the field managers of the Job's status and of its pods, except for the pods' status.
func writers(j *suite.Job) []string {
	names := map[string]bool{}
	for _, job := range j.Versions() {
		for _, f := range job.ManagedFields {
			if f.Subresource == "status" {
				names[f.Manager] = true
			}
		}
	}
	for _, pod := range j.AllPods() {
		for _, f := range pod.ManagedFields {
			if f.Subresource == "" {
				names[f.Manager] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func recreatedForSomebodyElse(t *suite.T) {
	first := t.Create(all(2))
	first.UntilRunning(2)
	first.Delete(metav1.DeletePropagationBackground)
	first.UntilGone()
	second := t.Create(forNobody)
	for _, pod := range first.AllPods() {
		t.UntilPodGone(pod)
	}
	t.Fence()
	wantUntouched(t, second)
}

func podsOfSomebodyElse(t *suite.T) {
	j := t.Create(forNobody)
	pod := t.CreatePod("tracked", j.Now().Spec.Template.Labels, metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: "Job", Name: j.Name(), UID: j.UID(), Controller: ptr.To(true),
	})
	t.PatchPod(pod, `{"metadata":{"finalizers":["`+batchv1.JobTrackingFinalizer+`"]}}`)
	t.UntilPod(pod, "has the tracking finalizer", history.IsTracked)
	t.End(0, pod)
	t.Fence()
	t.Fence()
	now, _ := t.Pod(pod)
	suite.Equal(t, "the pod has the tracking finalizer", true, history.IsTracked(now))
	t.PatchPod(pod, `{"metadata":{"finalizers":null}}`)
}
