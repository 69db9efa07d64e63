package lint

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

const twoInfos = `apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  ttlSecondsAfterFinished: 0
  completions: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
`

// A comment works on the line of the finding, in the line above it, or before the first field for the whole document.
// Requirements: LNT-05
func TestCommentsIgnoreFindings(t *testing.T) {
	ttl, completions := "  ttlSecondsAfterFinished: 0", "  completions: 0"
	for name, c := range map[string]struct{ text, left, summary string }{
		"none":              {twoInfos, "ttl-zero no-completions", "2 infos in 1 Job\n"},
		"on the line":       {strings.Replace(twoInfos, ttl, ttl+" # batchjob-lint: ignore=ttl-zero", 1), "no-completions", "1 info in 1 Job; 1 ignored\n"},
		"above":             {strings.Replace(twoInfos, ttl, "  # why\n  # batchjob-lint: ignore=ttl-zero it is only a test\n\n"+ttl, 1), "no-completions", "1 info in 1 Job; 1 ignored\n"},
		"of another line":   {strings.Replace(twoInfos, completions, "  # batchjob-lint: ignore=ttl-zero\n"+completions, 1), "ttl-zero no-completions", "2 infos in 1 Job\n"},
		"of the document":   {"# batchjob-lint: ignore=ttl-zero,no-completions\n" + twoInfos, "", "no findings in 1 Job; 2 ignored\n"},
		"of one document":   {"# batchjob-lint: ignore=ttl-zero,no-completions\n" + twoInfos + "---\n" + strings.Replace(twoInfos, "{name: a}", "{name: b}", 1), "ttl-zero no-completions", "2 infos in 2 Jobs; 2 ignored\n"},
		"unknown":           {strings.Replace(twoInfos, ttl, ttl+" # batchjob-lint: ignore=ttl-zero,ttl", 1), "ignore-unknown no-completions", "1 warning, 1 info in 1 Job; 1 ignored\n"},
		"without ignore":    {"# batchjob-lint: off\n" + twoInfos, "ignore-unknown ttl-zero no-completions", "1 warning, 2 infos in 1 Job\n"},
		"of another linter": {"# kube-linter: ignore=ttl-zero\n" + twoInfos, "ttl-zero no-completions", "2 infos in 1 Job\n"},
	} {
		got := linted(t, c.text)
		var left []string
		for line := range strings.Lines(got.Out) {
			if _, id, found := strings.Cut(strings.TrimSpace(line), " ["); found && strings.HasSuffix(id, "]") {
				left = append(left, strings.TrimSuffix(id, "]"))
			}
		}
		if strings.Join(left, " ") != c.left || summaryOf(got) != c.summary {
			t.Errorf("%s: %q, %q\n%s", name, left, got.ErrOut, got.Out)
		}
	}
}

// A list of many objects has one comment for all; an invalid comment is one finding.
// Requirements: LNT-05
func TestCommentsOfAListAreReadOnce(t *testing.T) {
	const item = "- apiVersion: batch/v1\n  kind: Job\n  metadata: {name: NAME}\n  spec: {completions: 0, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}\n"
	text := "# batchjob-lint: ignore=no-completions,none\napiVersion: v1\nkind: List\nitems:\n" + strings.Replace(item, "NAME", "a", 1) + strings.Replace(item, "NAME", "b", 1)
	got := linted(t, text)
	if strings.Count(got.Out, "ignore-unknown") != 1 || summaryOf(got) != "1 warning in 2 Jobs; 2 ignored\n" {
		t.Errorf("%s%s", got.Out, got.ErrOut)
	}
}

// An ID that only another version has is not an error.
// Requirements: LNT-05
func TestFlagIgnoresFindings(t *testing.T) {
	got := linted(t, twoInfos, "--ignore", "ttl-zero,ttl", "--ignore=no-completions")
	const want = "warning: --ignore ttl: there is no such kind of finding; use an ID that lint prints in brackets\nno findings in 1 Job; 2 ignored\n"
	if got.Code != cmdutil.ExitDone || got.Out != "" || summaryOf(got) != want {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}

// Ignored findings do not affect the exit code.
// Requirements: LNT-05
func TestIgnoredErrorsDoNotFail(t *testing.T) {
	text := strings.Replace(twoInfos, "completions: 0", "completions: -1 # batchjob-lint: ignore=negative", 1)
	if got := linted(t, text); got.Code != cmdutil.ExitDone || !strings.Contains(got.ErrOut, "1 ignored") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}
