package command

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

// Run reports how a program ended; a program that cannot start or does not end in time is an error.
func TestRunReportsHowAProgramEnds(t *testing.T) {
	got, err := Run(t.Context(), time.Minute, "typed", "sh", "-c", "cat; echo wrong >&2; exit 3")
	if want := (Result{3, "typed", "wrong\n"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Run(t.Context(), time.Millisecond, "", "sleep", "1000"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Run(t.Context(), time.Minute, "", "no-such-program"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%+v, %v", got, err)
	}
}
