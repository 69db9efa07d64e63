package words

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// The last line of the program is a part of the cause, for a failed Job as for one whose container is restarted.
// Requirements: CRJ-03, JST-01.
func TestRunOfAnOwnerIncludesTheLastLineOfItsProgram(t *testing.T) {
	var failed, loops explain.Report
	failed.Verdict.Outcome = reconcile.OutcomeFailed
	failed.Verdict.Cause = &explain.DecidingCause{Text: "container dump exited with code 1 after 4s", Container: "dump"}
	failed.Causes = []explain.Cause{
		{Text: "Container dump exited with code 1", Ended: explain.Ended{Container: "dump", ExitCode: ptr.To[int32](1), LastLine: "no database"}},
		{Text: "Container dump exited with code 143", Ended: explain.Ended{Container: "dump"}, Stop: explain.Stop{Consequence: true}},
	}
	loops.Verdict.Stalled, loops.Verdict.Problem = true, ptr.To[int32](0)
	loops.Problems = []explain.Problem{{Kind: explain.ProblemCrashLoop, Container: "trim", Run: explain.Run{
		Exit: &cause.Exit{Container: "trim", ExitCode: 2}, Restarts: 3, LastLine: "fatal error: deadlock",
	}}}
	for want, report := range map[string]*explain.Report{
		"container dump exited with code 1: no database":                                             &failed,
		"container trim exited with code 2 and is restarted, again and again: fatal error: deadlock": &loops,
	} {
		if got := RunOf(report, time.Time{}).Cause; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
