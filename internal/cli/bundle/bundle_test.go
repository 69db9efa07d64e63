package bundle

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand)

// readBundle reads a bundle, and fails the test if it cannot be read.
func readBundle(t *testing.T, data []byte) *bundle.Contents {
	t.Helper()
	contents, err := bundle.Read(bytes.NewReader(data))
	assert.NoError(t, err)
	return contents
}

// entries returns the names in a folder.
func entries(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	assert.NoError(t, err)
	for _, entry := range all {
		names = append(names, entry.Name())
	}
	return names
}

// Issue 19: a bundle has the evidence for an explanation, and nothing is written to the cluster.
// Requirements: BUN-01
func TestBundleHasTheEvidence(t *testing.T) {
	api := clitest.NewExplained(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "train.tar.gz")
	got := program.Run(t, api.API, "bundle", "train", "-f", file)
	if got.Code != 0 || !strings.HasPrefix(got.Out, file+" (") {
		t.Fatalf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	data, err := os.ReadFile(file)
	assert.NoError(t, err)
	contents := readBundle(t, data)
	if len(contents.Pods) != 1 || len(contents.Events) != 1 || len(contents.Logs) != 1 || contents.Logs[0].Lines[1] != "bad checksum" {
		t.Errorf("%d pods, %d events, logs %+v", len(contents.Pods), len(contents.Events), contents.Logs)
	}
	if methods := api.Methods(); len(methods) != 1 || !methods[http.MethodGet] {
		t.Errorf("methods %v", methods)
	}
	assert.Equal(t, len(entries(t, folder)), 1, "files")
	program.Run(t, api.API, "bundle", "train", "-f", file).Want(t, 1, "", "already exists")
	if piped := program.Run(t, api.API, "bundle", "train", "-f", "-"); piped.Code != 0 || len(readBundle(t, []byte(piped.Out)).Pods) != 1 {
		t.Errorf("to stdout: exit %d, %q", piped.Code, piped.ErrOut)
	}
}

// Issue 19: if a resource is forbidden, the bundle has the rest, and reports the gap.
// Requirements: BUN-02
func TestBundleWithoutPermissions(t *testing.T) {
	for _, tc := range []struct{ path, gap string }{
		{"/log", "no permission to get pods/log"}, {"/events", "no permission to list events"}, {"/pods", "no permission to list pods"},
	} {
		api := clitest.NewExplained(t)
		api.RefusePath(tc.path, http.StatusForbidden, "Forbidden")
		got := program.Run(t, api.API, "bundle", "train", "-f", "-")
		if got.Code != 0 || !strings.Contains(got.ErrOut, tc.gap) {
			t.Errorf("%s: exit %d, %q", tc.path, got.Code, got.ErrOut)
			continue
		}
		contents := readBundle(t, []byte(got.Out))
		if len(contents.Manifest.Gaps) == 0 || contents.Job == nil {
			t.Errorf("%s: %+v", tc.path, contents.Manifest)
		}
	}
}

// A pattern that matches everything leaves a bundle whose facts can be read, in a file without the Job's name.
// Requirements: BUN-05, BUN-10
func TestBundleWithoutAnyText(t *testing.T) {
	api := clitest.NewExplained(t)
	t.Chdir(t.TempDir())
	got := program.Run(t, api.API, "bundle", "train", "--redact", ".")
	names := entries(t, ".")
	if got.Code != 0 || len(names) != 1 || strings.Contains(names[0]+got.Out, "train") {
		t.Fatalf("exit %d, %q, %q, files %q", got.Code, got.Out, got.ErrOut, names)
	}
	data, err := os.ReadFile(names[0])
	assert.NoError(t, err)
	if pods := readBundle(t, data).Pods; len(pods) != 1 || pods[0].Status.Phase != corev1.PodFailed {
		t.Errorf("pods %+v", pods)
	}
}

// Issue 19: a bundle that cannot be read or written leaves no file behind.
// Requirements: BUN-03
func TestBundleThatFailsLeavesNothing(t *testing.T) {
	api := clitest.NewExplained(t)
	folder := t.TempDir()
	program.Run(t, api.API, "bundle", "absent", "-f", filepath.Join(folder, "x")).Want(t, 1, "", `"absent" not found`)
	existing := filepath.Join(folder, "existing")
	assert.NoError(t, errors.Join(os.WriteFile(existing, []byte("mine"), 0o600), os.Symlink("nowhere", filepath.Join(folder, "link"))))
	for file, want := range map[string]string{
		filepath.Join(folder, "none", "x"): "no such file or directory", existing: "already exists", filepath.Join(folder, "link"): "already exists",
		folder: "is a directory", "/proc/x.tar.gz": "/proc/", // not writable
	} {
		program.Run(t, api.API, "bundle", "train", "-f", file).Want(t, 1, "", "writing "+file, want)
	}
	if data, err := os.ReadFile(existing); err != nil || string(data) != "mine" {
		t.Errorf("the existing file holds %q, %v", data, err)
	}
	assert.Equal(t, len(entries(t, folder)), 2, "files")
	for _, args := range [][]string{{}, {"a", "b"}, {"train", "--redact", "("}, {"train", "--max-log-lines", "-1"}} {
		if got := program.Run(t, api.API, append([]string{"bundle"}, args...)...); got.Code != 2 {
			t.Errorf("%q: exit %d, %q", args, got.Code, got.ErrOut)
		}
	}
}
