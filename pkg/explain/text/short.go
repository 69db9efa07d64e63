package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Numbers of list elements that the short explanation shows.
const (
	shortCauses    = 3
	shortAdvice    = 3
	shortProblems  = 2
	shortSteps     = 2
	shortHistories = 2
	shortGaps      = 2
	shortLines     = words.ShortLog
	// shortPage is the number of lines above which a copy for debugging is only in the full explanation.
	shortPage = 14
)

// Short writes the answer on less than a screen: what happened to the Job and why, all causes before all advice, and where
// to find more.
func Short(w io.Writer, r explain.Report, o Options) error {
	return newShort(&r, o).page.writeTo(w)
}

// ShortLines returns the lines of Short, for callers that draw them themselves.
func ShortLines(r explain.Report, o Options) []layout.Line { return newShort(&r, o).page.Lines() }

// short draws a short explanation of a Report.
type short struct {
	*view
	// own are the causes of failures, except pods that the Job itself stopped, the decisive causes first.
	own []explain.Cause
}

func newShort(r *explain.Report, o Options) *short {
	v := &short{view: newView(r, o), own: section.OwnCauses(r)}
	slices.SortStableFunc(v.own, func(x, y explain.Cause) int { return rank(&y) - rank(&x) })
	v.page.Para(0, indentSection, v.headline()...)
	v.answer()
	v.labeled(indentSection, slices.Concat(
		v.why(), v.failedIndexes(), v.disrupted(), v.pod(), v.log(), v.details(), v.others(), v.waits(), v.retries(), v.unread(),
	))
	v.labeled(0, append(v.toDo(), v.more()...))
	return v
}

// headline returns "✗ train failed after 3m4s (17m ago): 1 of 10 indexes failed".
func (v *short) headline() layout.Line {
	r, g := v.report, &v.page.Glyphs
	mark, style := section.JobMark(g, r.Verdict.Outcome, r.Verdict.Stalled, r.Job.Suspend)
	spans := layout.Of(layout.Text(style|layout.Bold, mark+" "), layout.Text(layout.Bold, r.Job.Name))
	if owner := r.Job.Owner; owner != nil {
		spans = append(spans, plain(" ("+words.OwnerText(&r.Job)+")"))
	}
	if r.Job.Tool != nil {
		spans = append(spans, plain(" ("+words.ToolText(r.Job.Tool)+")"))
	}
	spans = append(spans, plain(" "), layout.Text(style|layout.Bold, r.Verdict.State), plain(v.time()))
	if r.Verdict.Summary != "" {
		spans = append(spans, plain(": "+r.Verdict.Summary))
	}
	return spans
}

// time returns the duration of the Job's state, or the duration of the Job and the time of its end.
func (v *short) time() string {
	r := v.report
	took := ""
	if r.Job.DurationSeconds != nil {
		took = wording.Seconds(*r.Job.DurationSeconds)
	}
	backoff := lists.First(r.Waits, func(w *explain.Wait) bool { return w.Kind == explain.WaitBackoff && v.pods.Active == 0 })
	switch held := v.heldFor(); {
	case !r.Job.Finished.IsZero():
		ago := " (" + v.frame.When(r.Job.Finished) + ")"
		if took != "" {
			ago = " after " + took + ago
		}
		return ago
	case held != "":
		return " for " + held
	case backoff != nil:
		return " for another " + wording.Age(backoff.Until.Sub(v.frame.Now))
	case took != "" && r.Verdict.Outcome == reconcile.OutcomeOpen:
		return " for " + took
	}
	return ""
}

// heldFor returns for how long the problem has held the Job, "" if the state of the Job is not as old as the problem: a Job that runs may lack
// pods for a shorter time.
func (v *view) heldFor() string {
	p := v.report.Named()
	if p == nil || p.Since.IsZero() || !v.report.Verdict.Stalled && p.Kind != explain.ProblemSuspended && p.Kind != explain.ProblemDeleting {
		return ""
	}
	return wording.Age(v.frame.Now.Sub(p.Since.Time))
}

