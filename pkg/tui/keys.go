package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// binding is a key with its help. Those of all screens are made here; a screen lists the
// ones it knows, and the help is made of that.
type binding = key.Binding

func bind(label, help string, keys ...string) binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, help))
}

// matches says that a key press is one of the binding.
func matches(k tea.KeyPressMsg, b binding) bool { return key.Matches(k, b) }

// keyGroup is a part of the help.
type keyGroup struct {
	// title is "" for more of the group before.
	title    string
	bindings []binding
	// helpOnly keeps them out of the last line.
	helpOnly bool
}
