package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyHelp = widget.Bind("?", "help", "?", "f1")
	keyBack = widget.Bind("esc/q", "back", "esc", "q", "backspace")
	// keyBelow goes to the screen below the one that the view opened with: from an explanation to its Job.
	keyBelow = widget.Bind("esc", "back", "esc", "backspace")
	keyQuit  = widget.Bind("ctrl+c", "quit", "ctrl+c")
	// keyLeave quits on the screen that the view opened with.
	keyLeave   = widget.Bind("q/ctrl+c", "quit", "q", "ctrl+c")
	keyQ       = widget.Bind("q", "quit", "q")
	keyPause   = widget.Bind("space", "pause", "space")
	keyTimes   = widget.Bind("r", "relative/absolute times", "r")
	keySave    = widget.Bind("w", "write snapshot", "w")
	keyMouse   = widget.Bind("m", "mouse wheel/select text", "m")
	keyRedraw  = widget.Bind("ctrl+l", "redraw", "ctrl+l")
	keySuspend = widget.Bind("ctrl+z", "suspend", "ctrl+z")
)

// wheelLines is how far one notch of the wheel scrolls.
const wheelLines = 3

// key acts on a key press: of a question, the help, the screen, or else of all screens.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	m.notice, m.keyed = notice{}, true
	switch {
	case widget.Matches(k, keyQuit):
		m.quit = true
		return tea.Interrupt
	case m.prompt != nil:
		if done, notice := m.prompt.Key(k); done {
			m.prompt = nil
			m.say(notice)
		}
		return m.openTyped()
	case m.help != nil:
		if done := m.help.key(k); done {
			m.help = nil
		}
		return nil
	}
	if a, known := m.top().Key(k, &m.data); known {
		return m.act(a)
	}
	return m.globalKey(k)
}

func (m *Model) globalKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case widget.Matches(k, keyHelp):
		m.help = newHelpScreen(m.top(), slices.Concat(m.retryKeys(), m.changeKeys(), m.namespaceKeys(), m.leave())...)
	case widget.Matches(k, keyPause):
		m.pause()
	case widget.Matches(k, keyTimes):
		m.absolute = !m.absolute
	case widget.Matches(k, keySave):
		return m.save()
	case widget.Matches(k, keyMouse):
		m.mouse = !m.mouse
		m.say("mouse " + map[bool]string{true: "on: the wheel scrolls", false: "off: text can be selected"}[m.mouse])
	case widget.Matches(k, keySuspend):
		return tea.Suspend
	case widget.Matches(k, keyRedraw):
		return tea.ClearScreen
	default:
		return m.formKey(k)
	}
	return nil
}

// formKey is for the keys that open a form or a prompt, and for leaving.
func (m *Model) formKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case widget.Matches(k, keyRetry):
		return m.retry(k)
	case widget.Matches(k, keyHold), widget.Matches(k, keyDelete):
		return m.change(k)
	case widget.Matches(k, keyNamespace):
		return m.askNamespace(k)
	case widget.Matches(k, keyBack):
		return m.back(k)
	}
	m.sayUnknown(k)
	return nil
}

// sayUnknown is for keys of other programs, whose users would press them again.
func (m *Model) sayUnknown(k tea.KeyPressMsg) {
	m.say("no key " + sanitize.Line(k.String()) + " here; ? shows the keys")
}

// leave are the keys that close the screen or the program.
func (m *Model) leave() []widget.Binding {
	switch {
	case !m.quits():
		return []widget.Binding{keyBack, keyQuit}
	case len(m.stack) > 1:
		return []widget.Binding{keyBelow, keyLeave}
	}
	return []widget.Binding{keyLeave}
}

// quits reports whether q quits: on the screen that the view opened with, and on those below it.
func (m *Model) quits() bool { return len(m.stack) <= m.opened }

// act does what a pane asks for.
func (m *Model) act(a screen.Action) tea.Cmd {
	if a.Notice != "" {
		m.say(a.Notice)
	}
	if a.Close || a.Leave != nil && a.Leave == m.top() {
		m.closeTop()
	}
	if a.Open != nil {
		m.stack = append(m.stack, a.Open)
	}
	switch {
	case !a.Explain.IsZero():
		m.stack = append(m.stack, job.NewExplanation(a.Explain))
	case a.Namespace != nil:
		return m.openNamespace(*a.Namespace)
	case a.Ask != nil:
		m.prompt = widget.NewPrompt(a.Ask)
	case a.Run != nil:
		return m.run(a.Run)
	case a.Copy != "":
		m.say("copied: " + a.Copy)
		return tea.SetClipboard(a.Copy)
	}
	return nil
}

// back closes the screen. On the one that the view opened with, q ends the program at once; esc does not, as it is pressed
// once too often easily.
func (m *Model) back(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.quits() && widget.Matches(k, keyLeave):
		m.quit = true
		return tea.Quit
	case len(m.stack) > 1:
		m.closeTop()
	default:
		m.say("q quits")
	}
	return nil
}

func (m *Model) closeTop() {
	m.stack = m.stack[:len(m.stack)-1]
	m.opened = min(m.opened, len(m.stack))
}

// say shows a notice for a while; "" shows none.
func (m *Model) say(text string) {
	m.notice = notice{text: text, until: m.now.Add(noticeTime)}
}

// pause holds what is shown, or shows the latest.
func (m *Model) pause() {
	m.paused, m.pausedAt = !m.paused, m.now
	if !m.paused && m.held != nil {
		m.show(m.held)
	}
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	lines := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		lines = -lines
	case tea.MouseWheelDown:
	default:
		return
	}
	if m.help != nil {
		m.help.scroll.Move(lines)
		return
	}
	m.top().Wheel(lines, &m.data)
}

func (m *Model) save() tea.Cmd {
	save, snap := m.o.Save, m.data.Snap
	if save == nil || !snap.IsShown() {
		m.say("there is nothing to write yet")
		return nil
	}
	return m.run(func(context.Context) func() screen.Action {
		name, err := save(snap)
		notice := "written to " + name
		if err != nil {
			notice = fmt.Sprintf("not written: %v", err)
		}
		return func() screen.Action { return screen.Action{Notice: notice} }
	})
}

// paste adds text to a question, without its line breaks.
func (m *Model) paste(text string) {
	if m.prompt != nil {
		m.prompt.Insert(strings.Join(strings.Fields(text), " "))
	}
}
