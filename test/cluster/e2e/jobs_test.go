package e2e

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

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
		if n := pod.Status.ContainerStatuses[0].RestartCount; n != 1 {
			t.Errorf("the container of %s was restarted %d times", pod.Name, n)
		}
	}
}
