package facts

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/lists"
)

// settled is how long a restarted container has to run until its failures are over, the same time as in the kubelet.
const settled = 10 * time.Minute

// atLeast is how long a restarted container has to run until it may work, however short its last run was.
const atLeast = 30 * time.Second

// CrashLoop returns the first container of an active pod that fails and is restarted, again and again, or nil.
func (in *Facts) CrashLoop(p *input.Pod) *input.Container {
	return lists.First(p.Containers, in.FailsRepeatedly)
}

// Restarted returns the first container of an active pod that failed and runs again, unless it is in a crash loop, or nil.
func (in *Facts) Restarted(p *input.Pod) *input.Container {
	return lists.First(p.Containers, func(c *input.Container) bool {
		return c.Running && c.Before && c.ExitCode != 0 && c.Restarts > 0 && !in.FailsRepeatedly(c)
	})
}

// FailsRepeatedly reports whether a container of an active pod is in a crash loop. A crash loop lasts while the container
// waits for its next restart, while it runs again for no longer than before, and after it has failed once more.
func (in *Facts) FailsRepeatedly(c *input.Container) bool {
	switch {
	case c.Waiting == explain.CrashLoopBackOff:
		return true
	case !c.Ended || c.ExitCode == 0 || c.Restarts == 0:
		return false
	case c.Before:
		// It may work this time if it has run for longer than before.
		ran := c.EndedAt.Sub(c.StartedAt)
		return c.Running && ran < settled && in.Now.Sub(c.RunsSince) <= max(atLeast, min(2*ran, settled))
	}
	// Kubernetes 1.37 reports the last end until the next restart. A container with restartPolicyRules may have ended for good.
	by := in.RestartedBy(c, in.IsSidecar(c))
	return by != "" && by != explain.RestartedByRules && in.Now.Sub(c.EndedAt) < settled
}
