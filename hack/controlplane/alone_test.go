//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Commands with the same lock never run at the same time: each finds no file of another one. A killed or failed command
// does not keep the lock.
func TestCommandsRunAlone(t *testing.T) {
	dir := t.TempDir()
	path, busy := filepath.Join(dir, "controller.lock"), filepath.Join(dir, "busy")
	script := `test ! -e "$0" || exit 9; echo >"$0"; for i in 1 2 3 4 5 6 7 8 9; do sh -c :; done; rm "$0"`
	done := make(chan error)
	for range 8 {
		go func() { done <- alone(context.Background(), path, []string{"sh", "-c", script, busy}) }()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var exit *exec.ExitError
	if err := alone(context.Background(), path, []string{"sh", "-c", "exit 7"}); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Error(err)
	}
	if code := exitCode([]string{"alone", path, "sh", "-c", "exit 7"}); code != 7 {
		t.Errorf("exit %d", code)
	}
	// make down deletes the lock file while it holds the lock; a process that waits for the old file locks a new one.
	if err := alone(context.Background(), path, []string{"rm", path}); err != nil {
		t.Error(err)
	}
	if err := alone(context.Background(), path, []string{"true"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if code := exitCode([]string{"alone", path}); code != 2 {
		t.Errorf("without a command: exit %d", code)
	}
}
