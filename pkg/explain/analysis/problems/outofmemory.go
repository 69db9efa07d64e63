package problems

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// processesOOMKilled: pods that succeeded though the kernel killed a process in them for lack of memory, which the main
// process of the container did not mind, or which was that of a sidecar.
func processesOOMKilled(in *facts.Facts) []explain.Problem {
	type key struct {
		cause.Exit
		limit explain.MemoryLimit
	}
	var found byKey[key]
	for _, pod := range in.Pods {
		if pod.Phase != corev1.PodSucceeded {
			continue
		}
		i := slices.IndexFunc(pod.Containers, func(c explain.Container) bool {
			return c.Reason == explain.OOMKilled && (!c.Before || in.IsSidecar(&c)) // What a sidecar did not do then, nothing repeats.
		})
		if i < 0 {
			continue
		}
		c := &pod.Containers[i]
		exit, limit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}, in.MemoryLimit(c)
		p := explain.Problem{
			Kind: explain.ProblemProcessOOMKilled, Since: explain.TimeOf(c.EndedAt), Container: c.Name, Exit: &exit, Image: in.Image(c), Sidecar: c.Init,
		}
		if c.Before {
			p.Restarts = c.Restarts
		}
		if limit.Value != "" {
			p.MemoryLimit = &limit
		}
		found.add(key{exit, limit}, pod.Name, &p)
	}
	return found.mostFrequentFirst()
}
