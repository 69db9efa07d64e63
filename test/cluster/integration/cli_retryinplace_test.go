package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// The real API server lets the memory of a suspended Job change, and its controller runs the Job on: with its name, its UID, and
// what it had completed.
//
// Requirements: RTY-47
func TestRunningJobGetsMoreMemory(t *testing.T) {
	t.Parallel()
	testInPlace(t, false)
}

func testInPlace(t *testing.T, builtin bool) {
	f := newFixture(t)
	job := newJob(indexed(3), parallelism(3), perIndexLimit(6), onNode)
	job.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")},
	}
	if builtin {
		job.Spec.ManagedBy = nil
	} else {
		f.startController()
	}
	created := f.create(job)
	for _, pod := range f.untilActive(3) {
		f.kubelet.run(pod)
		switch pod.Annotations[batchv1.JobCompletionIndexAnnotation] {
		case "0":
			f.kubelet.succeed(pod)
		case "1":
			killed := corev1.ContainerStatus{Name: containerName}
			killed.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now()}
			f.kubelet.write(pod, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{killed}})
		}
	}
	f.untilJob("a", "index 0 is complete", func(job *batchv1.Job) bool { return job.Status.CompletedIndexes == "0" })
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		limit := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory]
		if limit.String() == "128Mi" {
			return corev1.PodSucceeded
		}
		return "" // The others run until they are deleted.
	})
	f.startPlugin("retry", "a", "--in-place", "--memory", "x2").wantEnd(cmdutil.ExitDone, "job.batch/a resource requirements updated\n", "gets 128Mi of memory instead of 64Mi")
	done := f.untilEndsAs("a", batchv1.JobComplete)
	resources := done.Spec.Template.Spec.Containers[0].Resources
	if limit, request := resources.Limits.Memory().String(), resources.Requests.Memory().String(); limit != "128Mi" || request != "64Mi" {
		t.Errorf("limit %s, request %s", limit, request)
	}
	if _, left := done.Annotations[retry.RaiseAnnotation]; left || done.UID != created.UID || done.Status.CompletedIndexes != "0-2" {
		t.Errorf("%+v", done)
	}
}
