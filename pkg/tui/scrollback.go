package tui

import (
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Scrollback returns the text that stays on the terminal after the view has ended: the whole short explanation of the open
// Job, or else the list as last shown. It is "" if nothing was shown.
func (m *Model) Scrollback() string {
	if !m.data.Snap.IsShown() {
		return ""
	}
	if j := m.openJob(); j != nil {
		return m.theme.RenderAll(trimmed(explained(m.paint(), j, m.data.Snap.Link.StaleSince)))
	}
	m.help, m.prompt = nil, nil
	lines := m.lines()
	return m.theme.RenderAll(trimmed(lines[:max(1, len(lines)-1)]))
}

// explained returns the explanation as explain-failure prints it, below a warning if the Job is gone, or if the API server
// had stopped responding.
func explained(p *widget.Paint, j *screen.Job, staleSince *time.Time) []layout.Line {
	var lines []layout.Line
	switch {
	case j.Gone:
		gone := j.GoneWords(p)
		if strings.HasPrefix(gone, "deleted") {
			gone = "was " + gone
		}
		lines = append(lines, layout.Of(layout.Text(layout.Bold, "The Job "+gone+". Its last known state:")), nil)
	case staleSince != nil:
		lines = append(lines, layout.Of(layout.Text(layout.Bold, "The API server has not answered since "+p.Clock(*staleSince)+". The last known state:")), nil)
	}
	options := text.Options{Width: p.Width, ASCII: p.ASCII, Location: p.Location, Namespace: p.Namespace}
	return append(lines, text.ShortLines(*j.Report, options)...)
}

func trimmed(lines []layout.Line) []layout.Line {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].String()) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
