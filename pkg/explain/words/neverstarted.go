package words

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// NeverStartedText is why no pod of the Job ever started, by what kept one of them.
func NeverStartedText(p *explain.Problem) string {
	switch {
	case p.Kind == explain.ProblemUnschedulable:
		return Joined(": ", "its pods never started, as no node could take them", unfitsText(p.Unfit, p.Claims))
	case p.Kind == explain.ProblemImagePull && p.Trouble != nil:
		return "its pods never started, as " + imageText(p)
	case p.Trouble != nil:
		return "its pods never started because " + startCause(p)
	}
	return Joined(": ", "its pods never started ("+p.Reason+")", briefly(strings.Join(p.Details, "\n")))
}

// DeadlinePassed is a clause on a Job whose pods never started; the deadline may be unset now.
func DeadlinePassed(deadline *int64) string {
	if deadline == nil {
		return "meanwhile, its activeDeadlineSeconds passed"
	}
	return fmt.Sprintf("meanwhile, its activeDeadlineSeconds (%s) passed", Seconds(*deadline))
}

// NoneStartedText is about pods that are gone and that never started.
func NoneStartedText(n int32) string {
	if n == 1 {
		return "the Job's controller deleted the pod, which never started, so it has no log"
	}
	return fmt.Sprintf("the Job's controller deleted the %s, which never started, so they have no logs", Count(n, "pods"))
}
