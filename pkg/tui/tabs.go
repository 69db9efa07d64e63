package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// tabs are panes, of which one is drawn.
type tabs struct {
	panes []namedPane
	at    int
}

type namedPane struct {
	name string
	pane
}

func (t *tabs) current() pane { return t.panes[t.at].pane }

// key gives a key to the pane, and takes those that change the tab.
func (t *tabs) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if a, known := t.current().key(k, d); known {
		return a, true
	}
	switch {
	case matches(k, keyNextTab), matches(k, keyRight):
		t.at = (t.at + 1) % len(t.panes)
	case matches(k, keyPrevTab), matches(k, keyLeft):
		t.at = (t.at + len(t.panes) - 1) % len(t.panes)
	case matches(k, keyTabs):
		n, err := strconv.Atoi(k.String())
		if err != nil || n > len(t.panes) {
			return action{}, false
		}
		t.at = n - 1
	default:
		return action{}, false
	}
	return none()
}

// keys are those of the pane, and those that change the tab.
func (t *tabs) keys() []keyGroup {
	return append(t.current().keys(), keyGroup{title: "Tabs", bindings: []binding{keyNextTab, keyPrevTab}, helpOnly: true})
}

// line shows the names of the tabs: closer to each other where there is little room, and
// only the chosen one's where there is less.
func (t *tabs) line(p *paint) layout.Line {
	var wide, tight, short layout.Line
	for i, pane := range t.panes {
		number := strconv.Itoa(i + 1)
		if i != t.at {
			wide = append(wide, layout.Text(layout.Muted, " "+number+" "+pane.name+" "))
			tight = append(tight, layout.Text(layout.Muted, number+pane.name+" "))
			short = append(short, layout.Text(layout.Muted, " "+number+" "))
			continue
		}
		chosen := layout.Text(layout.Bold|layout.Reverse, " "+number+" "+pane.name+" ")
		wide, tight, short = append(wide, chosen), append(append(tight, chosen), layout.Blank(1)), append(short, chosen)
	}
	for _, l := range []layout.Line{wide, tight} {
		if l.Width() <= p.Width {
			return l
		}
	}
	return short
}
