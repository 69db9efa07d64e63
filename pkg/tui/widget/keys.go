package widget

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Binding is a set of keys with their help.
type Binding = key.Binding

// Bind returns a Binding of keys, with their label and their effect for the help.
func Bind(label, help string, keys ...string) Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, help))
}

// Matches reports whether a key press belongs to a Binding.
func Matches(k tea.KeyPressMsg, b Binding) bool { return key.Matches(k, b) }

// Keys that several screens use, most of them as in k9s, less and vim.
var (
	KeyUp       = Bind("↑/k", "up", "up", "k")
	KeyDown     = Bind("↓/j", "down", "down", "j")
	KeyLeft     = Bind("←/h", "left", "left", "h")
	KeyPageUp   = Bind("pgup/b", "page up", "pgup", "b", "ctrl+b", "ctrl+u")
	KeyPageDown = Bind("pgdn/f", "page down", "pgdown", "f", "ctrl+f")
	KeyTop      = Bind("g", "first", "g", "home")
	KeyBottom   = Bind("G", "last", "G", "end")
	KeyOpen     = Bind("enter", "open", "enter")

	KeySort    = Bind("s", "sort", "s")
	KeyReverse = Bind("S", "reverse", "S")
	keyClear   = Bind("esc", "clear the filter", "esc")
	KeyFilter  = Bind("/", "filter", "/")
	KeyExplain = Bind("e", "explain", "e", "d")
	KeyLogs    = Bind("l", "logs", "l")
	KeyCopy    = Bind("y", "copy", "y")
)

// KeyGroup is a section of the help.
type KeyGroup struct {
	// Title is "" for a group that continues the previous one.
	Title    string
	Bindings []Binding
	// HelpOnly omits the keys from the last line.
	HelpOnly bool
}

// KeyHints returns keys with their effects.
func (p *Paint) KeyHints(bindings ...Binding) layout.Line {
	var l layout.Line
	for _, b := range bindings {
		l = append(l, layout.Text(layout.Bold, p.KeyName(b)), layout.Text(layout.Muted, " "+b.Help().Desc+"  "))
	}
	return l
}

// KeyName returns the label of a key, in ASCII if the terminal requires it.
func (p *Paint) KeyName(b Binding) string {
	name := b.Help().Key
	if p.ASCII {
		name = strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right").Replace(name)
	}
	return name
}
