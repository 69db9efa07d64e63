package clitest

import (
	"os"
	"path/filepath"
	"testing"
)

// PlainJob is the manifest of the smallest valid Job.
const PlainJob = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}\n"

// WriteManifest writes a manifest to a file, and returns its path.
func WriteManifest(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