// sentence writes a paragraph of the answer.
func (v *short) sentence(style layout.Style, text string) {
	v.page.Para(indentSection, indentSection, layout.Text(style, wording.Sentence(text)))
}

// answer writes the problem that blocks the Job, the reason of its end, and the causes of its failures.
func (v *short) answer() {
	if p := v.report.Named(); p != nil {
		v.sentence(layout.Plain, p.Text)
	}
	if len(v.report.Verdict.Notes) > 0 {
		v.sentence(layout.Plain, words.Clauses(v.report.Verdict.Notes))
	}
	if ended := words.EndHeadline(&v.report.Verdict); ended != "" {
		v.sentence(layout.Plain, ended)
	}
	r := v.report // The headline of an open Job has the number of pods that failed by a single cause.
	if v.isSingle() && (r.Verdict.Outcome.Fails() || r.Verdict.Outcome == reconcile.OutcomeOpen && !r.Verdict.Stalled && v.own[0].FailedIndexes == "" && section.CauseRule(&v.own[0]) == "") {
		v.sentence(layout.Plain, words.CauseSentence(&v.own[0]))
	} else {
		v.causes()
	}
	if text := section.StoppedNote(v.report); text != "" {
		v.sentence(layout.Muted, text)
	}
}

// isSingle reports whether the cause of all failures is the same.
func (v *short) isSingle() bool {
	return len(v.own) == 1 && v.report.FailuresWithoutPod == 0
}

// causes writes the causes of all failures, each with its indexes and one command.
func (v *short) causes() {
	if len(v.own) > 0 {
		v.page.Blank()
	}
	shown := v.own
	if len(shown) > shortCauses+1 {
		shown = shown[:shortCauses]
	}
	width := 0
	for i := range shown {
		width = max(width, len(countLabel(&shown[i])))
	}
	for i := range shown {
		v.cause(&shown[i], width)
	}
	if rest := v.own[len(shown):]; len(rest) > 0 {
		pods := int32(0)
		for i := range rest {
			pods += rest[i].Count
		}
		v.sentence(layout.Muted, fmt.Sprintf("%s of %s", wording.Plural(len(rest), "other cause", "other causes"), wording.Plural(pods, "pod", "pods")))
	}
	if unknown := v.report.FailuresWithoutPod; unknown > 0 {
		style, others := layout.Plain, len(v.own) > 0
		if others {
			style = layout.Muted
		}
		v.sentence(style, words.UnknownText(unknown, section.PodsUnread(v.report), others))
	}
}

// cause writes one of several causes.
func (v *short) cause(c *explain.Cause, width int) {
	label := countLabel(c)
	hang := indentSection + width + 2
	text := strings.TrimPrefix(wording.Join("; ", words.CauseSentence(c), words.UnreadClause(c)), "Pod was ") // The label names the pods.
	// The rule that failed the Job is shown anyway.
	decisive := v.report.Verdict.Rule
	if rule := section.CauseRule(c); rule != "" && (decisive == nil || c.Rule == nil || *decisive != *c.Rule) {
		text += " (" + rule + ")"
	}
	v.page.Para(indentSection, hang, layout.Text(layout.Bad|layout.Bold, fmt.Sprintf("%*s  ", width, label)), layout.Text(layout.Bold, wording.Sentence(text)))
	if list := c.FailedIndexes; list != "" {
		v.page.Para(hang, hang, layout.Text(layout.Muted, v.frame.Crop(list, section.IndexesLimit)))
	}
	if !v.isSingle() {
		v.page.Command(hang, c.Command)
	}
}

// countLabel returns the number of indexes that failed for good, "15 indexes", or else the number of pods, "3 pods".
func countLabel(c *explain.Cause) string {
	if c.FailedIndexes != "" {
		return wording.Plural(c.FailedIndexCount, "index", "indexes")
	}
	return wording.Plural(c.Count, "pod", "pods")
}

// rank returns a higher number for causes that decided something.
func rank(c *explain.Cause) int {
	switch {
	case c.FailedIndexes != "" || c.Action == string(batchv1.PodFailurePolicyActionFailJob):
		return 2
	case c.Action == string(batchv1.PodFailurePolicyActionIgnore):
		return 0
	}
	return 1
}
