package job

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

var (
	keySearch        = widget.Bind("/", "search", "/")
	keyNextMatch     = widget.Bind("n", "next match", "n")
	keyPreviousMatch = widget.Bind("N", "previous match", "N")
)

// YAML is a screen with a Job or a pod, as of the time at which it was opened.
type YAML struct {
	what   string
	focus  snapshot.Focus
	lines  []string // nil until it was read
	why    string   // why it could not be read
	search widget.Filter
	scroll widget.Scroll
	// found are the lines that match the search, and at is the one that n or N has chosen, as an index of found.
	found []int
	at    int
	// rows are the first rows of the lines on the screen, as drawn last.
	rows []int
}

// OpenYAML opens a screen with a Job, or a pod of it. focus is the focus of the screen below, which is kept.
func OpenYAML(job types.NamespacedName, pod string, focus snapshot.Focus, read screen.ReadYAML) screen.Action {
	s := &YAML{what: "job " + job.Name, focus: focus, search: widget.Filter{ByRegexp: true}}
	if pod != "" {
		s.what = "pod " + pod
	}
	return screen.Action{Open: s, Run: func(ctx context.Context) func() screen.Action {
		text, err := read(ctx, job, pod)
		return func() screen.Action {
			if err != nil {
				s.why = err.Error()
			}
			s.lines = strings.Split(strings.TrimRight(text, "\n"), "\n")
			return screen.Action{}
		}
	}}
}

// Focus returns the focus of the screen below.
func (s *YAML) Focus() snapshot.Focus { return s.focus }

// Crumb returns the same text for all objects.
func (s *YAML) Crumb() string { return "YAML" }

// Wheel scrolls.
func (s *YAML) Wheel(lines int, _ *screen.Data) { s.scroll.Move(lines) }

// Keys returns the keys of the search.
func (s *YAML) Keys() []widget.KeyGroup {
	keys := []widget.Binding{keySearch}
	if s.search.IsSet() {
		keys = append(keys, keyNextMatch, keyPreviousMatch)
	}
	return []widget.KeyGroup{{Title: "YAML", Bindings: keys}}
}

// Key handles these keys, and scrolls.
func (s *YAML) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	switch {
	case s.scroll.Key(k):
	case widget.Matches(k, keySearch):
		return screen.Action{Ask: &widget.Question{Label: "/", Text: s.search.Text, Changed: s.find}}, true
	case s.search.IsSet() && widget.Matches(k, keyNextMatch):
		s.show(s.at + 1)
	case s.search.IsSet() && widget.Matches(k, keyPreviousMatch):
		s.show(s.at - 1)
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

// find sets the search, and shows its first match at or below the top of the screen.
func (s *YAML) find(text string) {
	s.search.Set(text)
	s.found, s.at = s.found[:0], 0
	for i, line := range s.lines {
		if s.search.IsSet() && s.search.Matches(line) {
			if s.rows[i] < s.scroll.Top {
				s.at++
			}
			s.found = append(s.found, i)
		}
	}
	s.show(s.at)
}

// show scrolls to the n-th match; the first one follows the last one.
func (s *YAML) show(n int) {
	if len(s.found) == 0 {
		return
	}
	s.at = (n + len(s.found)) % len(s.found)
	s.scroll.Reveal(s.rows[s.found[s.at]])
}

// Body returns the visible lines.
func (s *YAML) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	switch {
	case s.why != "":
		return append([]layout.Line{nil}, p.Wrap(layout.Of(layout.Text(layout.Bad, s.what+" could not be read: "+s.why)), 0)...)
	case s.lines == nil:
		return d.Waiting(p, "Reading "+s.what)
	}
	lines := []layout.Line{p.Title(s.what, "")}
	note := "no match"
	if len(s.found) > 0 {
		note = fmt.Sprintf("line %d of %d with a match", s.at+1, len(s.found))
	}
	if l := s.search.Note(p, layout.Text(layout.Plain, note)); l != nil {
		lines = append(lines, l)
	}
	var text []layout.Line
	s.rows = s.rows[:0]
	for i, line := range s.lines {
		s.rows = append(s.rows, len(text))
		indent := len(line) - len(strings.TrimLeft(line, " -"))
		text = append(text, p.Wrap(s.draw(line, len(s.found) > 0 && s.found[s.at] == i), indent+2)...)
	}
	return append(lines, s.scroll.Page(p.Sized(p.Width, p.Height-len(lines)), text)...)
}

// draw returns a line with its key in color, or with the matches of the search.
func (s *YAML) draw(line string, chosen bool) layout.Line {
	key, rest, is := strings.Cut(line, ":")
	switch {
	case s.search.IsSet() && s.search.Matches(line):
		style := layout.Plain
		if chosen {
			style = layout.Accent | layout.Bold
		}
		return s.search.Highlight(line, style)
	case !is || rest != "" && rest[0] != ' ':
		return layout.Plainly(line)
	}
	return layout.Of(layout.Text(layout.Info, key), layout.Text(layout.Plain, ":"+rest))
}
