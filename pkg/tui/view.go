package tui

import (
	"errors"
	"fmt"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// The minimum size of the layout; on smaller terminals, lines are cut.
const (
	minWidth  = 20
	minHeight = 4
)

// View returns the frame, which is drawn once for each message that changes it.
func (m *Model) View() tea.View {
	if m.drawn {
		return m.frame
	}
	m.frame = tea.NewView(m.theme.RenderAll(m.lines()))
	m.frame.AltScreen = true
	m.frame.WindowTitle = windowTitle(m.openJob())
	m.frame.ProgressBar = progressBar(m.openJob())
	if m.mouse {
		m.frame.MouseMode = tea.MouseModeCellMotion
	}
	m.drawn = true
	return m.frame
}

// lines returns the lines of the frame: the path, the screen, and a line for keys and prompts.
func (m *Model) lines() []layout.Line {
	p := m.paint()

	// The hint for the first step is shown until a key is pressed, if the terminal has room for the line.
	const leastHeight = 20
	var coach []layout.Line
	if m.o.Coach != "" && !m.keyed && m.height >= leastHeight && m.data.Snap.IsShown() {
		line := layout.Of(layout.Text(layout.Accent|layout.Bold, p.Glyphs.Cursor+" "), layout.Text(layout.Accent, m.o.Coach))
		coach = append(coach, p.Cut(line, m.width))
	}

	// The help or the screen, as of the time of its data.
	body := p.Sized(p.Width, max(1, p.Height-2))
	if m.pause.on {
		body.Now = m.pause.since
	}
	if since := m.data.Snap.Link.StaleSince; since != nil {
		body.Now, body.Stale = *since, true
	}
	if j := m.openJob(); j != nil {
		body.Now = j.AsOf(body.Now)
	}
	body.Height = max(1, body.Height-len(coach))
	var middle []layout.Line
	if m.help != nil {
		middle = m.help.body(body)
	} else {
		middle = m.screens.top().Body(body, &m.data)
	}

	out := make([]layout.Line, 0, p.Height)
	out = append(out, p.Cut(m.screens.pathLine(p, m.freshness(p)), m.width))
	for i := range body.Height {
		var l layout.Line
		if i < len(middle) {
			l = p.Cut(middle[i], m.width)
		}
		out = append(out, l)
	}
	out = append(out, coach...)
	out = append(out, p.Cut(m.bottomLine(p), m.width))
	if m.o.ASCII {
		for i := range out {
			out[i] = p.Cut(layout.ToASCII(out[i]), m.width)
		}
	}
	return out[:min(len(out), m.height)]
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

// openJob returns the Job of the screen, nil if there is none, or if it has not been read.
func (m *Model) openJob() *screen.Job {
	if m.screens.top().Focus().Opened().Job.Name == "" {
		return nil
	}
	return m.data.Job
}

// freshness returns the time, and marks for data that is not live.
func (m *Model) freshness(p *widget.Paint) layout.Line {
	l := layout.Line{layout.Text(layout.Plain, " ")}
	mark := func(style layout.Style, text string) {
		l = append(l, layout.Text(style, text), layout.Blank(2))
	}
	link := m.pause.latest(m.data.Snap).Link
	switch {
	case m.Err() != nil:
		ended := layout.Of(layout.Text(layout.Bad|layout.Bold, "ended: "+m.over.Error()))
		l = append(append(l, p.Cut(ended, p.Width/2)...), layout.Blank(2))
	case link.Silent:
		mark(layout.Bad|layout.Bold, p.Glyphs.Warn+" no answer for "+wording.Age(p.Now.Sub(*link.StaleSince)))
	case link.StaleSince != nil:
		mark(layout.Bad|layout.Bold, p.Glyphs.Warn+" stale since "+p.Clock(*link.StaleSince))
	}
	if j := m.openJob(); j != nil && j.Gone {
		mark(layout.Bad|layout.Bold, p.Glyphs.Bad+" "+j.GoneWords(p))
	}
	if m.pause.on {
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

// bottomLine returns a prompt, a notice, the reason of a lost connection, or the keys.
func (m *Model) bottomLine(p *widget.Paint) layout.Line {
	// The keys that are always shown: help and the way back.
	tail := p.KeyHints(append([]widget.Binding{keyHelp}, m.screens.backHints()...)...)
	if m.help != nil {
		tail = m.help.hints(p)
	}

	link := m.pause.latest(m.data.Snap).Link
	switch {
	case m.prompt != nil:
		return m.prompt.Line(p.Width, p.Glyphs.Ellipsis)
	case m.notice.text != "" && m.now.Before(m.notice.until):
		return layout.Of(layout.Text(layout.Accent, m.notice.text))
	case m.over == nil && link.StaleSince != nil && !link.Silent && link.Why != "":
		why := layout.Of(layout.Text(layout.Bad, "Retrying: "+link.Why+" "))
		return layout.Spread(p.Width, why, tail.Indent(1), p.Glyphs.Ellipsis)
	case m.help != nil:
		return tail
	}

	// The other keys that fit, the most important ones first.
	_, _, retries := m.retriable()
	var l layout.Line
	for _, b := range hints(m.screens.top(), readKeys(m.screens.top(), &m.data, m.o.YAML != nil), againKeys(m.screens.top(), m.o.Runner, retries), m.pause.on) {
		hint := p.KeyHints(b)
		if l.Width()+hint.Width()+tail.Width() <= p.Width {
			l = append(l, hint...)
		}
	}
	return append(l, tail...)
}

// hints returns the keys for the last line, the most important ones first. read are the keys that open other screens, and
// again the key for another run.
func hints(s screen.Screen, read, again []widget.Binding, paused bool) []widget.Binding {
	all := slices.Clone(again)
	for _, g := range s.Keys() {
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
	if paused {
		pause = widget.Bind("space", "resume", "space")
	}
	return append(append(append(all, pause), read...), widget.Bind("r", "times", "r"), widget.Bind("w", "write", "w"))
}

// windowTitle returns a title with the open Job, if there is one.
func windowTitle(j *screen.Job) string {
	switch {
	case j == nil:
		return "kubectl batchjob"
	case j.Gone:
		return sanitize.Line(j.Job.Name + " deleted")
	}
	title := fmt.Sprintf("%s %s", j.Job.Name, j.Verdict.Status)
	if done, total := j.Done(); total > 0 {
		title += " " + wording.Percent(int64(done), int64(total))
	}
	return sanitize.Line(title)
}

// progressBar returns the terminal's own progress bar.
func progressBar(j *screen.Job) *tea.ProgressBar {
	if j == nil || j.Gone {
		return nil
	}
	done, total := j.Done()
	if total <= 0 {
		return nil
	}
	state := tea.ProgressBarDefault
	switch j.Verdict.Outcome {
	case reconcile.OutcomeFailed, reconcile.OutcomeFailing:
		state = tea.ProgressBarError
	case reconcile.OutcomeComplete:
		return nil
	}
	if state == tea.ProgressBarDefault && (j.Job.Suspend || j.Verdict.Stalled) {
		state = tea.ProgressBarWarning
	}
	return tea.NewProgressBar(state, int(min(100, int64(done)*100/int64(total))))
}
