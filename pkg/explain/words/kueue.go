package words

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// heldText explains why Kueue does not admit the Job.
func heldText(p *explain.Problem) string {
	text, said := p.Hold.Text(p.Queue)
	return text + afterColon(withoutIDs(said))
}

// afterColon returns a message as the end of a clause.
func afterColon(message string) string {
	if message == "" {
		return ""
	}
	return ": " + LowerFirst(wording.Shorten(message, maxUnquoted))
}

// ActivateWorkload is advice on a Job that Kueue has deactivated.
const ActivateWorkload = "once the cause is resolved, activate its Workload again"
