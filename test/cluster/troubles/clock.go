package troubles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ClockAhead is the environment variable with the number of seconds by which the clock of a program built by
// BuildWithClock is ahead.
const ClockAhead = "CLOCK_AHEAD"

// wrongClock is added to the program's package time.
const wrongClock = `package time

import "syscall"

var ahead = func() int64 {
	text, _ := syscall.Getenv("` + ClockAhead + `")
	seconds, _ := atoi(text)
	return int64(seconds)
}()
`

// BuildWithClock builds a Go program with an adjustable clock into dir. A preloaded library cannot change the clock of a
// static program, and Linux has no per-process clock; but go build can overlay time.Now. Measured durations stay
// correct.
func BuildWithClock(ctx context.Context, dir, program string, args ...string) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	library := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		return err
	}
	const reading = "sec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(source), reading) != 1 {
		return errors.New("time.Now is not as expected in this release of Go")
	}
	patched := strings.Replace(string(source), reading, reading+"\tsec += ahead\n", 1)
	files := map[string]string{"time.go": patched, "ahead.go": wrongClock}
	overlay := map[string]string{}
	for name, text := range files {
		overlay[filepath.Join(library, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return err
	}
	args = append([]string{"build", "-overlay", file, "-o", filepath.Join(dir, program)}, args...)
	if output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build -overlay: %w\n%s", err, output)
	}
	return nil
}
