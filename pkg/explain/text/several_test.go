package text

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-45. Twenty failed Jobs of three causes fit a screen: each cause once, with one command.
func TestManyFailedJobsFitAScreen(t *testing.T) {
	l := analysis.List(groups().Items[:20])
	got := render(t, func(w io.Writer) error { return Explanations(w, l, Options{Width: 80}) })
	if n := strings.Count(got, "\n"); n > 30 {
		t.Errorf("20 failed Jobs take %d lines:\n%s", n, got)
	}
	commands := 0
	for line := range strings.Lines(got) {
		if strings.Contains(line, "kubectl ") {
			commands++
		}
	}
	if most := len(l.Groups); commands == 0 || commands > most {
		t.Errorf("%d commands for %d causes:\n%s", commands, most, got)
	}
}

// Requirements: CLI-45. However many causes and Jobs there are, each Job that needs attention is counted, and the page stays short.
func TestManyCausesAreCutToALineEach(t *testing.T) {
	l := groups()
	for range 3 {
		l.Items = append(slices.Clip(l.Items), story("complete"))
	}
	got := render(t, func(w io.Writer) error { return Explanations(w, l, Options{Width: 80}) })
	if n := strings.Count(got, "\n"); n > 40 {
		t.Errorf("%d lines:\n%s", n, got)
	}
	if !strings.Contains(got, "✗ 14 Jobs failed: ") || !strings.Contains(got, "! admission-denied-1 is stalled") || !strings.Contains(got, "more") {
		t.Errorf("a group is missing:\n%s", got)
	}
}

// On a narrow page, a line of a group omits the times, so that the cause has room; the Jobs after the last line are named.
// Requirements: CLI-45
func TestLinesOfGroupsKeepTheCause(t *testing.T) {
	l := groups()
	got := render(t, func(w io.Writer) error { return Explanations(w, l, Options{Width: 80}) })
	assert.Contains(t, got, "! admission-denied-1 is stalled: pods cannot be created", "times are before the cause")
	assert.Contains(t, got, "more: ", "the other Jobs have no names")
}

// A caller may leave out the report on a Job of a group.
func TestGroupsOfUnknownJobsAreDrawn(t *testing.T) {
	l := explain.ReportList{Items: []explain.Report{story("complete")}, Groups: []explain.JobGroup{{State: explain.GroupFailed, Count: 1, Jobs: []string{"gone"}, Text: "unknown"}, {State: explain.GroupFailed, Count: 1}}}
	render(t, func(w io.Writer) error { return Explanations(w, l, Options{Width: 80}) })
}
