package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// helpScreen lists the keys of a screen, and covers it.
type helpScreen struct {
	groups []widget.KeyGroup
	scroll widget.Scroll
}

// newHelpScreen returns the help for a screen; leave are the keys that close the screen or the program.
func newHelpScreen(s screen.Screen, leave ...widget.Binding) *helpScreen {
	groups := append([]widget.KeyGroup(nil), s.Keys()...)
	taken := keysOf(groups)
	move := widget.KeyGroup{Title: "Move"}
	for _, b := range []widget.Binding{widget.KeyUp, widget.KeyDown, widget.KeyPageUp, widget.KeyPageDown, widget.KeyTop, widget.KeyBottom} {
		move.Bindings = append(move.Bindings, without(b, taken))
	}
	everywhere := widget.KeyGroup{Title: "Everywhere", Bindings: []widget.Binding{keyHelp}}
	everywhere.Bindings = append(append(everywhere.Bindings, leave...), keyPause, keyTimes, keySave, keyMouse, keyRedraw, keySuspend)
	return &helpScreen{groups: append(groups, move, everywhere)}
}

// keysOf returns the keys of the enabled bindings.
func keysOf(groups []widget.KeyGroup) map[string]bool {
	keys := map[string]bool{}
	for _, g := range groups {
		for _, b := range g.Bindings {
			if b.Enabled() {
				for _, name := range b.Keys() {
					keys[name] = true
				}
			}
		}
	}
	return keys
}

// without returns a binding without the keys that are taken, and without their labels. If no key is left, the binding is
// disabled.
func without(b widget.Binding, taken map[string]bool) widget.Binding {
	keys := slices.DeleteFunc(slices.Clone(b.Keys()), func(name string) bool { return taken[name] })
	if len(keys) == len(b.Keys()) {
		return b
	}
	if len(keys) == 0 {
		b.SetEnabled(false)
		return b
	}
	labels := slices.DeleteFunc(strings.Split(b.Help().Key, "/"), func(label string) bool { return taken[keyOfLabel(label)] })
	if len(labels) == 0 {
		labels = keys[:1]
	}
	return widget.Bind(strings.Join(labels, "/"), b.Help().Desc, keys...)
}

// keyOfLabel returns the name of the key with a label in the help.
func keyOfLabel(label string) string {
	switch label {
	case "↑":
		return "up"
	case "↓":
		return "down"
	case "pgdn":
		return "pgdown"
	}
	return label
}

// key handles a key, and reports whether it closes the help. The same keys close it at every size.
func (h *helpScreen) key(k tea.KeyPressMsg) (done bool) {
	return !h.scroll.Key(k) && (widget.Matches(k, keyBack) || widget.Matches(k, keyHelp))
}

// hints returns the keys for the last line.
func (h *helpScreen) hints(p *widget.Paint) layout.Line {
	closes := p.KeyHints(widget.Bind("esc/q", "close", "esc", "q"))
	if h.scroll.Len > h.scroll.Height {
		return append(p.KeyHints(widget.Bind("↑/↓", "scroll", "up", "down")), closes...)
	}
	return closes
}

// helpColumn is the width of the column of keys.
const helpColumn = 12

func (h *helpScreen) body(p *widget.Paint) []layout.Line {
	var lines []layout.Line
	for _, g := range h.groups {
		if !slices.ContainsFunc(g.Bindings, widget.Binding.Enabled) {
			continue // All of its keys have other meanings on this screen.
		}
		if len(lines) > 0 && g.Title != "" {
			lines = append(lines, nil)
		}
		if g.Title != "" {
			lines = append(lines, layout.Of(layout.Text(layout.Bold, g.Title)))
		}
		for _, b := range g.Bindings {
			if !b.Enabled() {
				continue
			}
			key := layout.Of(layout.Text(layout.Accent, p.KeyName(b))).Pad(helpColumn)
			lines = append(lines, append(key, layout.Text(layout.Plain, b.Help().Desc)).Indent(2))
		}
	}
	if p.Width >= 2*minColumn && len(lines) > p.Height {
		lines = h.inColumns(lines, p)
	}
	return h.scroll.Page(p, lines)
}

// minColumn is the minimum width of a column of the help.
const minColumn = 40

// inColumns splits a list that is too long for the screen into two columns, between groups.
func (h *helpScreen) inColumns(lines []layout.Line, p *widget.Paint) []layout.Line {
	at := 0
	for i, l := range lines {
		if len(l) == 0 && i <= (len(lines)+1)/2+1 {
			at = i
		}
	}
	if at == 0 {
		return lines
	}
	return layout.Beside(lines[:at], p.Width/2-1, 2, lines[at+1:], p.Glyphs.Ellipsis)
}
