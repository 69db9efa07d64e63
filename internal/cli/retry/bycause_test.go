package retry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// failedPod is a pod of an index whose container main, with a memory limit, ended.
func failedPod(job *unstructured.Unstructured, index int, code int32, reason, limit, message string) *corev1.Pod {
	pod := clitest.EndedPod(job, fmt.Sprintf("%s-%d", job.GetName(), index), code, message)
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(index)}
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = reason
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	if limit != "" {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
	}
	return pod
}

// memory sets the limit and the request of container main in the Job.
func memory(limit, request string) func(*unstructured.Unstructured) {
	return set([]any{map[string]any{"name": "main", "image": "i", "resources": map[string]any{
		"limits": map[string]any{"memory": limit}, "requests": map[string]any{"memory": request},
	}}}, "spec", "template", "spec", "containers")
}
