package meaning_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Each log of testdata/logs is the end of that of a public report, or of the output of a program, with shorter stacks and other names.
// It begins with its source, and has the texts of which one must be in the sentence about the cause, which is short.
// Requirements: CLI-14
func TestSentenceAboutTheCauseHasTheErrorOfTheLog(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/logs/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NoError(t, err)
		for _, log := range strings.Split(string(data), "# source: ")[1:] {
			wants, lines := readLog(log)
			lines, _ = meaning.Tail(lines, 10)
			known := meaning.KnownErrorIn(1, lines...)
			line, sign := meaning.LastLineOf(1, lines)
			clue := &meaning.Clue{Words: line, Log: lines, Step: meaning.StepIn(lines)}
			sentence := words.CauseSentence(&explain.Cause{
				Text: "container main exited with code 1", Error: known,
				Ended: explain.Ended{ExitCode: ptr.To(int32(1)), LastLine: line, LineSign: sign, Place: clue.Place(known, &meaning.Container{})},
			})
			answer := sentence
			if known != nil {
				answer += lines[meaning.LineOfError(1, lines)]
			}
			if !slices.ContainsFunc(wants, func(want string) bool { return strings.Contains(answer, want) }) || utf8.RuneCountInString(sentence) > 160 {
				t.Errorf("%s, %s: %q, want one of %q", filepath.Base(path), log[:strings.Index(log, "\n")], sentence, wants)
			}
		}
	}
}

// readLog reads the lines of a log, and what it wants.
func readLog(log string) (wants, lines []string) {
	for _, line := range strings.Split(strings.TrimRight(log, "\n"), "\n")[1:] {
		if want, is := strings.CutPrefix(line, "# want: "); is {
			wants = append(wants, want)
		} else {
			lines = append(lines, line)
		}
	}
	return wants, lines
}
