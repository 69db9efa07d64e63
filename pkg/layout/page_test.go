package layout

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func pageText(p *Page) string { return new(Theme).RenderAll(p.Lines()) }

// Sections are separated by one blank line, and the second line of a title or field is indented.
func TestPage(t *testing.T) {
	p := NewPage(40, false)
	p.Blank()
	p.Title("Why", "a note that is longer than the rest of the line")
	p.Para(2, 4, Text(Bad, "the container exited with code 1 "), Text(Muted, "(after a minute)"))
	p.Blank()
	p.Blank()
	p.Field("Pods", Text(Plain, "3 active"))
	p.Field("Empty", Text(Plain, ""))
	p.Command(6, "kubectl get events --field-selector involvedObject.name=train -n ml")
	p.Command(6, "")
	p.Title("Table", "")
	p.Table(2, tableOfCells([]column{{Header: "N", Right: true}, {Header: "NOTHING"}, {Header: "TEXT", Wrap: true, Min: 8}}, [][]Line{{Plainly("12"), nil, Plainly("x ")}}))
	p.Table(2, tableOfCells([]column{{}, {}}, [][]Line{{Plainly("bare"), Plainly("y")}}))
	p.Table(2, tableOfCells(nil, nil))
	want := `Why: a note that is longer than the rest
  of the line
  the container exited with code 1
    (after a minute)

Pods        3 active
      $ kubectl get events --field-selector involvedObject.name=train -n ml

Table
   N  TEXT
  12  x
  bare  y`
	assert.Equal(t, pageText(p), want)
}

// In ASCII mode, the page's own symbols are ASCII; letters of quoted text are unchanged.
func TestPageInASCII(t *testing.T) {
	p := NewPage(0, true)
	p.Para(0, 0, Text(Plain, "“é” and more…"))
	p.Table(0, tableOfCells([]column{{}}, [][]Line{{Plainly("…")}}))
	assert.Equal(t, pageText(p), "\"é\" and more...\n...")
}

// No line of a page is too wide or ends with spaces, whatever the page contains.
func TestPageIsNotTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 80).Draw(t, "width")
		p := NewPage(width, rapid.Bool().Draw(t, "ascii"))
		p.Title(anyText().Draw(t, "title"), anyText().Draw(t, "note"))
		p.Para(2, 6, anyLine().Draw(t, "para")...)
		p.Field("Label", anyLine().Draw(t, "field")...)
		p.Table(2, tableOfCells([]column{{Min: 4}, {Wrap: true, Min: 8}}, [][]Line{{anyLine().Draw(t, "cell"), anyLine().Draw(t, "prose")}}))
		for _, l := range p.Lines() {
			checkWidth(t, "page", l, max(width, minPage))
			if strings.HasSuffix(l.String(), " ") {
				t.Fatalf("%q ends with a space", l.String())
			}
		}
	})
}
