//go:build unix

package leash

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
)

func TestNoFolderIsLeftWithoutALeash(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("PATH", "")
	if _, err := NewCluster("", "test"); err == nil {
		t.Error("there is a Leash without sh")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestStartWaitsNoLongerThanItsContext(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, sleep, nil, "100"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
