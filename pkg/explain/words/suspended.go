package words

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

func suspendedText(p *explain.Problem, now time.Time) string {
	switch {
	case p.Suspension.Raising:
		return "the Job is suspended until its memory is raised (retry --in-place)"
	case p.Suspension.Hold != nil:
		return holdText(&p.Suspension, "the Job", maxSentence-1, now)
	case p.Suspension.Queue != "":
		return fmt.Sprintf("Kueue keeps the Job suspended (queue %s)", p.Suspension.Queue)
	case p.Controller == explain.Kueue:
		return "Kueue keeps the Job suspended"
	case p.Suspension.OwnerRuns:
		return fmt.Sprintf("Kueue suspended the Job (spec.suspend, set by %s), although its owner %s %s is not suspended", p.Suspension.Manager, p.Suspension.Owner.Kind, p.Suspension.Owner.Name)
	case p.Suspension.OfTemplate():
		return fmt.Sprintf("CronJob %s creates its Jobs suspended (spec.suspend in spec.jobTemplate)", p.Suspension.Owner.Name)
	case p.Suspension.Owner != nil:
		return fmt.Sprintf("the Job is suspended (%s), which its owner %s %s controls", wording.Join(", set by ", "spec.suspend", p.Suspension.Manager), p.Suspension.Owner.Kind, p.Suspension.Owner.Name)
	case p.Suspension.Manager != "":
		return fmt.Sprintf("the Job is suspended (spec.suspend, set by %s)", p.Suspension.Manager)
	}
	return "the Job is suspended (spec.suspend)"
}

// holdText says why Kueue holds what the words name, in at most so many characters if that is possible without the name of the queue.
func holdText(s *explain.Suspension, it string, most int, now time.Time) string {
	text, _ := s.Hold.Text(it, s.Queue, now)
	if utf8.RuneCountInString(text) > most {
		text, _ = s.Hold.Text(it, "", now)
	}
	return text
}

// gatedText says what keeps pods from being scheduled.
func gatedText(p *explain.Problem, now time.Time) string {
	gates := wording.Form(len(p.Scheduling.Gates), "gate ", "gates ") + wording.Enumerate(p.Scheduling.Gates, "and")
	switch {
	case p.Suspension.Hold != nil:
		return holdText(&p.Suspension, "the Job", room(stalled), now)
	case p.Controller == explain.Kueue:
		return "the pod waits for Kueue to remove its scheduling " + gates
	}
	return "the pod is waiting for its scheduling " + gates + " to be removed"
}

// gatedNote says why other flavors of Kueue do not fit, and how Kueue holds the pods.
func gatedNote(p *explain.Problem, _ time.Time) string {
	if p.Suspension.Hold == nil {
		return ""
	}
	held := "its pods"
	if p.Suspension.Hold.GatedOf > 0 {
		held = wording.Form(int(p.Count), "that pod", "those pods")
	}
	return Clauses([]string{p.Suspension.Hold.Note(), "the scheduling gate " + wording.Enumerate(p.Scheduling.Gates, "and") + " holds " + held})
}

// suspendedNote says why other flavors of Kueue do not fit, that Kueue, which suspended the Job, does not queue it, or that pods were stopped.
func suspendedNote(p *explain.Problem, _ time.Time) string {
	switch n := p.Suspension.Stopped; {
	case p.Suspension.Hold != nil:
		return p.Suspension.Hold.Note()
	case p.Suspension.OwnerRuns:
		return "there is no Workload of Kueue for either, so Kueue does not start the Job"
	case p.Suspension.NoWorkload:
		return "there is no Workload of Kueue for it, which Kueue's controller should have created"
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
