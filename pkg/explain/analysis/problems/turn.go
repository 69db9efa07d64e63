package problems

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
)

// MayContinue reports whether the Job may continue without any change: it waits for its turn or for room, a container runs
// that is expected to take long, or the backoffLimit ends it. In doubt it returns false, unless no trouble is known: an
// image that takes long to pull is no reason to give up.
func MayContinue(p *explain.Problem) bool {
	switch p.Kind {
	case explain.ProblemSuspended, explain.ProblemSchedulingGated, explain.ProblemTerminatingHolds, explain.ProblemInitRunning,
		explain.ProblemSidecarStopping:
		return true
	case explain.ProblemUnschedulable:
		return len(p.Details) > 0 && eventtext.LacksRoom(p.Details[0])
	case explain.ProblemCreationRefused:
		return p.Reason == explain.RefusalQuota
	case explain.ProblemCrashLoop:
		return !p.Uncounted
	case explain.ProblemPodPending:
		return p.Node != "" && p.Reason == ""
	}
	return false
}
