package cli

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// Requirements: CLI-22
func TestFlagsAreTakenByBothOfTheirNames(t *testing.T) {
	for _, args := range []string{
		"why a --indexes x", "logs a --indexes x", "retry a --index x --dry-run=no", "why a --tail -1", "logs a --log-lines -2",
		"watch --replay f --speed=-1", "simulate -f x --pods-from a/b/c",
		"retry a --failed --dry-run=no", "logs a --failed-only --log-lines -2",
	} {
		got := program.Run(t, nil, strings.Fields(args)...)
		if got.Code != cmdutil.ExitUsage || strings.Contains(got.ErrOut, "unknown flag") {
			t.Errorf("%s: exit %d, %s", args, got.Code, got.ErrOut)
		}
	}
}

// Requirements: CLI-22
func TestUnknownFlagsSuggestSimilarOnes(t *testing.T) {
	for args, want := range map[string]string{
		"wait a --timeot 1s":    "unknown flag: --timeot, did you mean --timeout; see: kubectl batchjob wait --help",
		"why a --idnex 3":       "did you mean --index",
		"clean --older-then 7d": "did you mean --older-than",
		"status --nonsense":     "unknown flag: --nonsense; see",
		"logs a --fail":         "did you mean --tail",
		"run --failifstalled":   "did you mean --fail-if-stalled",
		"status --namespaces x": "did you mean --namespace",
	} {
		program.Run(t, nil, strings.Fields(args)...).Want(t, cmdutil.ExitUsage, "", want)
	}
	if got := program.Run(t, nil, "ls"); !strings.Contains(got.ErrOut, `unknown command "ls", did you mean`) || !strings.Contains(got.ErrOut, "status") {
		t.Error(got.ErrOut)
	}
}
