package tui

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// The smallest size that is drawn for; below it lines are cut.
const (
	minWidth  = 20
	minHeight = 4
)

// View returns the frame, which is drawn once for each message that changes something.
func (m *Model) View() tea.View {
	if m.drawn {
		return m.frame
	}
	lines := m.lines()
	m.finals = m.theme.RenderAll(trimmed(lines[:len(lines)-1]))
	m.frame = tea.NewView(m.theme.RenderAll(lines))
	m.frame.AltScreen = true
	m.frame.WindowTitle = m.windowTitle()
	m.frame.ProgressBar = m.progressBar()
	if m.mouse {
		m.frame.MouseMode = tea.MouseModeCellMotion
	}
	m.drawn = true
	return m.frame
}

// LastPicture is the last frame without the line of keys: what stays on the terminal.
func (m *Model) LastPicture() string { return m.finals }

func trimmed(lines []canvas.Line) []canvas.Line {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].String()) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lines are those of the frame: the path, the screen, and a line for keys and questions.
func (m *Model) lines() []canvas.Line {
	p := m.paint()
	body := p.sized(p.width, max(1, p.height-2))
	var middle []canvas.Line
	switch {
	case m.help != nil:
		middle = m.help.body(body)
	default:
		middle = m.top().body(body)
	}
	out := make([]canvas.Line, 0, p.height)
	out = append(out, m.pathLine(p))
	for i := range body.height {
		if i < len(middle) {
			out = append(out, p.cut(middle[i], p.width))
			continue
		}
		out = append(out, nil)
	}
	return append(out, p.cut(m.bottomLine(p), p.width))
}

func (m *Model) paint() *paint {
	return &paint{
		width: max(m.width, minWidth), height: max(m.height, minHeight), now: m.now, absolute: m.absolute,
		location: m.o.Location, glyphs: m.glyphs, ascii: m.o.ASCII, data: &m.data,
	}
}

// pathLine is where we are, and how fresh it is.
func (m *Model) pathLine(p *paint) canvas.Line {
	var path canvas.Line
	for i, s := range m.stack {
		if i > 0 {
			path = append(path, canvas.Text(styleMuted, " "+m.glyphs.into+" "))
		}
		style := styleMuted
		if i == len(m.stack)-1 {
			style = bold
		}
		path = append(path, canvas.Text(style, s.crumb()))
	}
	return canvas.Spread(p.width, path, m.freshness(p), m.glyphs.ellipsis)
}

func (m *Model) freshness(p *paint) canvas.Line {
	l := canvas.Line{canvas.Text(stylePlain, " ")}
	link := m.latest().Link
	switch {
	case m.over != nil && !isEOF(m.over):
		l = append(l, canvas.Text(styleBad|bold, "ended: "+m.over.Error()), canvas.Text(stylePlain, "  "))
	case link.StaleSince != nil:
		l = append(l, canvas.Textf(styleBad|bold, "%s stale since %s", m.glyphs.warn, p.clock(*link.StaleSince)), canvas.Text(stylePlain, "  "))
	}
	if m.paused {
		l = append(l, canvas.Text(styleWarn|bold, m.glyphs.paused+" paused"), canvas.Text(stylePlain, "  "))
	}
	if m.o.Replay > 0 {
		word := fmt.Sprintf("replay %gx", m.o.Replay)
		if isEOF(m.over) {
			word = "end of the recording"
		}
		l = append(l, canvas.Text(styleSpecial, word), canvas.Text(stylePlain, "  "))
	}
	return append(l, canvas.Text(styleMuted, p.now.In(p.location).Format("15:04:05")))
}

func isEOF(err error) bool { return err == io.EOF } //nolint:errorlint // Sources return it as it is

// bottomLine is a question, something to say, why the connection is lost, or the keys.
func (m *Model) bottomLine(p *paint) canvas.Line {
	link := m.latest().Link
	switch {
	case m.prompt != nil:
		return m.prompt.line()
	case m.notice.text != "" && m.now.Before(m.notice.until):
		return canvas.Of(canvas.Text(styleAccent, m.notice.text))
	case link.StaleSince != nil && link.Why != "":
		return canvas.Of(canvas.Text(styleBad, "The connection is lost, trying again: "+link.Why))
	}
	return m.keyLine(p)
}

// keyLine are the keys that fit, those of the screen first.
func (m *Model) keyLine(p *paint) canvas.Line {
	var groups []keyGroup
	if m.help == nil {
		groups = m.top().keys()
	}
	tail := keyHints([]binding{keyHelp, keyBack})
	var l canvas.Line
	for _, g := range groups {
		for _, b := range g.bindings {
			if !b.Enabled() {
				continue
			}
			hint := keyHints([]binding{b})
			if l.Width()+hint.Width()+tail.Width() > p.width {
				continue
			}
			l = append(l, hint...)
		}
	}
	return append(l, tail...)
}

func keyHints(bindings []binding) canvas.Line {
	var l canvas.Line
	for _, b := range bindings {
		l = append(l, canvas.Text(bold, b.Help().Key), canvas.Text(styleMuted, " "+b.Help().Desc+"  "))
	}
	return l
}

func (m *Model) windowTitle() string {
	title := "kubectl batchjob"
	if j := m.data.job; j != nil {
		title = fmt.Sprintf("%s %s", j.Job.Name, j.Verdict.Status)
		if done, total := j.done(); total > 0 {
			title += " " + wording.Percent(int64(done), int64(total))
		}
	}
	return sanitize.Line(title)
}

// progressBar is the terminal's own.
func (m *Model) progressBar() *tea.ProgressBar {
	j := m.data.job
	if j == nil {
		return nil
	}
	done, total := j.done()
	if total <= 0 {
		return nil
	}
	state := tea.ProgressBarDefault
	switch j.Verdict.Fate {
	case explain.FateFailed, explain.FateFailing:
		state = tea.ProgressBarError
	case explain.FateComplete:
		return nil
	}
	if j.Job.Suspend || j.Verdict.Stalled {
		state = tea.ProgressBarWarning
	}
	return tea.NewProgressBar(state, int(int64(done)*100/int64(total)))
}
