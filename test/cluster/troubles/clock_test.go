package troubles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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
	assert.NoError(t, os.WriteFile(source, []byte(clockProgram), 0o600))
	assert.NoError(t, BuildWithClock(t.Context(), dir, "clock", source))
	for _, ahead := range []int64{-180, 0, 3600} {
		cmd := exec.Command(filepath.Join(dir, "clock"))
		cmd.Env = append(os.Environ(), ClockAhead+"="+strconv.FormatInt(ahead, 10))
		before := time.Now().Unix()
		output, err := cmd.Output()
		assert.NoError(t, err)
		after := time.Now().Unix()
		text, isRight := strings.CutSuffix(string(output), " true\n")
		got, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !isRight || got < before+ahead || got > after+ahead {
			t.Errorf("%d s ahead at %d: %q, %v", ahead, before, output, err)
		}
	}
}
