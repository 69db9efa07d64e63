package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// helpScreen lists the keys of a screen; it covers it until a key closes it.
type helpScreen struct {
	groups []keyGroup
	scroll scroll
}

func newHelpScreen(s screen) *helpScreen {
	groups := append([]keyGroup(nil), s.keys()...)
	groups = append(groups,
		keyGroup{title: "Move", bindings: []binding{keyUp, keyDown, keyPageUp, keyPageDown, keyTop, keyBottom}},
		keyGroup{title: "Everywhere", bindings: []binding{keyHelp, keyBack, keyQuit, keyPause, keyTimes, keySave, keyMouse, keyRedraw, keySuspend}},
	)
	return &helpScreen{groups: groups}
}

// key says that the help is closed.
func (h *helpScreen) key(k tea.KeyPressMsg) (done bool) {
	return !h.scroll.handle(k)
}

// hints are for the last line.
func (h *helpScreen) hints(p *paint) canvas.Line {
	l := canvas.Of(canvas.Text(styleMuted, "any other key closes the help"))
	if h.scroll.n > h.scroll.height {
		return append(p.keyHints(bind("↑/↓", "scroll", "up", "down")), l...)
	}
	return canvas.Of(canvas.Text(styleMuted, "any key closes the help"))
}

// helpColumn is how wide the keys are.
const helpColumn = 12

func (h *helpScreen) body(p *paint) []canvas.Line {
	var lines []canvas.Line
	for _, g := range h.groups {
		if len(lines) > 0 && g.title != "" {
			lines = append(lines, nil)
		}
		if g.title != "" {
			lines = append(lines, canvas.Of(canvas.Text(bold, g.title)))
		}
		for _, b := range g.bindings {
			if !b.Enabled() {
				continue
			}
			key := canvas.Of(canvas.Text(styleAccent, p.keyName(b))).Pad(helpColumn)
			lines = append(lines, append(key, canvas.Text(stylePlain, b.Help().Desc)).Indent(2))
		}
	}
	if p.width >= 2*minColumn && len(lines) > p.height {
		lines = h.inColumns(lines, p)
	}
	return h.scroll.page(p, lines)
}

// minColumn is the narrowest column of the help.
const minColumn = 40

// inColumns breaks a list that is too long for the screen into two columns, between groups.
func (h *helpScreen) inColumns(lines []canvas.Line, p *paint) []canvas.Line {
	at := 0
	for i, l := range lines {
		if len(l) == 0 && i <= (len(lines)+1)/2+1 {
			at = i
		}
	}
	if at == 0 {
		return lines
	}
	return canvas.Beside(lines[:at], p.width/2-1, 2, lines[at+1:], p.glyphs.ellipsis)
}
