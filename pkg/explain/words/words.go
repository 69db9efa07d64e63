// Package words turns the values of an explain.Report into sentences. All texts are here, except for package cause, whose
// texts are also used in the controller's events. Code that reads a report compares values, not texts.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// UpperFirst returns text with an upper-case first letter, for the beginning of a sentence.
func UpperFirst(text string) string { return withFirst(text, unicode.ToUpper) }

// LowerFirst returns text with a lower-case first letter, for the middle of a sentence.
func LowerFirst(text string) string { return withFirst(text, unicode.ToLower) }

func withFirst(text string, change func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 || r == utf8.RuneError {
		return text
	}
	return string(change(r)) + text[size:]
}

// Clauses joins clauses to a sentence.
func Clauses(all []string) string { return wording.Join("; ", all...) }

// FullStop adds a full stop, unless the text ends with "!", "?" or an ellipsis.
func FullStop(text string) string {
	if strings.HasSuffix(text, "…") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// ContainersText returns "container proxy", or "containers proxy and logs".
func ContainersText(names []string) string {
	return wording.Form(len(names), "container ", "containers ") + wording.Enumerate(names, "and")
}

// FillIn sets the texts of a report that later steps refer to: the controller, the policies of the Job with this spec, the waits,
// and the problems.
func FillIn(r *explain.Report, spec *batchv1.JobSpec) {
	now := r.ObservedAt.Time
	r.Reconciler.Text = ReconcilerText(&r.Reconciler, now)
	if p := r.FailurePolicy; p != nil {
		for i := range p.Rules {
			p.Rules[i].Requirement = requirement(&spec.PodFailurePolicy.Rules[p.Rules[i].Index])
		}
	}
	if p := r.SuccessPolicy; p != nil {
		for i := range p.Rules {
			p.Rules[i].Text = successRuleText(&p.Rules[i])
		}
	}
	for i := range r.Waits {
		r.Waits[i].Text = waitText(&r.Waits[i])
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		text, details := ProblemText(p, now), OneLine(p.Details)
		p.Text, p.Quoted, p.Shortened = text, details != "" && strings.Contains(text, details), shortens(text, p, now)
	}
}

const (
	// maxQuoted is the maximum length of a quoted message in a sentence, in characters.
	maxQuoted = 100
	// maxUnquoted is the maximum length of a message in a sentence without quotes.
	maxUnquoted = 160
)

// LastLines returns 10 lines of a message, without empty ones at the end: the last ones, or those that begin with its error
// (meaning.Tail).
func LastLines(message string) []string {
	message = strings.TrimRight(message, " \r\n\t")
	if message == "" {
		return nil
	}
	lines, _ := meaning.Tail(strings.Split(message, "\n"), 10)
	return lines
}

// maxList is the maximum length of a list of indexes in a sentence, in characters.
const maxList = 50

// crop cuts a list of intervals after a comma, so that no interval is cut in two (CLI-02).
func crop(list string) string { return wording.Crop(list, maxList, "…") }

// OneLine joins lines, with single spaces between their words.
func OneLine(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
