package screen

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Screen is one of the stack of screens, of which the top one is drawn.
type Screen interface {
	Pane
	// Focus is what the Source watches for the screen.
	Focus() snapshot.Focus
	// Crumb is its part of the path in the first line.
	Crumb() string
}

// Pane is a screen, or a tab of one.
type Pane interface {
	// Body returns at most p.Height lines of p.Width columns. It may store sizes for later
	// keys, and nothing else.
	Body(p *widget.Paint, d *Data) []layout.Line
	// Key acts on a key press. It returns false for a key that the pane does not use.
	Key(k tea.KeyPressMsg, d *Data) (Action, bool)
	// Wheel scrolls by so many lines.
	Wheel(lines int, d *Data)
	// Keys are for the help; the first few are in the last line too.
	Keys() []widget.KeyGroup
}

// Follower is a screen whose focus depends on the data, such as the latest pod of an index.
// Follow is called after each message, before Focus.
type Follower interface{ Follow(d *Data) }

// Task is work that the view does not wait for, such as requests to the API server. The function that it returns is
// called by the Model, as Key is. The context ends with the view.
type Task func(ctx context.Context) (then func() Action)

// Action is what the Model does for a pane. The zero value is nothing.
type Action struct {
	// Close closes this screen first. Leave closes a screen as well, but only if it is still on top: for what a Task returns.
	Close bool
	Leave Screen
	// Open is opened on top of this screen, and then the explanation of the Job Explain.
	Open    Screen
	Explain snapshot.JobKey
	// Namespace starts over with the list of Jobs of this namespace, "" for all; nil for nothing.
	Namespace *string
	// Notice is shown in the last line for a while.
	Notice string
	// Copy goes to the clipboard of the terminal, and into the last line, as some terminals
	// have no clipboard.
	Copy string
	Ask  *widget.Question
	Run  Task
}

// Done is returned for a key that the pane has acted on by itself.
func Done() (Action, bool) { return Action{}, true }
