package text

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Span is a piece of a line in one style. Its text is safe for a terminal.
type Span struct {
	Text  string
	Style Style
}

// Line is a line of spans, nil for an empty one.
type Line []Span

// ExplanationLines are those of Explanation, for whoever draws them himself.
func ExplanationLines(r explain.Report, o Options) []Line {
	var lines []Line
	v := newView(&r, o)
	v.page.lines = &lines
	v.explanation()
	return lines
}

// exported is a line for others.
func (p *page) exported(indent int, spans line) Line {
	var out Line
	if indent > 0 {
		out = append(out, Span{Text: strings.Repeat(" ", indent)})
	}
	for _, s := range merge(spans) {
		out = append(out, Span{Text: p.clean(s.text), Style: s.style})
	}
	return out
}
