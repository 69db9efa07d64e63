package tui

import (
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
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
	m.frame = tea.NewView(m.theme.RenderAll(m.lines()))
	m.frame.AltScreen = true
	m.frame.WindowTitle = m.windowTitle()
	m.frame.ProgressBar = m.progressBar()
	if m.mouse {
		m.frame.MouseMode = tea.MouseModeCellMotion
	}
	m.drawn = true
	return m.frame
}

// lines are those of the frame: the path, the screen, and a line for keys and questions.
func (m *Model) lines() []layout.Line {
	p := m.paint()
	body := p.Sized(p.Width, max(1, p.Height-2))
	if m.paused {
		body.Now = m.pausedAt
	}
	if since := m.data.Snap.Link.StaleSince; since != nil {
		body.Now, body.Stale = *since, true
	}
	if m.isOfJob() {
		body.Now = m.data.Job.AsOf(body.Now)
	}
	coach := m.coachLine(p)
	body.Height = max(1, body.Height-len(coach))
	middle := m.body(body)
	out := make([]layout.Line, 0, p.Height)
	out = append(out, m.pathLine(p))
	for i := range body.Height {
		var l layout.Line
		if i < len(middle) {
			l = p.Cut(middle[i], m.width)
		}
		out = append(out, l)
	}
	out = append(out, coach...)
	out = append(out, m.bottomLine(p))
	out[0], out[len(out)-1] = p.Cut(out[0], m.width), p.Cut(out[len(out)-1], m.width)
	return out[:min(len(out), m.height)]
}

// coachLine says what to do first, until a key was pressed and if there is room for a line that is no help later.
func (m *Model) coachLine(p *widget.Paint) []layout.Line {
	const leastHeight = 20
	if m.o.Coach == "" || m.keyed || m.height < leastHeight || !m.data.Snap.IsShown() {
		return nil
	}
	return []layout.Line{p.Cut(layout.Of(layout.Text(layout.Accent|layout.Bold, p.Glyphs.Cursor+" "), layout.Text(layout.Accent, m.o.Coach)), m.width)}
}

// body is the help or the top screen.
func (m *Model) body(p *widget.Paint) []layout.Line {
	if m.help != nil {
		return m.help.body(p)
	}
	return m.top().Body(p, &m.data)
}

func (m *Model) paint() *widget.Paint {
	return &widget.Paint{
		Frame: section.Frame{
			Width: max(m.width, minWidth), Now: m.now, Absolute: m.absolute,
			Location: m.o.Location, Glyphs: m.glyphs, ASCII: m.o.ASCII,
		},
		Height: max(m.height, minHeight), Namespace: m.o.Namespace,
	}
}

// isGone reports whether the screen is about a Job that was deleted.
func (m *Model) isGone() bool { return m.isOfJob() && m.data.Job.Gone }

// isOfJob reports whether the screen is about a Job that has been read.
func (m *Model) isOfJob() bool { return m.data.Job != nil && !m.top().Focus().Opened().Job.IsZero() }

// leastCrumb is how far the earlier parts of the path are shortened, so that the last one
// can be read.
const leastCrumb = 8

// pathLine is the path to the screen, and how fresh its data is.
func (m *Model) pathLine(p *widget.Paint) layout.Line {
	fresh := m.freshness(p)
	between := layout.Text(layout.Muted, " "+m.glyphs.Into+" ")
	last := len(m.stack) - 1
	room := p.Width - fresh.Width() - layout.Plainly(m.top().Crumb()).Width() - last*layout.Of(between).Width()
	var path layout.Line
	for i, s := range m.stack[:last] {
		crumb := layout.Of(layout.Text(layout.Muted, s.Crumb()))
		crumb = p.Cut(crumb, max(leastCrumb, room/(last-i)))
		room -= crumb.Width()
		path = append(append(path, crumb...), between)
	}
	path = append(path, layout.Text(layout.Bold, m.top().Crumb()))
	if way := layout.Text(layout.Muted, " q quits "); m.quits() && path.Width()+layout.Of(way).Width()+fresh.Width() <= p.Width {
		// Also for somebody who has not asked for a view, in whose terminal nobody types.
		fresh = append(layout.Of(way), fresh...)
	}
	return layout.Spread(p.Width, path, fresh, m.glyphs.Ellipsis)
}

