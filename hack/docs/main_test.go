package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// make generate-check fails if a file does not match the code.
func TestCheckFailsForAStaleFile(t *testing.T) {
	const text = "kubectl batchjob status --watch\n"
	file := filepath.Join(t.TempDir(), "reference.md")
	if err := run(file, text, true); err == nil {
		t.Error("a file that is missing passes")
	}
	if err := run(file, text, false); err != nil {
		t.Fatal(err)
	}
	if err := run(file, text, true); err != nil {
		t.Errorf("a file that was just written: %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "--watch", "--wtach", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(file, text, true); err == nil || !strings.Contains(err.Error(), "make docs") {
		t.Errorf("a stale file: %v", err)
	}
}
