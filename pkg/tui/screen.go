package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// screen is one of the stack of screens; the top one is drawn. A tab of the Job screen and
// of the pod screen is a pane: a screen without a place of its own in the path.
type screen interface {
	pane
	// focus is what the Source has to keep up with for it.
	focus() snapshot.Focus
	// crumb is its part of the path in the first line.
	crumb() string
}

// pane draws a part of the screen and acts on keys.
type pane interface {
	// body are the lines of the pane, at most p.height of p.Width columns. It may note
	// sizes for keys to come, and nothing else.
	body(p *paint, d *data) []layout.Line
	// key acts on a key press. What it does not know (false) is for whoever is around it.
	key(k tea.KeyPressMsg, d *data) (action, bool)
	// wheel scrolls by so many lines.
	wheel(lines int, d *data)
	// keys are for the help; the first few also stand in the last line.
	keys() []keyGroup
}

// follower is a screen whose focus depends on what is known, such as the latest pod of an
// index. It is told after each message, before it is asked for its focus.
type follower interface{ follow(d *data) }

// action is what a pane wants to happen. The zero value is nothing.
type action struct {
	open screen // on top of this one
	// explain is the Job whose explanation is to be opened, on top of open.
	explain snapshot.JobKey
	say     string // in the last line, for a while
	// copy goes to the clipboard of the terminal, and into the last line for those that
	// have none.
	copy string
	ask  *question
}

// question is asked in the last line, such as for a filter.
type question struct {
	label string
	text  string
	// changed gets the text at each key, and what was there before if the question is
	// dropped.
	changed func(string)
	// answered gets the text at the end, and may return a notice; nil if changed was all.
	answered func(string) (notice string)
}

// none is the answer of a pane that did what the key asks for.
func none() (action, bool) { return action{}, true }
