//go:build linux

package shell

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"github.com/batchjob-dev/kubectl-batchjob/test/docs/page"
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
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{master: master, heard: make(chan struct{})}
	fd := int(master.Fd())
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 36, Col: 120})
	}
	if err == nil {
		// Held open, so that it is there before and after the command.
		t.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, err
	}
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
