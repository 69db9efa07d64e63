package meaning_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Each file of testdata/logs is the end of a log of a public report, with shorter stacks and other names: first comments with its
// source, and the texts of which one must be in the sentence about the cause.
//
// Requirements: CLI-14
func TestSentenceAboutTheCauseHasTheErrorOfTheLog(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/logs/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range paths {
		wants, lines := readLog(t, path)
		lines = meaning.Tail(lines, 10)
		known, message := meaning.KnownErrorIn(1, lines...), ""
		if known != nil {
			message = lines[meaning.LineOfError(1, lines)]
		}
		sentence := words.CauseSentence(&explain.Cause{
			Text: "container main exited with code 1", Error: known, Ended: explain.Ended{ExitCode: ptr.To(int32(1)), LastLine: meaning.LastLine(lines)},
		})
		if !slices.ContainsFunc(wants, func(want string) bool { return strings.Contains(sentence, want) || strings.Contains(message, want) }) {
			t.Errorf("%s: %q, want one of %q", filepath.Base(path), sentence, wants)
		}
	}
}

func readLog(t *testing.T, path string) (wants, lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NoError(t, err)
	for line := range strings.Lines(strings.TrimRight(string(data), "\n")) {
		line = strings.TrimSuffix(line, "\n")
		if want, is := strings.CutPrefix(line, "# want: "); is {
			wants = append(wants, want)
		} else if len(lines) > 0 || !strings.HasPrefix(line, "# source: ") {
			lines = append(lines, line)
		}
	}
	return wants, lines
}
