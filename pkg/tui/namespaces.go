package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/joblist"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyNamespace chooses the namespace of the list.
//
//nolint:gochecknoglobals // a constant, as those of the key map
var keyNamespace = widget.Bind("N", "choose a namespace", "N")

// Namespaces changes the namespace that the list of Jobs is of.
type Namespaces interface {
	// Current is the namespace of the list, "" for all.
	Current() string
	// Names returns all namespaces, sorted; none if they may not be listed. It makes a request to the API server.
	Names(ctx context.Context) []string
	// Open reads the Jobs of a namespace from now on, "" for all, in place of those so far. It returns the set of Jobs in
	// words, such as "namespace ml", and makes no request itself: errors of these come from the Source.
	Open(namespace string) (source snapshot.Source, what string, err error)
}

// choosesNamespace reports whether the screen is a list whose namespace can be changed.
func (m *Model) choosesNamespace() bool {
	_, isList := m.screens.top().(chooser)
	return isList && m.o.Namespaces != nil
}

// askNamespace opens the list of namespaces, or asks for a name where they may not be listed.
func (m *Model) askNamespace(k tea.KeyPressMsg) tea.Cmd {
	if !m.choosesNamespace() {
		m.sayUnknown(k)
		return nil
	}
	m.say("reading the namespaces" + m.glyphs.More)
	return m.run(func(ctx context.Context) func() screen.Action {
		names := m.o.Namespaces.Names(ctx)
		return func() screen.Action {
			switch {
			case !m.choosesNamespace() || m.prompt != nil: // The user has gone on to something else.
				return screen.Action{}
			case len(names) == 0:
				m.notice = notice{}
				return screen.Action{Ask: &widget.Question{Label: "namespace (empty for all): ", Answered: func(text string) string {
					namespace := strings.TrimSpace(text)
					m.typed = &namespace
					return ""
				}}}
			}
			m.notice = notice{}
			return screen.Action{Open: joblist.NewNamespaces(names, m.o.Namespaces.Current())}
		}
	})
}

// openNamespace starts over with the list of a namespace. If its Jobs cannot be read, the list of before is opened again.
func (m *Model) openNamespace(namespace string) tea.Cmd {
	before := m.o.Namespaces.Current()
	source, what, err := m.o.Namespaces.Open(namespace)
	if err != nil {
		m.say(err.Error())
		return nil
	}
	m.before = &before
	m.o.Source, m.o.What, m.o.Select = source, what, snapshot.JobKey{}
	m.data = screen.Data{Snap: &snapshot.Snapshot{}, Since: m.now}
	m.pause, m.focus, m.over = pause{}, focus{}, nil
	m.screens = newScreens(m.newList())
	m.resize(m.width, m.height)
	return m.next()
}

// reopen opens the list of before instead of one that could not be read; nil if there is none.
func (m *Model) reopen(err error) tea.Cmd {
	if m.before == nil || m.data.Snap.IsShown() {
		return nil
	}
	cmd := m.openNamespace(*m.before)
	m.before = nil
	m.say(err.Error())
	return cmd
}
