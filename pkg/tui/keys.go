package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

var (
	keyHelp = widget.Bind("?", "help", "?", "f1")
	keyBack = widget.Bind("esc/q", "back", "esc", "q", "backspace")
	// keyBelow goes to the screen below the first one: from an explanation to its Job.
	keyBelow = widget.Bind("esc", "back", "esc", "backspace")
	keyQuit  = widget.Bind("ctrl+c", "quit", "ctrl+c")
	// keyLeave quits on the screen that the view opened with.
	keyLeave   = widget.Bind("q/ctrl+c", "quit", "q", "ctrl+c")
	keyQ       = widget.Bind("q", "quit", "q")
	keyPause   = widget.Bind("space", "pause", "space")
	keyTimes   = widget.Bind("r", "relative/absolute times", "r")
	keySave    = widget.Bind("w", "write to a file", "w")
	keyMouse   = widget.Bind("m", "mouse wheel/select text", "m")
	keyRedraw  = widget.Bind("ctrl+l", "redraw", "ctrl+l")
	keySuspend = widget.Bind("ctrl+z", "suspend", "ctrl+z")
)

// wheelLines is the number of lines that one notch of the wheel scrolls.
const wheelLines = 3

// key passes a key press to the prompt, the help, the screen, or the global keys, whichever handles it first.
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
		then := m.answered
		m.answered = nil
		if then == nil {
			return nil
		}
		return then()
	case m.help != nil:
		if done := m.help.key(k); done {
			m.help = nil
		}
		return nil
	}
	if a, known := m.screens.top().Key(k, &m.data); known {
		return m.act(a)
	}
	return m.globalKey(k)
}

// globalKey handles the keys that have the same meaning on all screens that do not redefine them.
func (m *Model) globalKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	// What is shown, and how.
	case widget.Matches(k, keyHelp):
		m.help = newHelpScreen(m.screens.top(), slices.Concat(readKeys(m.screens.top(), &m.data, m.o.YAML != nil), m.formKeys(), m.screens.leaveKeys())...)
	case widget.Matches(k, keyPause):
		m.togglePause()
	case widget.Matches(k, keyTimes):
		m.absolute = !m.absolute
	case widget.Matches(k, keyMouse):
		m.mouse = !m.mouse
		m.say("mouse " + map[bool]string{true: "on: the wheel scrolls", false: "off: text can be selected"}[m.mouse])
	case widget.Matches(k, keySave):
		m.askFile()

	// Keys for the terminal.
	case widget.Matches(k, keySuspend):
		return tea.Suspend
	case widget.Matches(k, keyRedraw):
		return tea.ClearScreen

	// Other screens, forms, prompts and leaving.
	case widget.Matches(k, keyFailedLogs), widget.Matches(k, keyYAML):
		return m.read(k)
	case widget.Matches(k, keyRetry):
		return m.retry(k)
	case widget.Matches(k, keyOwner):
		a, ok := openOwner(m.screens.top(), &m.data)
		if !ok {
			m.sayUnknown(k)
		}
		return m.act(a)
	case widget.Matches(k, keyHold), widget.Matches(k, keyDelete):
		return m.change(k)
	case widget.Matches(k, keyNamespace):
		return m.askNamespace(k)
	case widget.Matches(k, keyAll):
		return m.toggleAll(k)
	case widget.Matches(k, keyBack):
		return m.back(k)
	default:
		m.sayUnknown(k)
	}
	return nil
}

// formKeys returns the keys that can open a form or a prompt now.
func (m *Model) formKeys() (keys []widget.Binding) {
	_, _, retries := m.retriable()
	keys = againKeys(m.screens.top(), m.o.Runner, retries)
	if t, ok := targetOf(m.screens.top(), &m.data); ok && cronjob.IsOwner(t.owner) {
		keys = append(keys, keyOwner)
	}
	if _, ok := targetOf(m.screens.top(), &m.data); ok && m.o.Changer != nil {
		keys = append(keys, keyHold, keyDelete)
	}
	if m.choosesNamespace() {
		keys = append(keys, keyNamespace, keyAll)
	}
	return keys
}

// sayUnknown explains an unknown key, so that users of other programs do not press it again.
func (m *Model) sayUnknown(k tea.KeyPressMsg) {
	m.say("no key " + sanitize.Line(k.String()) + " here; ? shows the keys")
}

// act performs the Action of a screen.
func (m *Model) act(a screen.Action) tea.Cmd {
	if a.Notice != "" {
		m.say(a.Notice)
	}
	if a.Close || a.Leave != nil && a.Leave == m.screens.top() {
		m.screens.pop()
	}
	if a.Open != nil {
		m.screens.push(a.Open)
	}
	switch {
	case a.Explain.Name != "":
		m.screens.push(job.NewExplanation(a.Explain))
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

// back closes the screen. On the screen that the view opened with, q quits at once; esc does not, because it is easily
// pressed once too often.
func (m *Model) back(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.screens.quits() && widget.Matches(k, keyLeave):
		m.quit = true
		return tea.Quit
	case len(m.screens.open) > 1:
		m.screens.pop()
	default:
		m.say("q quits")
	}
	return nil
}

// say shows a notice for a while; "" shows none.
func (m *Model) say(text string) {
	m.notice = notice{text: text, until: m.now.Add(noticeTime)}
}

// togglePause freezes the view, or shows the latest Snapshot.
func (m *Model) togglePause() {
	m.pause.on, m.pause.since = !m.pause.on, m.now
	if !m.pause.on && m.pause.held != nil {
		m.show(m.pause.held)
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
	m.screens.top().Wheel(lines, &m.data)
}

// askFile asks for the file to which the Snapshot is written.
func (m *Model) askFile() {
	snap := m.data.Snap
	if m.o.Save == nil || !snap.IsShown() {
		m.say("there is nothing to write yet")
		return
	}
	m.prompt = widget.NewPrompt(&widget.Question{Label: "write to: ", Text: m.o.FileName(snap), Answered: func(file string) string {
		if file == "" {
			return "not written: no file name"
		}
		save := func(context.Context) func() screen.Action {
			notice := "written to " + file
			if err := m.o.Save(snap, file); err != nil {
				notice = fmt.Sprintf("not written: %v", err)
			}
			return func() screen.Action { return screen.Action{Notice: notice} }
		}
		m.answered = func() tea.Cmd { return m.run(save) }
		return ""
	}})
}
