package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// make generate-check fails if a file does not match the code.
func TestCheckFailsForAStaleFile(t *testing.T) {
	const text = "kubectl batchjob status --watch\n"
	file := filepath.Join(t.TempDir(), "reference.md")
	if err := run(file, text, true); err == nil {
		t.Error("a file that is missing passes")
	}
	assert.NoError(t, run(file, text, false))
	assert.NoError(t, run(file, text, true), "a file that was just written")
	data, err := os.ReadFile(file)
	assert.NoError(t, err)
	assert.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), "--watch", "--wtach", 1)), 0o600))
	if err := run(file, text, true); err == nil || !strings.Contains(err.Error(), "make docs") {
		t.Errorf("a stale file: %v", err)
	}
}
