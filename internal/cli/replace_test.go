package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Requirements: RUN-19
func TestRunReplaceKeepsEvidenceOfAJobThatFailed(t *testing.T) {
	manifest := clitest.WriteManifest(t, simpleManifest)
	for flag, files := range map[string]int{"--keep-evidence=failed": 1, "--keep-evidence=never": 0} {
		api := clitest.NewWrites(t, clitest.WithCondition(clitest.SimpleJob("ns1", "train", 0), "Failed", "BackoffLimitExceeded", ""))
		folder := t.TempDir()
		t.Chdir(folder)
		s := program.Start(t, api.API, clitest.NewEnv(), "run", "-f", manifest, "--replace", flag)
		s.WaitErr("train  Running")
		s.Interrupt()
		assert.Equal(t, s.End(), cmdutil.ExitInterrupted, flag, s.ErrOut.String())
		bundles, err := filepath.Glob(filepath.Join(folder, "train-*.tar.gz"))
		if err != nil || len(bundles) != files {
			t.Errorf("%s: %q, %v; %s", flag, bundles, err, s.ErrOut.String())
		}
		if calls := api.Calls(); !slices.Contains(calls, "delete jobs") || strings.Count(strings.Join(calls, ","), "create jobs") != 2 {
			t.Errorf("%s: %q", flag, calls)
		}
	}
}
