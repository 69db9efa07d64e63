package tui

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
)

// Scrollback returns the text that stays on the terminal after the view has ended: the whole short explanation of the open
// Job, or else the list as last shown. It is "" if nothing was shown.
func (m *Model) Scrollback() string {
	if !m.data.Snap.IsShown() {
		return ""
	}
	if j := m.openJob(); j != nil {
		return m.theme.RenderAll(trimmed(job.Answer(m.paint(), j, m.data.Snap.Link.StaleSince)))
	}
	m.help, m.prompt = nil, nil
	lines := m.lines()
	return m.theme.RenderAll(trimmed(lines[:max(1, len(lines)-1)]))
}

func trimmed(lines []layout.Line) []layout.Line {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].String()) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
