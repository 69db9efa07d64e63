package words

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// GroupText is what the Jobs of a group have in common: without the pods and times of one of them. how says how
// their pods failed.
func GroupText(g *explain.JobGroup, how string) string {
	if g.Problem != nil {
		return groupProblem(g.Problem)
	}
	return Joined(": ", g.Reason, LowerFirst(how))
}

func groupProblem(p *explain.Problem) string {
	switch p.Kind {
	case explain.ProblemNotReconciled:
		return "no controller works on them"
	case explain.ProblemControllerGone:
		return ControllerWord(p.Controller) + " does not seem to be running"
	case explain.ProblemContainerEnded, explain.ProblemSidecarStopping:
		return containerEndedText(&explain.Problem{Kind: p.Kind, Container: p.Container, Exit: p.Exit, Running: p.Running}, time.Time{})
	case explain.ProblemContainerFailed:
		return "container " + p.Container + " ended with " + cause.ExitText(p.Exit.ExitCode, p.Exit.Reason) + ", and " + ContainersText(p.Running) + Plural(len(p.Running), " still runs", " still run")
	}
	return ProblemWhat(p, time.Time{}, &explain.Reconciler{})
}
