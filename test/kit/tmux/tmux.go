// Package tmux runs real terminals in tests.
package tmux

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Terminal is a tmux session that ends with the test.
type Terminal struct {
	t      *testing.T
	socket string
	// patience is the time limit for a text to appear on the screen.
	patience time.Duration
}

// Start runs tmux with arguments that create a session. patience is the time limit of waits.
func Start(t *testing.T, patience time.Duration, args ...string) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("these tests need tmux: ", err)
	}
	term := &Terminal{t, filepath.Join(t.TempDir(), "tmux"), patience}
	term.Command(args...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows:\n%s", term.Screen())
		}
		term.Command("kill-server")
	})
	return term
}

// Command runs a tmux command.
func (term *Terminal) Command(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Press sends keys by their tmux names: Enter, Escape, Down, C-c, or a letter.
func (term *Terminal) Press(keys ...string) {
	term.t.Helper()
	term.Command(append([]string{"send-keys"}, keys...)...)
}

// Write types text.
func (term *Terminal) Write(text string) {
	term.t.Helper()
	term.Command("send-keys", "-l", text)
}

// Screen returns the text on the screen.
func (term *Terminal) Screen() string {
	term.t.Helper()
	return term.Command("capture-pane", "-p")
}

// Shows waits until all texts are on the screen.
func (term *Terminal) Shows(texts ...string) {
	term.t.Helper()
	term.Until(fmt.Sprintf("%q on the screen", texts), func(screen string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
}

// Until waits until done returns true for the screen.
func (term *Terminal) Until(what string, done func(screen string) bool) {
	term.t.Helper()
	err := wait.PollUntilContextTimeout(term.t.Context(), 50*time.Millisecond, term.patience, true,
		func(context.Context) (bool, error) { return done(term.Screen()), nil })
	if err != nil {
		term.t.Fatalf("waiting for %s: %v", what, err)
	}
}
