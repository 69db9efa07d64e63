package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// terminal is a real one, of tmux, with a shell in it.
type terminal struct {
	t      *testing.T
	socket string
	dir    string
}

// openTerminal starts one of so many columns and lines. Commands typed into it see the
// cluster, as `batchjob` for the binary, and environment.
func openTerminal(t *testing.T, width, height int, environment ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("these tests need tmux: ", err)
	}
	term := &terminal{t: t, dir: t.TempDir()}
	term.socket = filepath.Join(term.dir, "tmux")
	config := filepath.Join(term.dir, "tmux.conf")
	settings := "set -g default-terminal xterm-256color\nset -g status off\nset -g remain-on-exit on\nset -g history-limit 5000\n"
	script := filepath.Join(term.dir, "rc")
	rc := fmt.Sprintf("PS1='ready> '\nbatchjob() { %q \"$@\"; }\ncd %q\nunset NO_COLOR\n", binary, term.dir)
	for file, text := range map[string]string{config: settings, script: rc} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-f", config, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, variable := range append([]string{"KUBECONFIG=" + kubeconfig, "LC_ALL=C.UTF-8", "TZ=UTC", "ENV=" + script, "COLORTERM=truecolor"}, environment...) {
		args = append(args, "-e", variable)
	}
	term.tmux(append(args, "sh -i")...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows:\n%s", term.screen())
		}
		term.tmux("kill-server")
	})
	term.shows("ready>")
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// run types a command.
func (term *terminal) run(command string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", command)
	term.tmux("send-keys", "Enter")
}

// press gives keys by tmux' names: Enter, Escape, Down, C-c, or a letter.
func (term *terminal) press(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys"}, keys...)...)
}

// write types text.
func (term *terminal) write(text string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", text)
}

// screen is what is on it.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

// shows waits until all texts are on the screen.
func (term *terminal) shows(texts ...string) {
	term.t.Helper()
	eventually(term.t, fmt.Sprintf("%q on the screen", texts), func(context.Context) (bool, error) {
		screen := term.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false, nil
			}
		}
		return true, nil
	})
}

// resize gives the terminal another size, and waits until what is drawn fills it: the clock
// at the right end of the first line, the keys on the last.
func (term *terminal) resize(width, height int) {
	term.t.Helper()
	term.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
	eventually(term.t, fmt.Sprintf("a picture of %dx%d", width, height), func(context.Context) (bool, error) {
		lines := strings.Split(strings.TrimRight(term.screen(), "\n"), "\n")
		return len(lines) == height && utf8.RuneCountInString(lines[0]) == width, nil
	})
}

// leave presses the keys that end a program, and waits for the shell: until that has the
// terminal, what is typed goes to the program.
func (term *terminal) leave(keys ...string) {
	term.t.Helper()
	term.press(keys...)
	eventually(term.t, "the shell", func(context.Context) (bool, error) {
		lines := strings.Split(strings.TrimSpace(term.screen()), "\n")
		return lines[len(lines)-1] == "ready>", nil
	})
}

// state is what a program may leave changed: the alternate screen, the mouse, the cursor.
func (term *terminal) state() string {
	term.t.Helper()
	return strings.TrimSpace(term.tmux("display-message", "-p",
		"alternate=#{alternate_on} mouse=#{mouse_any_flag} cursor=#{cursor_flag} keypad=#{keypad_flag}"))
}

// restored fails unless the terminal is as a shell leaves it, and the line discipline too.
func (term *terminal) restored() {
	term.t.Helper()
	eventually(term.t, "the terminal to be restored", func(context.Context) (bool, error) {
		return term.state() == "alternate=0 mouse=0 cursor=1 keypad=0", nil
	})
	term.run("stty -a | tr ';' '\\n' | grep -o '[-]*icanon\\|[-]*echo ' | xargs echo modes")
	term.shows("modes icanon echo")
}
