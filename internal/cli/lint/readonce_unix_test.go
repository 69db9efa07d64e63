//go:build unix

package lint

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A file is read once, whatever is in it: it may be a pipe, as in -f <(helm template CHART), which is empty when it is read
// again, and reading it for each finding would make the work quadratic.
// Requirements: LNT-02
func TestAFileIsReadOnce(t *testing.T) {
	for name, c := range map[string]struct {
		text, wantText string
	}{
		"ops.yaml":       {"- op: replace\n  path: /spec/backoffLimit\n  value: 2\n", "no findings; 1 patch of kustomizations skipped"},
		"list.yaml":      {"apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- {kind: Job, metadata: {name: a}}\n", 100), "error: 100 errors\n"},
		"documents.yaml": {strings.Repeat("kind: Job\n---\n- a\n---\n", 50), "error: 100 errors\n"},
	} {
		path := filepath.Join(t.TempDir(), name)
		assert.NoError(t, syscall.Mkfifo(path, 0o600))
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(path, []byte(c.text), 0) }() // It waits for a reader.
		got := program.Run(t, nil, "lint", "-f", path)
		if err := <-written; err != nil || !strings.HasPrefix(got.ErrOut, c.wantText) || got.Code > cmdutil.ExitError {
			t.Errorf("%s: exit %d, stderr %q, %v, want %q", name, got.Code, got.ErrOut, err, c.wantText)
		}
	}
}
