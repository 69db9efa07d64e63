package text

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// looks returns the Options with which each fixture is drawn.
func looks() map[string]Options {
	return map[string]Options{
		"60": {Width: 60}, "80": {Width: 80}, "160": {Width: 160}, "nowrap": {},
		"color": {Width: 80, Color: true}, "ascii": {Width: 80, ASCII: true}, "full": {Width: 80, Full: true},
	}
}

func render(t testing.TB, draw func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	assert.NoError(t, draw(&b))
	return b.String()
}

// drawings returns all fixtures by name, drawn with the same Options.
func drawings(t testing.TB, o Options) map[string]string {
	t.Helper()
	all := map[string]string{
		"several":        render(t, func(w io.Writer) error { return Explanations(w, several(), o) }),
		"several-groups": render(t, func(w io.Writer) error { return Explanations(w, groups(), o) }),
	}
	for name, r := range cronJobs() {
		all["cronjob-"+name] = render(t, func(w io.Writer) error { return CronJob(w, &r, o) })
	}
	for name, r := range fixtures() {
		all[name] = render(t, func(w io.Writer) error { return Explanation(w, r, o) })
		all["short-"+name] = render(t, func(w io.Writer) error { return Short(w, r, o) })
		all["summary-"+name] = render(t, func(w io.Writer) error { return Summary(w, r, o) })
	}
	return all
}

// CLI-01 to 06: each scenario looks as recorded, with all Options.
func TestStoriesLookAsRecorded(t *testing.T) {
	for look, o := range looks() {
		for name, got := range drawings(t, o) {
			t.Run(name+"/"+look, func(t *testing.T) {
				goldenfile.Compare(t, filepath.Join("testdata", fmt.Sprintf("%s.%s.golden", name, look)), got)
			})
		}
	}
}

// ux.md: narrow terminals from 60 columns. Only commands may be wider.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	for _, width := range []int{60, 61, 72, 80, 100, 160} {
		for name, got := range drawings(t, Options{Width: width, Color: true}) {
			for text := range strings.Lines(ansi.Strip(got)) {
				text = strings.TrimSuffix(text, "\n")
				if n := ansi.StringWidth(text); n > width && !strings.Contains(text, "kubectl ") {
					t.Errorf("%s at %d: %d columns: %q", name, width, n, text)
				}
			}
		}
	}
}

// Color alone carries no meaning: without the sequences the text is the same.
func TestColorAddsSequencesOnly(t *testing.T) {
	without := drawings(t, Options{Width: 80})
	for name, got := range drawings(t, Options{Width: 80, Color: true}) {
		assert.Equalf(t, ansi.Strip(got), without[name], "%s says something else in color:\n%s", name, got)
	}
}

// Layout: no spaces at line ends, no two blank lines, one newline at the end, blank before titles.
func TestNoNoise(t *testing.T) {
	for look, o := range looks() {
		for name, got := range drawings(t, o) {
			for _, noise := range []string{" \n", "\n\n\n"} {
				assert.NotContains(t, got, noise, name, look, "has")
			}
			if !strings.HasSuffix(got, "\n") || strings.HasSuffix(got, "\n\n") || strings.HasPrefix(got, "\n") {
				t.Errorf("%s/%s begins or ends badly", name, look)
			}
		}
	}
}

// The output of status JOB fits a screen of 24 lines with the prompt.
func TestSummaryFitsOneScreen(t *testing.T) {
	for name, r := range fixtures() {
		got := render(t, func(w io.Writer) error { return Summary(w, r, Options{Width: 80}) })
		if n := strings.Count(got, "\n"); n > 24 {
			t.Errorf("the summary of %s has %d lines", name, n)
		}
	}
}

// CLI-02: lists are cut at a comma after 50 characters, and complete with Full.
func TestIndexListsAreCroppedOnAComma(t *testing.T) {
	list := "1-25,28,30-32,34-36,38-40,42-44,46-48,50-52,54-56,58-60,62-64"
	r := story("max-failed-indexes")
	v := newView(&r, Options{})
	assert.Equal(t, v.frame.Crop(list, section.IndexesLimit), "1-25,28,30-32,34-36,38-40,42-44,46-48,50-52,54-56,58-60,…")
	assert.Equal(t, newView(&r, Options{Full: true}).frame.Crop(list, section.IndexesLimit), list, "Full")
	for _, short := range []string{"", "1-3", strings.Repeat("1", 50), strings.Repeat("1", 60)} {
		assert.Equal(t, v.frame.Crop(short, section.IndexesLimit), short)
	}
	for name, draw := range map[string]func(io.Writer) error{
		"explanation": func(w io.Writer) error { return Explanation(w, r, Options{Width: 80, Full: true}) },
		"summary":     func(w io.Writer) error { return Summary(w, r, Options{Width: 80, Full: true}) },
	} {
		// Lines are broken after commas, so the pieces form the list again.
		joined := regexp.MustCompile(`,\n +`).ReplaceAllString(render(t, draw), ",")
		if !strings.Contains(joined, r.Indexes.Failed) || !strings.Contains(joined, r.Indexes.Completed) {
			t.Errorf("the full %s misses indexes", name)
		}
	}
}

// Commands stay on one line, so that they can be copied.
func TestCommandsAreNeverWrapped(t *testing.T) {
	r := story("failed-by-rule")
	long := "kubectl get events --field-selector involvedObject.name=" + strings.Repeat("train-", 20) + "x -n ml"
	r.Advice[0].Command = long
	got := render(t, func(w io.Writer) error { return Explanation(w, r, Options{Width: 60}) })
	if !slices.ContainsFunc(strings.Split(got, "\n"), func(l string) bool { return strings.TrimSpace(l) == "$ "+long }) {
		t.Errorf("the command is not on a line of its own:\n%s", got)
	}
}

// With ASCII the output has no glyphs of the page; quoted text is unchanged.
func TestASCIIHasNoGlyphs(t *testing.T) {
	unicode := layout.NewGlyphs(false)
	for name, got := range drawings(t, Options{Width: 80, ASCII: true}) {
		for _, glyph := range []string{unicode.Good, unicode.Bad, unicode.Running, unicode.Paused, unicode.Branch, unicode.Quote, unicode.BarFull, unicode.BarEmpty, unicode.Dot} {
			assert.NotContains(t, got, glyph, name)
		}
	}
}

// A running Job has no final duration (CLI-01).
func TestOnlyAFinishedJobHasADuration(t *testing.T) {
	for name, want := range map[string]string{"running-with-policy": ", 2s so far", "complete": ", took 2s"} {
		got := render(t, func(w io.Writer) error { return Summary(w, fixtures()[name], Options{Width: 80}) })
		assert.Contains(t, got, want+"\n", name)
	}
}
