package widget

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6.2: the note about more lines cuts no text: if the last line is too long for both, the note replaces it, and counts
// it.
func TestNoteThatThereIsMoreCutsNoText(t *testing.T) {
	p := &Paint{Frame: section.Frame{Width: 20, Glyphs: layout.NewGlyphs(false)}, Height: 2}
	lines := func(texts ...string) (out []layout.Line) {
		for _, text := range texts {
			out = append(out, layout.Plainly(text))
		}
		return out
	}
	for _, c := range []struct {
		name  string
		lines []layout.Line
		want  string
	}{
		{"all fit", lines("one", strings.Repeat("2", 20)), "one|22222222222222222222"},
		{"short", lines("one", "two", "three"), "one|two         ▼ 1 more"},
		{"just fits", lines("one", strings.Repeat("2", 10), "three"), "one|2222222222  ▼ 1 more"},
		{"too long", lines("one", strings.Repeat("2", 11), "three"), "one|            ▼ 2 more"},
		{"nothing", nil, ""},
	} {
		var got []string
		for _, l := range (&Scroll{}).Page(p, c.lines) {
			got = append(got, l.String())
		}
		assert.Equal(t, strings.Join(got, "|"), c.want, c.name)
	}
	s := &Scroll{Top: 1}
	if page := s.Page(p, lines("one", strings.Repeat("2", 20), strings.Repeat("3", 20))); page[1].String() != strings.Repeat("3", 20) {
		t.Errorf("the end is %q", page[1].String())
	}
}
