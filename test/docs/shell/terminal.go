//go:build linux

package shell

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/test/docs/page"
	"github.com/batchjob-dev/kubectl-batchjob/test/tmux"
)

// terminal is one of 120 columns and 36 lines, and what was written to it.
type terminal struct {
	master, slave *os.File

	mu      sync.Mutex
	written strings.Builder
	// heard is closed when nothing more can be written.
	heard chan struct{}
}

func openTerminal() (*terminal, error) {
	master, slave, err := tmux.OpenPTY(120, 36)
	if err != nil {
		return nil, err
	}
	// The slave is held open, so that it is there before and after the command.
	t := &terminal{master: master, slave: slave, heard: make(chan struct{})}
	go t.listen()
	return t, nil
}

func (t *terminal) listen() {
	defer close(t.heard)
	buffer := make([]byte, 1<<14)
	for {
		n, err := t.master.Read(buffer)
		t.mu.Lock()
		t.written.Write(buffer[:n])
		t.mu.Unlock()
		if err != nil {
			return // It is closed.
		}
	}
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written.String()
}

func (t *terminal) close() {
	t.slave.Close()
	t.master.Close()
}

const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	// keys is at the end of each screen's last line.
	keys = "? help"
)

// viewWatcher is for commands that open an interactive view: it presses q once that is there.
type viewWatcher struct {
	terminal *terminal
	frame    string
	looks    int
	pressed  bool
}

func (w *viewWatcher) streams() (in, out string) {
	return w.terminal.slave.Name(), w.terminal.slave.Name()
}

// look presses q about three times a second: a view within another needs more than one.
func (w *viewWatcher) look() {
	w.looks++
	if w.looks%16 != 0 {
		return
	}
	_, screen, entered := strings.Cut(w.terminal.text(), enterScreen)
	if !entered || strings.Contains(screen, leaveScreen) {
		return
	}
	if shown := ansi.Strip(screen); strings.Contains(shown, w.frame) && (w.pressed || strings.Contains(shown, keys)) {
		w.pressed = true
		_, _ = w.terminal.master.WriteString("q") // The command may have ended.
	}
}

// output is all that the command has written, once nobody has the terminal anymore.
func (w *viewWatcher) output() string {
	w.terminal.slave.Close()
	select {
	case <-w.terminal.heard:
	case <-time.After(time.Second): // A command that has not ended in time still has it.
	}
	return ansi.Strip(w.terminal.text())
}

func (w *viewWatcher) judge(code int, how page.Run, _ bool) string {
	return wrongCode(code, how.Code)
}
