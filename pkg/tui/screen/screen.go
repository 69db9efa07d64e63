package screen

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Screen is an element of the stack of screens, of which the top one is drawn.
type Screen interface {
	Pane
	// Focus returns the data that the Source must watch for the screen.
	Focus() snapshot.Focus
	// Crumb returns the screen's part of the path in the first line.
	Crumb() string
}

// Pane is a screen, or a tab of a screen.
type Pane interface {
	// Body returns at most p.Height lines of p.Width columns. It may store sizes for later keys, but no other state.
	Body(p *widget.Paint, d *Data) []layout.Line
	// Key handles a key press. It returns false if the pane does not use the key.
	Key(k tea.KeyPressMsg, d *Data) (Action, bool)
	// Wheel scrolls by the given number of lines.
	Wheel(lines int, d *Data)
	// Keys returns the keys for the help; the first few are also shown in the last line.
	Keys() []widget.KeyGroup
}

// Follower is a screen whose focus depends on the data, such as the latest pod of an index. Follow is called after each
// message, before Focus.
type Follower interface{ Follow(d *Data) }

// Task is work that the view does not wait for, such as requests to the API server. The Model calls the function that it
// returns in Update, like Key. The context ends with the view.
type Task func(ctx context.Context) (then func() Action)

// ReadYAML reads a Job, or a pod of it if pod is not "", as YAML without managedFields. It sends a request to the API server;
// its errors are for users.
type ReadYAML func(ctx context.Context, job types.NamespacedName, pod string) (string, error)

// Action tells the Model what to do for a pane. The zero value does nothing.
type Action struct {
	// Close closes this screen first. Leave closes a screen only if it is still on top, and is for Actions returned by a
	// Task.
	Close bool
	Leave Screen
	// Open is opened on top of this screen, and then the explanation of the Job Explain.
	Open    Screen
	Explain types.NamespacedName
	// Namespace opens the list of Jobs of this namespace, "" for all, in place of all screens; nil for no change.
	Namespace *string
	// Notice is shown in the last line for a while.
	Notice string
	// Copy is copied to the terminal's clipboard, and shown in the last line, because some terminals have no clipboard.
	Copy string
	Ask  *widget.Question
	Run  Task
}

// Done is the result for a key that the pane has handled itself.
func Done() (Action, bool) { return Action{}, true }
