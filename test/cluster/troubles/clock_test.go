package troubles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const clockProgram = `package main

import (
	"fmt"
	"time"
)

func main() {
	now := time.Now()
	fmt.Println(now.Unix(), time.Since(now) < time.Minute)
}
`

// The program has the wrong date but measures durations correctly.
// Requirements: SOK-01
func TestProgramsWithWrongClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles much of the standard library once more")
	}
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(clockProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := BuildWithClock(t.Context(), dir, "clock", source); err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []int64{-180, 0, 3600} {
		cmd := exec.Command(filepath.Join(dir, "clock"))
		cmd.Env = append(os.Environ(), ClockAhead+"="+strconv.FormatInt(ahead, 10))
		before := time.Now().Unix()
		output, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		after := time.Now().Unix()
		text, isRight := strings.CutSuffix(string(output), " true\n")
		got, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !isRight || got < before+ahead || got > after+ahead {
			t.Errorf("%d s ahead at %d: %q, %v", ahead, before, output, err)
		}
	}
}
