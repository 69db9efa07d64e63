package joblist

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// allNamespaces is the label of the row for all namespaces, whose name is "".
const allNamespaces = "all namespaces"

// namespaceScreen chooses the namespace of the list.
type namespaceScreen struct {
	names  []string // "" first
	rows   []string // the names that match the filter
	list   widget.List
	filter widget.Filter
}

// NewNamespaces returns a screen that lists namespaces, with the cursor on the current one. Its Action contains the chosen
// Namespace.
func NewNamespaces(names []string, current string) screen.Screen {
	s := &namespaceScreen{names: append([]string{""}, names...)}
	for i, name := range s.names {
		if name == current {
			s.list.Cursor = i
		}
	}
	return s
}

// Focus returns the zero Focus: the list of Jobs is still read.
func (s *namespaceScreen) Focus() snapshot.Focus { return snapshot.Focus{} }

func (s *namespaceScreen) Crumb() string { return "Namespaces" }

func (s *namespaceScreen) Wheel(lines int, _ *screen.Data) { s.list.Move(lines) }

func (s *namespaceScreen) Keys() []widget.KeyGroup {
	choose := widget.Bind("enter", "show its Jobs", "enter")
	return []widget.KeyGroup{{Title: "Namespaces", Bindings: append([]widget.Binding{choose}, s.filter.Keys()...)}}
}

func (s *namespaceScreen) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	if q, known := s.filter.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	switch {
	case s.list.Key(k):
		return screen.Done()
	case widget.Matches(k, widget.KeyOpen) && s.list.Cursor < len(s.rows):
		return screen.Action{Namespace: &s.rows[s.list.Cursor]}, true
	}
	return screen.Action{}, false
}

func (s *namespaceScreen) Body(p *widget.Paint, _ *screen.Data) []layout.Line {
	s.rows = nil
	for _, name := range s.names {
		if !s.filter.IsSet() || s.filter.Matches(rowOf(name)) {
			s.rows = append(s.rows, name)
		}
	}
	lines := []layout.Line{p.Title("The Jobs of which namespace?", "")}
	if l := s.filter.Line(p, len(s.rows), len(s.names), "rows"); l != nil {
		lines = append(lines, l)
	}
	s.list.Resize(len(s.rows), p.Height-len(lines), func(row int) string { return rowOf(s.rows[row]) })
	first, end := widget.Rows(len(s.rows), s.list.Top, s.list.Height)
	for i := first; i < end; i++ {
		lines = append(lines, widget.Row(p, layout.Plainly(rowOf(s.rows[i])), i == s.list.Cursor))
	}
	return lines
}

func rowOf(namespace string) string {
	if namespace == "" {
		return allNamespaces
	}
	return namespace
}
