package words

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// heldText explains why Kueue does not admit the Job.
func heldText(p *explain.Problem) string {
	h := p.Hold
	switch h.Kind {
	case kueue.Deactivated:
		return "Kueue has deactivated the Job and does not try to start it again" + inQueue(p) + afterColon(h.Message)
	case kueue.AdmissionChecks:
		return "Kueue has reserved quota for the Job" + inQueue(p) + " and waits for " + checksText(h.Checks)
	}
	text := "Kueue keeps the Job suspended"
	queue := "its queue"
	if p.Queue != "" {
		queue = "queue " + p.Queue
	}
	switch h.Kind {
	case kueue.QuotaInUse:
		text += fmt.Sprintf(": %s has too little unused quota for %s in flavor %s", queue, h.Resource, h.Flavor)
		if h.Missing != "" {
			text += fmt.Sprintf(" (%s more needed)", h.Missing)
		}
		return text
	case kueue.BorrowingLimit:
		return text + fmt.Sprintf(": %s may not borrow more quota for %s in flavor %s", queue, h.Resource, h.Flavor)
	case kueue.QuotaTooSmall:
		text += fmt.Sprintf(": it requests more %s than the quota of %s has in flavor %s", h.Resource, queue, h.Flavor)
		if h.Most != "" {
			text += fmt.Sprintf(" (at most %s)", h.Most)
		}
		return text
	case kueue.NoResource:
		return text + fmt.Sprintf(": the ClusterQueue of %s has no quota for %s", queue, h.Resource)
	case kueue.QueueMissing:
		return text + fmt.Sprintf(": %s %s does not exist", h.QueueKind, h.QueueName)
	case kueue.QueueStopped:
		return text + fmt.Sprintf(": %s %s is stopped", h.QueueKind, h.QueueName)
	}
	return text + inQueue(p) + afterColon(withoutIDs(h.Message))
}

func inQueue(p *explain.Problem) string {
	if p.Queue == "" {
		return ""
	}
	return fmt.Sprintf(" (queue %s)", p.Queue)
}

// afterColon returns a message as the end of a clause.
func afterColon(message string) string {
	if message == "" {
		return ""
	}
	return ": " + LowerFirst(wording.Shorten(message, maxUnquoted))
}

// checksText returns "admission check provision (Pending: no nodes yet)".
func checksText(checks []kueue.AdmissionCheck) string {
	var all []string
	for _, c := range checks {
		name, state := c.Name, wording.Join(": ", c.State, wording.Shorten(c.Message, maxUnquoted))
		if state != "" {
			name += " (" + state + ")"
		}
		all = append(all, name)
	}
	return wording.Form(len(all), "admission check ", "admission checks ") + wording.Enumerate(all, "and")
}

// Advice on Jobs that Kueue keeps suspended.
const (
	AskLocalQueue      = "wait for other Jobs of the queue to end, request less, or have the quota raised; the queue shows what is in use"
	RequestLess        = "waiting does not help: recreate the Job with smaller requests or less parallelism, or have the quota of the ClusterQueue raised"
	ChooseQueue        = "waiting does not help: change the label kueue.x-k8s.io/queue-name of the Job to one of the queues that exist, or have this one created"
	HaveQueueStarted   = "waiting does not help before the queue is started again: its conditions say why it is stopped"
	ReadWorkload       = "read the conditions and events of its Workload"
	ActivateWorkload   = "once the cause is resolved, activate its Workload again"
	FindAdmissionCheck = "find out what the admission check waits for"
)
