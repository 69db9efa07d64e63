package screen

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

var (
	keyRight   = widget.Bind("→", "right", "right")
	keyNextTab = widget.Bind("tab", "next tab", "tab")
	keyPrevTab = widget.Bind("shift+tab", "previous tab", "shift+tab")
	// KeyTabs selects a tab by its number.
	KeyTabs = widget.Bind("1-6", "tab", "1", "2", "3", "4", "5", "6", "7", "8", "9")
)

// Tabs are panes, one of which is drawn.
type Tabs struct {
	Panes   []Tab
	Current int
}

// Tab is a pane with a name.
type Tab struct {
	Name string
	Pane
}

// Pane returns the pane of the current tab.
func (t *Tabs) Pane() Pane { return t.Panes[t.Current].Pane }

// Key passes a key to the pane, or else handles the keys that change the tab.
func (t *Tabs) Key(k tea.KeyPressMsg, d *Data) (Action, bool) {
	if a, known := t.Pane().Key(k, d); known {
		return a, true
	}
	switch {
	case widget.Matches(k, keyNextTab), widget.Matches(k, keyRight):
		t.Current = (t.Current + 1) % len(t.Panes)
	case widget.Matches(k, keyPrevTab), widget.Matches(k, widget.KeyLeft):
		t.Current = (t.Current + len(t.Panes) - 1) % len(t.Panes)
	case widget.Matches(k, KeyTabs):
		n, err := strconv.Atoi(k.String())
		if err != nil || n > len(t.Panes) {
			return Action{}, false
		}
		t.Current = n - 1
	default:
		return Action{}, false
	}
	return Done()
}

// Keys returns the keys of the pane, and the keys that change the tab.
func (t *Tabs) Keys() []widget.KeyGroup {
	return append(t.Pane().Keys(), widget.KeyGroup{Title: "Tabs", Bindings: []widget.Binding{keyNextTab, keyPrevTab}, HelpOnly: true})
}

// Line returns the names of the tabs: closer together if there is little room, and only the name of the current tab if there
// is less.
func (t *Tabs) Line(p *widget.Paint) layout.Line {
	var wide, tight, short layout.Line
	for i, pane := range t.Panes {
		number := strconv.Itoa(i + 1)
		if i != t.Current {
			wide = append(wide, layout.Text(layout.Muted, " "+number+" "+pane.Name+" "))
			tight = append(tight, layout.Text(layout.Muted, number+pane.Name+" "))
			short = append(short, layout.Text(layout.Muted, " "+number+" "))
			continue
		}
		chosen := layout.Text(layout.Bold|layout.Reverse, " "+number+" "+pane.Name+" ")
		wide, tight, short = append(wide, chosen), append(append(tight, chosen), layout.Blank(1)), append(short, chosen)
	}
	for _, l := range []layout.Line{wide, tight} {
		if l.Width() <= p.Width {
			return l
		}
	}
	return short
}
