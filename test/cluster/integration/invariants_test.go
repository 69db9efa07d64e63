package integration

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// judgeHistory returns the violations of the invariants of a Job controller, each beginning with the id and the
// revision.
func judgeHistory(versions []version) (violations []string) {
	stored := make([]history.Version, 0, len(versions))
	for _, v := range versions {
		stored = append(stored, v.Version)
	}
	for _, v := range invariants.Check(stored) {
		violations = append(violations, v.String())
	}
	return violations
}

func isOurs(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, "") == controller.DefaultManagedBy
}

func isOwnedBy(pod *corev1.Pod, job *batchv1.Job) bool { return history.JobOf(pod) == job.UID }
