package problems

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// containersRetried: init containers and sidecars that failed and were restarted, in pods that succeeded: no status of the
// Job shows that. A sidecar that was OOMKilled is another problem.
func containersRetried(in *facts.Facts) []explain.Problem {
	var found byKey[cause.Exit]
	for _, pod := range in.Pods {
		if pod.Phase != corev1.PodSucceeded {
			continue
		}
		for i := range pod.Containers {
			c := &pod.Containers[i]
			sidecar := in.IsSidecar(c)
			if !c.Init || !c.Before || c.ExitCode == 0 || sidecar && c.Reason == explain.OOMKilled {
				continue
			}
			exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
			found.add(exit, pod.Name, &explain.Problem{
				Kind: explain.ProblemContainerRetried, Since: explain.TimeOf(c.EndedAt), Container: c.Name, Exit: &exit, Restarts: c.Restarts, Sidecar: sidecar,
			})
		}
	}
	return found.mostFrequentFirst()
}
