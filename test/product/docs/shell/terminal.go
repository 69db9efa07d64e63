//go:build linux

package shell

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tmux"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// terminal is a pseudo terminal of 120 columns and 36 lines that records its output.
type terminal struct {
	master, slave *os.File

	mu      sync.Mutex
	written strings.Builder
	// heard is closed after all output has been read.
	heard chan struct{}
}

func openTerminal() (*terminal, error) {
	master, slave, err := tmux.OpenPTY(120, 36)
	if err != nil {
		return nil, err
	}
	// The slave is kept open, so that it exists before and after the command.
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
	// keys is the end of the last line of every screen.
	keys = "? help"
)

// viewWatcher is the watcher for commands that open an interactive view: it presses q once the view is shown.
type viewWatcher struct {
	terminal *terminal
	frame    string
	looks    int
	pressed  bool
}

func (w *viewWatcher) streams() (in, out string) {
	return w.terminal.slave.Name(), w.terminal.slave.Name()
}

// look presses q about three times per second: nested views need several.
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

// output returns everything that the command has written, once no process has the terminal open.
func (w *viewWatcher) output() string {
	w.terminal.slave.Close()
	select {
	case <-w.terminal.heard:
	case <-time.After(time.Second): // A command that exceeded its time limit still has it open.
	}
	return ansi.Strip(w.terminal.text())
}

func (w *viewWatcher) judge(code int, how page.Run, _ bool) string {
	return wrongCode(code, how.Code)
}
