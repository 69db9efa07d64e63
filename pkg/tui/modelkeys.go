package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// wheelLines is how far one notch of the wheel scrolls.
const wheelLines = 3

// key gives a key press to whoever is in front: a question, the help, the screen; what
// they do not know is for all screens.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	m.notice = notice{}
	switch {
	case matches(k, keyQuit):
		m.quit = true
		return tea.Interrupt
	case m.prompt != nil:
		if done, notice := m.prompt.key(k); done {
			m.prompt = nil
			m.say(notice)
		}
		return nil
	case m.help != nil:
		if done := m.help.key(k); done {
			m.help = nil
		}
		return nil
	}
	if a, known := m.top().key(k, &m.data); known {
		return m.act(a)
	}
	return m.globalKey(k)
}

func (m *Model) globalKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case matches(k, keyHelp):
		m.help = newHelpScreen(m.top())
	case matches(k, keyPause):
		m.pause()
	case matches(k, keyTimes):
		m.absolute = !m.absolute
	case matches(k, keySave):
		return m.save()
	case matches(k, keyMouse):
		m.mouse = !m.mouse
		m.say("mouse " + map[bool]string{true: "on: the wheel scrolls", false: "off: text can be selected"}[m.mouse])
	case matches(k, keySuspend):
		return tea.Suspend
	case matches(k, keyRedraw):
		return tea.ClearScreen
	case matches(k, keyBack):
		return m.back()
	}
	return nil
}

// act does what a pane wants.
func (m *Model) act(a action) tea.Cmd {
	m.say(a.say)
	if a.open != nil {
		m.stack = append(m.stack, a.open)
	}
	switch {
	case !a.explain.IsZero():
		m.stack = append(m.stack, newExplainScreen(a.explain))
	case a.ask != nil:
		m.prompt = newPrompt(a.ask)
	case a.copy != "":
		m.say("copied: " + a.copy)
		return tea.SetClipboard(a.copy)
	}
	return nil
}

// back closes the screen; the last one ends the program.
func (m *Model) back() tea.Cmd {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
		return nil
	}
	m.quit = true
	return tea.Quit
}

// say shows a notice for a while; "" shows none.
func (m *Model) say(text string) {
	m.notice = notice{text: text, until: m.now.Add(noticeTime)}
}

// pause holds what is shown, or shows what has come since.
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
		m.help.scroll.move(lines)
		return
	}
	m.top().wheel(lines, &m.data)
}

func (m *Model) save() tea.Cmd {
	save, snap := m.o.Save, m.data.snap
	if save == nil || !snap.IsShown() {
		m.say("there is nothing to write yet")
		return nil
	}
	return func() tea.Msg {
		name, err := save(snap)
		return savedMsg{name: name, err: err}
	}
}

func (m *Model) saved(msg savedMsg) {
	if msg.err != nil {
		m.say(fmt.Sprintf("not written: %v", msg.err))
		return
	}
	m.say("written to " + msg.name)
}

// paste adds text to a question, without its line breaks.
func (m *Model) paste(text string) {
	if m.prompt != nil {
		m.prompt.insert(strings.Join(strings.Fields(text), " "))
	}
}
