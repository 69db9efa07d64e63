package tui

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/joblist"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyNamespace chooses the namespace of the list; keyAll switches between all of them and the last single one.
var (
	keyNamespace = widget.Bind("N", "choose a namespace", "N")
	keyAll       = widget.Bind("0", "all namespaces, or the one before", "0")
)

// Namespaces changes the namespace of the list of Jobs.
type Namespaces interface {
	// Current returns the namespace of the list, "" for all.
	Current() string
	// Names returns all namespaces, sorted; none if listing them is forbidden. It sends a request to the API server.
	Names(ctx context.Context) []string
	// Open returns a Source for the Jobs of a namespace, "" for all, which replaces the current Source, and a description of
	// the set of Jobs, such as "namespace ml". It sends no request itself: the Source reports errors of requests.
	Open(namespace string) (source snapshot.Source, what string, err error)
}

// choosesNamespace reports whether the screen is a list whose namespace can be changed.
func (m *Model) choosesNamespace() bool {
	_, isList := m.screens.top().(chooser)
	return isList && m.o.Namespaces != nil
}

// askNamespace opens the list of namespaces, or prompts for a name if listing them is forbidden.
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
			case !m.choosesNamespace() || m.prompt != nil: // The user has moved on.
				return screen.Action{}
			case len(names) == 0:
				m.notice = notice{}
				return screen.Action{Ask: &widget.Question{Label: "namespace (empty for all): ", Answered: func(text string) string {
					m.answered = func() tea.Cmd { return m.openNamespace(strings.TrimSpace(text)) }
					return ""
				}}}
			}
			m.notice = notice{}
			return screen.Action{Open: joblist.NewNamespaces(names, m.o.Namespaces.Current())}
		}
	})
}

// toggleAll shows the Jobs of all namespaces, or those of the last single one, at first kubectl's current one.
func (m *Model) toggleAll(k tea.KeyPressMsg) tea.Cmd {
	switch single := cmp.Or(m.single, m.o.Namespace); {
	case !m.choosesNamespace():
		m.sayUnknown(k)
	case m.o.Namespaces.Current() != "":
		return m.openNamespace("")
	case single == "":
		m.say("no namespace was shown before; N chooses one")
	default:
		return m.openNamespace(single)
	}
	return nil
}

// openNamespace opens the list of a namespace in place of all screens. If its Jobs cannot be read, the previous list is
// reopened.
func (m *Model) openNamespace(namespace string) tea.Cmd {
	before := m.o.Namespaces.Current()
	source, what, err := m.o.Namespaces.Open(namespace)
	if err != nil {
		m.say(err.Error())
		return nil
	}
	m.before, m.single = &before, cmp.Or(before, m.single)
	m.o.Source, m.o.What, m.o.Select = source, what, types.NamespacedName{}
	m.data = screen.Data{Snap: &snapshot.Snapshot{}, Since: m.now}
	m.pause, m.focus, m.over = pause{}, focus{}, nil
	m.screens = newScreens(m.newList())
	m.resize(m.width, m.height)
	return m.next()
}

// reopen reopens the previous list if the current one could not be read; it returns nil if there is none.
func (m *Model) reopen(err error) tea.Cmd {
	if m.before == nil || m.data.Snap.IsShown() {
		return nil
	}
	cmd := m.openNamespace(*m.before)
	m.before = nil
	m.say(err.Error())
	return cmd
}
