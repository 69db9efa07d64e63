package facts

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// settled is how long a restarted container has to run until its failures are over, the same time as in the kubelet.
const settled = 10 * time.Minute

// CrashLoop returns the first container of an active pod that fails and is restarted, again and again, or nil.
func (in *Facts) CrashLoop(p *input.Pod) *input.Container {
	for i := range p.Containers {
		if c := &p.Containers[i]; in.FailsRepeatedly(c) {
			return c
		}
	}
	return nil
}

// FailsRepeatedly reports whether a container of an active pod is in a crash loop. A crash loop lasts while the container
// waits for its next restart, while it runs again but not for long, and after it has failed once more.
func (in *Facts) FailsRepeatedly(c *input.Container) bool {
	switch {
	case c.Waiting == explain.CrashLoopBackOff:
		return true
	case !c.Ended || c.ExitCode == 0 || c.Restarts == 0:
		return false
	case c.Before:
		return c.Running && in.Now.Sub(c.RunsSince) < settled
	}
	// Kubernetes 1.37 reports the last end until the next restart. A container with restartPolicyRules may have ended for good.
	by := in.RestartedBy(c.Name, in.IsSidecar(c))
	return by != "" && by != explain.RestartedByRules && in.Now.Sub(c.EndedAt) < settled
}
