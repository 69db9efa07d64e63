package problems

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// endSlack is how long the other containers of a pod may take to end when one has failed.
const endSlack = 30 * time.Second

// FailedContainer is the container of an active pod that failed, and that is not restarted, while others still run; nil
// if there is none, or if it has just ended. No controller sees it: a pod has failed when all its containers have ended.
func FailedContainer(in *facts.Facts, p *explain.Pod) *explain.Container {
	if len(p.Running) == 0 || in.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil
	}
	i := slices.IndexFunc(p.Containers, func(c explain.Container) bool {
		failed := c.Ended && !c.Before && !c.Init && c.ExitCode != 0
		return failed && !c.EndedAt.IsZero() && in.Now.Sub(c.EndedAt) >= endSlack
	})
	if i < 0 {
		return nil
	}
	return &p.Containers[i]
}

// failedContainers: pods of which a container has failed, and that do not end as another of their containers keeps
// running, as a proxy does.
func failedContainers(in *facts.Facts) []explain.Problem {
	if in.Outcome.Decided() || in.Job.DeletionTimestamp != nil || jobspec.IsSuspended(in.Spec) {
		return nil // All pods are on their way out.
	}
	type key struct {
		cause.Exit
		running string
	}
	var found byKey[key]
	for _, pod := range in.Active {
		c := FailedContainer(in, pod)
		if c == nil {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		found.add(key{exit, strings.Join(pod.Running, ",")}, pod.Name, &explain.Problem{
			Kind: explain.ProblemContainerFailed, Blocks: true, Since: explain.TimeOf(c.EndedAt), Details: words.LastLines(c.Message),
			Exit: &exit, Container: c.Name, Running: pod.Running,
		})
	}
	return found.mostFrequentFirst()
}
