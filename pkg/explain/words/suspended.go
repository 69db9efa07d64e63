package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

func suspendedText(p *explain.Problem, now time.Time) string {
	switch {
	case p.Suspension.Raising:
		return "the Job is suspended until its memory is raised (retry --in-place)"
	case p.Suspension.Hold != nil:
		text, _ := p.Suspension.Hold.Text("the Job", p.Suspension.Queue, now)
		return text
	case p.Suspension.Queue != "":
		return fmt.Sprintf("Kueue keeps the Job suspended (queue %s)", p.Suspension.Queue)
	case p.Controller == explain.Kueue:
		return "Kueue keeps the Job suspended"
	case p.Suspension.OwnerRuns:
		return fmt.Sprintf("Kueue suspended the Job (spec.suspend, set by %s), although its owner %s %s is not suspended", p.Suspension.Manager, p.Suspension.Owner.Kind, p.Suspension.Owner.Name)
	case p.Suspension.Owner != nil:
		return fmt.Sprintf("the Job is suspended (%s), which its owner %s %s controls", wording.Join(", set by ", "spec.suspend", p.Suspension.Manager), p.Suspension.Owner.Kind, p.Suspension.Owner.Name)
	case p.Suspension.Manager != "":
		return fmt.Sprintf("the Job is suspended (spec.suspend, set by %s)", p.Suspension.Manager)
	}
	return "the Job is suspended (spec.suspend)"
}

// suspendedNote says why other flavors of Kueue do not fit, that Kueue, which suspended the Job, does not queue it, or that pods were stopped.
func suspendedNote(p *explain.Problem, _ time.Time) string {
	switch n := p.Suspension.Stopped; {
	case p.Suspension.Hold != nil:
		return p.Suspension.Hold.Note()
	case p.Suspension.OwnerRuns:
		return "there is no Workload of Kueue for either, so Kueue does not start the Job"
	case n > 0:
		return wording.Plural(n, "running pod was", "running pods were") + " stopped for it"
	}
	return ""
}

// suspendedQuote returns the message of Kueue about the Job.
func suspendedQuote(p *explain.Problem, now time.Time) quotation {
	detail := ""
	switch {
	case p.Suspension.Hold != nil:
		_, detail = p.Suspension.Hold.Text("the Job", p.Suspension.Queue, now)
	case p.Controller == explain.Kueue && len(p.Details) > 0: // Kueue had started the Job.
		detail = p.Details[0]
	}
	return plainly(LowerFirst(withoutIDs(detail)))
}

// withoutIDs removes the UIDs of the other workload, which help no reader.
func withoutIDs(message string) string {
	before, ids, _ := strings.Cut(message, " (UID: ")
	_, after, _ := strings.Cut(ids, ")")
	return before + after
}
