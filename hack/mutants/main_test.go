package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Only a test that fails or panics catches a bug, not a build failure or a timeout.
// Requirements: STO-06
func TestOnlyAFailureCatchesABug(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/m\n")
	for _, c := range []struct{ name, body, failure, problem string }{
		{"passes", ``, "", ""},
		{"fails", `t.Run("sub", func(t *testing.T) { t.Fail() })`, "./fails: Test/sub", ""},
		{"panics", `go panic("oh"); select {}`, "./panics: it panics", ""},
		{"broken", `undefined()`, "", "undefined: undefined"},
		{"vetted", `t.Errorf("%d", "")`, "", "has arg"},
	} {
		write(t, c.name+"/m_test.go", "package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { "+c.body+" }\n")
		failure, err := suite{timeout: time.Minute}.test("", "./"+c.name)
		if failure != c.failure || (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %q, %v, want %q, %q", c.name, failure, err, c.failure, c.problem)
		}
	}
	if failure, err := (suite{timeout: 1}).test("", "./fails"); failure != "" || !strings.Contains(fmt.Sprint(err), "has not ended") {
		t.Errorf("after the time limit: %q, %v", failure, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}
