package tui

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Scrollback is what stays on the terminal once the view has ended: the short explanation of the open Job, whole, or else the
// list as it was. It is "" if nothing was shown.
func (m *Model) Scrollback() string {
	if !m.data.Snap.IsShown() {
		return ""
	}
	if m.isOfJob() {
		return m.theme.RenderAll(trimmed(m.explained(m.paint())))
	}
	m.help, m.prompt = nil, nil
	lines := m.lines()
	return m.theme.RenderAll(trimmed(lines[:max(1, len(lines)-1)]))
}

// explained is the explanation as explain-failure prints it, below what it cannot know: that the Job is gone, or that the
// API server had stopped answering.
func (m *Model) explained(p *widget.Paint) []layout.Line {
	var lines []layout.Line
	switch since := m.data.Snap.Link.StaleSince; {
	case m.isGone():
		lines = append(lines, layout.Of(layout.Text(layout.Bold, "The Job "+m.goneClause(p)+". Its last known state:")), nil)
	case since != nil:
		lines = append(lines, layout.Of(layout.Text(layout.Bold, "The API server has not answered since "+p.Clock(*since)+". The last known state:")), nil)
	}
	options := text.Options{Width: p.Width, ASCII: p.ASCII, Location: p.Location, Namespace: p.Namespace}
	return append(lines, text.ShortLines(*m.data.Job.Report, options)...)
}

// goneClause is "was deleted at 12:00:05".
func (m *Model) goneClause(p *widget.Paint) string {
	words := m.data.Job.GoneWords(p)
	if strings.HasPrefix(words, "deleted") {
		return "was " + words
	}
	return words
}

func trimmed(lines []layout.Line) []layout.Line {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].String()) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
