package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// causeLines are the failures by cause, the most frequent first: at most so many causes, 0
// for all, which are then told in full.
func causeLines(p *paint, j *jobData, most int) []layout.Line {
	shown := j.Causes
	if most > 0 && len(shown) > most {
		shown = shown[:most]
	}
	width := len(strconv.Itoa(int(j.FailuresWithoutPod)))
	for i := range j.Causes {
		width = max(width, len(strconv.Itoa(int(j.Causes[i].Count))))
	}
	var lines []layout.Line
	add := func(count int64, style styleOf, text layout.Line) {
		l := layout.Of(layout.Textf(style, "%*d%s ", width, count, p.times()))
		lines = append(lines, p.wrap(append(l, text...), width+2)...)
	}
	for i := range shown {
		c := &shown[i]
		add(int64(c.Count), styleBad|bold, causeText(c))
		for _, note := range causeNotes(p, c, most == 0) {
			note = note.Indent(width + 2)
			if most > 0 {
				lines = append(lines, p.cut(note, p.width))
				continue
			}
			lines = append(lines, p.wrap(note, width+2)...)
		}
	}
	if rest := j.Causes[len(shown):]; len(rest) > 0 {
		var count int64
		for i := range rest {
			count += int64(rest[i].Count)
		}
		add(count, styleMuted, layout.Of(layout.Text(styleMuted, "for "+wording.Plural(int64(len(rest)), "other cause", "other causes"))))
	}
	if n := j.FailuresWithoutPod; n > 0 {
		add(int64(n), styleMuted, layout.Of(layout.Text(styleMuted, withoutPod(j, n))))
	}
	return lines
}

// times is the sign behind a count.
func (p *paint) times() string {
	if p.ascii {
		return "x"
	}
	return "×"
}

// withoutPod says why nobody can tell the cause of some failures.
func withoutPod(j *jobData, n int32) string {
	for i := range j.Gaps {
		if j.Gaps[i].What == "pods" {
			return "not known: pods could not be read"
		}
	}
	return failures(n) + " without a pod to ask: it is gone, and no event tells of it"
}

// causeText is what happened, and what that means.
func causeText(c *explain.Cause) layout.Line {
	l := layout.Of(layout.Text(bold, wording.Sentence(c.Text)))
	if c.Meaning != "" {
		l = append(l, layout.Text(styleMuted, ": "+c.Meaning))
	}
	return l
}

// causeNotes are the rule, the places and the message of a cause; all in one line unless it
// is told in full.
func causeNotes(p *paint, c *explain.Cause, full bool) []layout.Line {
	var notes []layout.Span
	if rule := causeRule(c); rule != "" {
		notes = append(notes, layout.Text(styleAccent, rule))
	}
	if c.Consequence {
		notes = append(notes, layout.Text(styleMuted, "stopped because the Job was ending"))
	}
	if c.Indexes != "" {
		notes = append(notes, layout.Text(stylePlain, indexesWord(c.Indexes)+p.crop(c.Indexes, listLimit)))
	}
	if c.Message != "" {
		notes = append(notes, layout.Text(styleMuted, "said: "+c.Message))
	}
	if full && len(c.Pods) > 0 {
		notes = append(notes, layout.Text(styleMuted, "pods "+strings.Join(c.Pods, ", ")))
	}
	if source := sourceOf(c); source != "" {
		notes = append(notes, layout.Text(styleMuted, source))
	}
	if !full && len(notes) > 0 {
		return []layout.Line{dotted(p, notes)}
	}
	lines := make([]layout.Line, len(notes))
	for i, note := range notes {
		lines[i] = layout.Of(note)
	}
	return lines
}

// sourceOf is how a cause is known, if not from pods.
func sourceOf(c *explain.Cause) string {
	switch c.Source {
	case explain.SourceEvents:
		return "known from events"
	case explain.SourceCondition:
		return "known from the Job's condition"
	}
	return ""
}

func indexesWord(list string) string {
	if strings.ContainsAny(list, ",-") {
		return "indexes "
	}
	return "index "
}

// listLimit is how many bytes of a list of indexes are shown.
const listLimit = 50

