package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tmux"
)

// terminal is a real terminal, run by tmux, with a shell.
type terminal struct {
	*tmux.Terminal
	t   *testing.T
	dir string
}

// openTerminal starts a terminal of the given size. Commands in it have access to the cluster, to the binary as
// `batchjob`, and to the environment variables.
func openTerminal(t *testing.T, width, height int, environment ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, dir: t.TempDir()}
	config := filepath.Join(term.dir, "tmux.conf")
	settings := "set -g default-terminal xterm-256color\nset -g status off\nset -g remain-on-exit on\nset -g history-limit 5000\n"
	script := filepath.Join(term.dir, "rc")
	rc := fmt.Sprintf("PS1='ready> '\nbatchjob() { %q \"$@\"; }\ncd %q\nunset NO_COLOR\n", binary, term.dir)
	for file, text := range map[string]string{config: settings, script: rc} {
		assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	args := []string{"-f", config, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, variable := range append([]string{"KUBECONFIG=" + kubeconfig, "LC_ALL=C.UTF-8", "TZ=UTC", "ENV=" + script, "COLORTERM=truecolor", "BATCHJOB_INTERACTIVE=true"}, environment...) {
		args = append(args, "-e", variable)
	}
	term.Terminal = tmux.Start(t, patience, append(args, "sh -i")...)
	term.Shows("ready>")
	return term
}

// run types a command.
func (term *terminal) run(command string) {
	term.t.Helper()
	term.Write(command)
	term.Press("Enter")
}

// fresh types a command on an empty screen, so that the output of the previous command cannot be mistaken for its own.
func (term *terminal) fresh(command string) {
	term.t.Helper()
	term.run("clear")
	term.Until("an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "ready>" })
	term.run(command)
}

// resize changes the terminal's size, and waits until the view fills it: the clock is at the right end of the first
// line, the keys on the last line.
func (term *terminal) resize(width, height int) {
	term.t.Helper()
	term.Command("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
	term.Until(fmt.Sprintf("a picture of %dx%d", width, height), func(screen string) bool {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		return len(lines) == height && utf8.RuneCountInString(lines[0]) == width
	})
}

// leave presses the keys that end a program, and waits for the shell: until the shell controls the terminal, input goes
// to the program.
func (term *terminal) leave(keys ...string) {
	term.t.Helper()
	term.Press(keys...)
	term.Until("the shell", func(screen string) bool {
		lines := strings.Split(strings.TrimSpace(screen), "\n")
		return lines[len(lines)-1] == "ready>"
	})
}

// state returns the settings that a program may leave changed: the alternate screen, the mouse, the cursor.
func (term *terminal) state() string {
	term.t.Helper()
	return strings.TrimSpace(term.Command("display-message", "-p",
		"alternate=#{alternate_on} mouse=#{mouse_any_flag} cursor=#{cursor_flag} keypad=#{keypad_flag}"))
}

// restored fails unless the terminal and its line discipline are in a shell's state.
func (term *terminal) restored() {
	term.t.Helper()
	eventually(term.t, "the terminal to be restored", func(context.Context) (bool, error) {
		return term.state() == "alternate=0 mouse=0 cursor=1 keypad=0", nil
	})
	term.run("stty -a | tr ';' '\\n' | grep -o '[-]*icanon\\|[-]*echo ' | xargs echo modes")
	term.Shows("modes icanon echo")
}