// freshness is the time, and what is not live.
func (m *Model) freshness(p *widget.Paint) layout.Line {
	l := layout.Line{layout.Text(layout.Plain, " ")}
	mark := func(style layout.Style, text string) {
		l = append(l, layout.Text(style, text), layout.Blank(2))
	}
	link := m.latest().Link
	switch {
	case m.Err() != nil:
		ended := layout.Of(layout.Text(layout.Bad|layout.Bold, "ended: "+m.over.Error()))
		l = append(append(l, p.Cut(ended, p.Width/2)...), layout.Blank(2))
	case link.Silent:
		mark(layout.Bad|layout.Bold, p.Glyphs.Warn+" no answer for "+wording.Duration(max(0, p.Now.Sub(*link.StaleSince))))
	case link.StaleSince != nil:
		mark(layout.Bad|layout.Bold, p.Glyphs.Warn+" stale since "+p.Clock(*link.StaleSince))
	}
	if m.isGone() {
		mark(layout.Bad|layout.Bold, p.Glyphs.Bad+" "+m.data.Job.GoneWords(p))
	}
	if m.paused {
		mark(layout.Warn|layout.Bold, m.glyphs.Paused+" paused")
	}
	switch {
	case m.o.Replay > 0 && errors.Is(m.over, io.EOF):
		mark(layout.Special, "end of the recording")
	case m.o.Replay > 0:
		mark(layout.Special, fmt.Sprintf("replay %gx", m.o.Replay))
	case m.o.Badge != "":
		mark(layout.Special, m.o.Badge)
	}
	return append(l, layout.Text(layout.Muted, p.Now.In(p.Location).Format("15:04:05")))
}

// bottomLine is a question, a notice, why the connection is lost, or the keys.
func (m *Model) bottomLine(p *widget.Paint) layout.Line {
	link := m.latest().Link
	switch {
	case m.prompt != nil:
		return m.prompt.Line(p.Width, p.Glyphs.Ellipsis)
	case m.notice.text != "" && m.now.Before(m.notice.until):
		return layout.Of(layout.Text(layout.Accent, m.notice.text))
	case m.over == nil && link.StaleSince != nil && !link.Silent && link.Why != "":
		why := layout.Of(layout.Text(layout.Bad, "Retrying: "+link.Why+" "))
		return layout.Spread(p.Width, why, m.tailHints(p).Indent(1), p.Glyphs.Ellipsis)
	}
	return m.keyLine(p)
}

// tailHints are the keys that are always shown.
func (m *Model) tailHints(p *widget.Paint) layout.Line {
	if m.help != nil {
		return m.help.hints(p)
	}
	return p.KeyHints(append([]widget.Binding{keyHelp}, m.backHints()...)...)
}

// keyLine are the keys that fit, those of the screen first. Help and the way back always do.
func (m *Model) keyLine(p *widget.Paint) layout.Line {
	tail := m.tailHints(p)
	var l layout.Line
	for _, b := range m.hints() {
		hint := p.KeyHints(b)
		if l.Width()+hint.Width()+tail.Width() <= p.Width {
			l = append(l, hint...)
		}
	}
	return append(l, tail...)
}

// hints are the keys for the last line, those that matter most first.
func (m *Model) hints() []widget.Binding {
	if m.help != nil {
		return nil
	}
	var all []widget.Binding
	for _, g := range m.top().Keys() {
		if g.HelpOnly {
			continue
		}
		for _, b := range g.Bindings {
			if b.Enabled() {
				all = append(all, b)
			}
		}
	}
	pause := widget.Bind("space", "pause", "space")
	if m.paused {
		pause = widget.Bind("space", "resume", "space")
	}
	all = append(m.retryKeys(), all...)
	return append(all, pause, widget.Bind("r", "times", "r"), widget.Bind("w", "write", "w"))
}

// backHints are the way back, and q where it quits.
func (m *Model) backHints() []widget.Binding {
	switch {
	case !m.quits():
		return []widget.Binding{keyBack}
	case len(m.stack) > 1:
		return []widget.Binding{keyBelow, keyQ}
	}
	return []widget.Binding{keyQ}
}

func (m *Model) windowTitle() string {
	title := "kubectl batchjob"
	if j := m.data.Job; m.isOfJob() {
		title = fmt.Sprintf("%s %s", j.Job.Name, j.Verdict.Status)
		if j.Gone {
			return sanitize.Line(j.Job.Name + " deleted")
		}
		if done, total := j.Done(); total > 0 {
			title += " " + wording.Percent(int64(done), int64(total))
		}
	}
	return sanitize.Line(title)
}

// progressBar is the terminal's own.
func (m *Model) progressBar() *tea.ProgressBar {
	j := m.data.Job
	if !m.isOfJob() || j.Gone {
		return nil
	}
	done, total := j.Done()
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
	if state == tea.ProgressBarDefault && (j.Job.Suspend || j.Verdict.Stalled) {
		state = tea.ProgressBarWarning
	}
	return tea.NewProgressBar(state, int(min(100, int64(done)*100/int64(total))))
}