// causeRule is `rule 0 "OutOfMemory": FailJob`.
func causeRule(c *explain.Cause) string {
	title := ""
	switch {
	case c.Rule != nil:
		title = ruleTitle(*c.Rule, c.RuleName)
	case c.RuleName != "":
		title = fmt.Sprintf("rule %q", c.RuleName)
	default:
		return ""
	}
	if c.Action != "" {
		title += ": " + c.Action
	}
	return title
}

// briefDetails is how many lines a problem quotes when there are others to tell of.
const briefDetails = 2

// problemLines are what keeps the Job from going on first, then what else is wrong, and
// what could not be read: at most so many problems, without missing logs; 0 for all in full.
func problemLines(p *paint, j *jobData, most int) []layout.Line {
	var lines []layout.Line
	n := 0
	for _, blocks := range []bool{true, false} {
		for i := range j.Problems {
			problem := &j.Problems[i]
			if problem.Blocks != blocks {
				continue
			}
			if n++; most > 0 && n > most {
				continue
			}
			lines = append(lines, problemOf(p, problem, most > 0, most > 0 && isTold(j, i))...)
		}
	}
	if most > 0 && n > most {
		lines = append(lines, layout.Of(layout.Textf(styleMuted, "  and %s", wording.Plural(int64(n-most), "other problem", "other problems"))))
	}
	for i := range j.Gaps {
		if most > 0 && j.Gaps[i].What == gapLogs {
			continue
		}
		text := layout.Of(layout.Text(styleWarn|bold, p.glyphs.Warn+" "), layout.Text(stylePlain, wording.Sentence(j.Gaps[i].Text)))
		lines = append(lines, p.wrap(text, 2)...)
	}
	return lines
}

// gapLogs is what a Gap says of a log that could not be read. It may be gone for good without
// anything being wrong with the Job; the explanation tells of it.
const gapLogs = "logs"

// isTold reports whether the verdict names a problem already.
func isTold(j *jobData, place int) bool {
	return j.Verdict.Problem != nil && *j.Verdict.Problem == int32(place)
}

// problemOf is one problem with what it quotes; one that was told has but its kind.
func problemOf(p *paint, problem *explain.Problem, brief, told bool) []layout.Line {
	mark := layout.Text(styleWarn|bold, p.glyphs.Warn+" ")
	if problem.Blocks {
		mark = layout.Text(styleBad|bold, p.glyphs.Bad+" ")
	}
	text := layout.Of(mark, layout.Text(bold, wording.Sentence(problem.Text)))
	if told {
		text = layout.Of(mark, layout.Text(bold, string(problem.Kind)))
	}
	if notes := problemNotes(p, problem); notes != "" {
		text = append(text, layout.Text(styleMuted, " ("+notes+")"))
	}
	lines := p.wrap(text, 2)
	quoted := quotedLines(p, problem.Details)
	if brief && len(quoted) > briefDetails {
		quoted = quoted[:briefDetails]
		quoted[briefDetails-1] = p.cut(append(quoted[briefDetails-1], layout.Text(styleMuted, p.glyphs.More)), p.width)
	}
	return append(lines, quoted...)
}

// problemNotes are "blocks, 3 pods, for 2m".
func problemNotes(p *paint, problem *explain.Problem) string {
	var notes []string
	if problem.Blocks {
		notes = append(notes, "blocks")
	}
	switch {
	case problem.Count > 1 || (problem.Count == 1 && len(problem.Pods) == 0):
		notes = append(notes, wording.Plural(int64(problem.Count), "pod", "pods"))
	case len(problem.Pods) > 0:
		notes = append(notes, "pod "+problem.Pods[0])
	}
	if !problem.Since.IsZero() {
		notes = append(notes, "for "+wording.Duration(max(0, p.now.Sub(problem.Since.Time))))
	}
	return strings.Join(notes, ", ")
}

// quotedLines are texts from the cluster, line by line.
func quotedLines(p *paint, texts []string) []layout.Line {
	var lines []layout.Line
	for _, text := range texts {
		for part := range strings.Lines(text) {
			l := layout.Of(layout.Blank(2), layout.Text(styleMuted, p.glyphs.Quote+" "), layout.Text(stylePlain, strings.TrimRight(part, "\n")))
			lines = append(lines, p.wrap(l, 4)...)
		}
	}
	return lines
}
