package tui

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// screens are the open screens; the last one is drawn. There is always at least one.
type screens struct {
	open []screen.Screen
	// first is the number of screens that the view opened with and that are still open: on the last of them, q quits.
	first int
}

func newScreens(open ...screen.Screen) screens { return screens{open: open, first: len(open)} }

// top returns the screen that is drawn.
func (s *screens) top() screen.Screen { return s.open[len(s.open)-1] }

func (s *screens) push(top screen.Screen) { s.open = append(s.open, top) }

func (s *screens) pop() {
	s.open = s.open[:len(s.open)-1]
	s.first = min(s.first, len(s.open))
}

// quits reports whether q quits: on the screen that the view opened with, and on the screens below it.
func (s *screens) quits() bool { return len(s.open) <= s.first }

// follow opens the screen that shows a Focus, unless one of the open screens does.
func (s *screens) follow(f snapshot.Focus, newList func() screen.Screen) {
	f = f.Opened()
	for i := len(s.open) - 1; i >= 0; i-- {
		if at := s.open[i].Focus().Opened(); at.Job == f.Job && at.CronJob == f.CronJob && at.Pod == f.Pod {
			s.open = s.open[:i+1]
			return
		}
	}
	s.open = s.open[:1]
	if f.CronJob.Name != "" {
		s.open = []screen.Screen{newList(), job.NewCronJob(f.CronJob)}
		return
	}
	if f.Job.Name == "" {
		s.open = []screen.Screen{newList()}
		return
	}
	if s.open[0].Focus().Opened().Job != f.Job {
		s.push(job.New(f.Job))
	}
	if f.Pod != "" {
		s.push(pods.NewScreen(f.Job, f.Pod, nil))
	}
}

// leaveKeys returns the keys that close the screen or the program.
func (s *screens) leaveKeys() []widget.Binding {
	switch {
	case !s.quits():
		return []widget.Binding{keyBack, keyQuit}
	case len(s.open) > 1:
		return []widget.Binding{keyBelow, keyLeave}
	}
	return []widget.Binding{keyLeave}
}

// backHints returns the keys that go back, and q if it quits.
func (s *screens) backHints() []widget.Binding {
	switch {
	case !s.quits():
		return []widget.Binding{keyBack}
	case len(s.open) > 1:
		return []widget.Binding{keyBelow, keyQ}
	}
	return []widget.Binding{keyQ}
}

// leastCrumb is the minimum width to which earlier parts of the path are shortened, to leave room for the last part.
const leastCrumb = 8

// pathLine returns the path to the screen, and the state of its data.
func (s *screens) pathLine(p *widget.Paint, fresh layout.Line) layout.Line {
	between := layout.Text(layout.Muted, " "+p.Glyphs.Into+" ")
	last := len(s.open) - 1
	room := p.Width - fresh.Width() - layout.Plainly(s.top().Crumb()).Width() - last*layout.Of(between).Width()
	var path layout.Line
	for i, below := range s.open[:last] {
		crumb := layout.Of(layout.Text(layout.Muted, below.Crumb()))
		crumb = p.Cut(crumb, max(leastCrumb, room/(last-i)))
		room -= crumb.Width()
		path = append(append(path, crumb...), between)
	}
	path = append(path, layout.Text(layout.Bold, s.top().Crumb()))
	if way := layout.Text(layout.Muted, " q quits "); s.quits() && path.Width()+layout.Of(way).Width()+fresh.Width() <= p.Width {
		// Also for users who did not ask for a view, for example in an unattended terminal.
		fresh = append(layout.Of(way), fresh...)
	}
	return layout.Spread(p.Width, path, fresh, p.Glyphs.Ellipsis)
}
