package layout

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 17: the cursor and the marks of states, which appear side by side in a row, all differ.
func TestMarksInARowDiffer(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		g, seen := NewGlyphs(ascii), map[string]bool{}
		for _, mark := range []string{g.Cursor, g.Good, g.Bad, g.Warn, g.Running, g.Paused, g.Ending, g.Dot, g.Decided} {
			if seen[mark] {
				t.Errorf("%q means two things (ASCII: %t)", mark, ascii)
			}
			seen[mark] = true
		}
	}
}

func TestToASCIIReplacesEachMark(t *testing.T) {
	const text, want = "exit 1 ×3 · “no space”…", `exit 1 x3 - "no space"...`
	assert.Equal(t, ToASCII(Of(Text(Warn, text))).String(), want)
}
