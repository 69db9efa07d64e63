package text

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// answer writes the problem that blocks the Job, the reason of its end, and the causes of its failures.
func (v *short) answer() {
	if p := v.report.Named(); p != nil {
		v.sentence(layout.Plain, p.Text)
	}
	if ended := words.EndHeadline(&v.report.Verdict); ended != "" {
		v.sentence(layout.Plain, ended)
	}
	if v.isSingle() && v.report.Verdict.Outcome.Fails() { // The number of failures is not worth a line.
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
	text := words.CauseSentence(c)
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
