package layout

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// column is a Column of rows that are lists of cells.
type column = Column[[]Line]

// tableOfCells returns a table of rows that are lists of cells.
func tableOfCells(columns []column, rows [][]Line) *Table {
	for i := range columns {
		columns[i].Cell = func(row *[]Line) Line { return (*row)[i] }
	}
	return TableOf(columns, rows)
}

// Tables fit, whatever they contain and however little space there is.
func TestTableIsNotTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := make([]column, rapid.IntRange(1, 5).Draw(t, "columns"))
		for i := range columns {
			columns[i] = column{
				Header: rapid.SampledFrom([]string{"", "NAME", "INDEXES"}).Draw(t, "header"), Right: rapid.Bool().Draw(t, "right"),
				Drop: rapid.IntRange(0, 3).Draw(t, "drop"), Min: rapid.IntRange(0, 8).Draw(t, "min"), Middle: rapid.Bool().Draw(t, "middle"), Width: rapid.IntRange(0, 10).Draw(t, "width"),
			}
		}
		wraps := rapid.Bool().Draw(t, "wraps")
		columns[len(columns)-1].Wrap = wraps
		rows := make([][]Line, rapid.IntRange(0, 3).Draw(t, "rows"))
		for i := range rows {
			for range columns {
				rows[i] = append(rows[i], anyLine().Draw(t, "cell"))
			}
		}
		width, ellipsis := anyWidth().Draw(t, "width"), anyEllipsis().Draw(t, "ellipsis")
		header, lines := tableOfCells(columns, rows).Lines(width, ellipsis)
		if len(lines) < len(rows) || !wraps && len(lines) > len(rows) {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for _, l := range append(lines, header) {
			checkWidth(t, "Table", l, width)
		}
	})
}

// Columns are narrowed first, then dropped in the order of Drop; the others stay aligned.
func TestTableMakesRoom(t *testing.T) {
	columns := []column{{Header: "COUNT", Right: true}, {Header: "CAUSE", Min: 6}, {Header: "RULE", Drop: 1}, {Header: "LAST", Drop: 2}}
	rows := [][]Line{
		{Plainly("1"), Plainly("out of memory"), Plainly("rule 0"), Plainly("3s ago")},
		{Plainly("12"), Plainly("exit"), Plainly("none"), Plainly("9s")},
	}
	for _, tc := range []struct {
		width int
		want  string
	}{
		{40, "COUNT  CAUSE          RULE    LAST|    1  out of memory  rule 0  3s ago|   12  exit           none    9s"},
		{33, "COUNT  CAUSE       RULE    LAST|    1  out of me…  rule 0  3s ago|   12  exit        none    9s"},
		{28, "COUNT  CAUSE          RULE|    1  out of memory  rule 0|   12  exit           none"},
		{22, "COUNT  CAUSE    RULE|    1  out of…  rule 0|   12  exit     none"},
		{20, "COUNT  CAUSE|    1  out of memory|   12  exit"},
		{13, "COUNT  CAUSE|    1  out o…|   12  exit"},
		{8, "COUNT  …|    1  …|   12  …"},
	} {
		header, lines := tableOfCells(columns, rows).Lines(tc.width, "…")
		got := []string{strings.TrimRight(header.String(), " ")}
		for _, l := range lines {
			got = append(got, strings.TrimRight(l.String(), " "))
		}
		assert.Equalf(t, strings.Join(got, "|"), tc.want, "%d columns", tc.width)
	}
}

// A column that wraps is narrowed first; the further lines of a cell stay in its column.
func TestTableWraps(t *testing.T) {
	columns := []column{{Header: "NAME", Min: 4, Middle: true}, {Header: "CAUSE", Wrap: true, Min: 9}, {Header: "AT", Right: true}}
	rows := [][]Line{{Plainly("sweep-0-abcde"), Plainly("exited with code 1"), Plainly("3s")}, {nil, Plainly("on a node"), nil}}
	for _, tc := range []struct {
		width int
		want  string
	}{
		{37, "NAME           CAUSE               AT|sweep-0-abcde  exited with code 1  3s|               on a node"},
		{30, "NAME           CAUSE        AT|sweep-0-abcde  exited with  3s|               code 1|               on a node"},
		{26, "NAME         CAUSE      AT|swee…-abcde  exited     3s|             with code|             1|             on a node"},
	} {
		header, lines := tableOfCells(columns, rows).Lines(tc.width, "…")
		got := []string{header.String()}
		for _, l := range lines {
			got = append(got, strings.TrimRight(l.String(), " "))
		}
		assert.Equalf(t, strings.Join(got, "|"), tc.want, "%d columns", tc.width)
	}
	assert.Equalf(t, rows[0][1].String(), "exited with code 1", "the table changed its rows: %v", rows)
}

// The widest of the columns that can be narrowed is narrowed first.
func TestTableNarrowsTheWidest(t *testing.T) {
	header, lines := tableOfCells([]column{{Header: "A", Min: 2}, {Header: "B", Min: 2}}, [][]Line{{Plainly("abcd"), Plainly("abcdefghij")}}).Lines(12, "…")
	if header.String() != "A     B" || lines[0].String() != "abcd  abcde…" {
		t.Errorf("%q, %q", header.String(), lines[0].String())
	}
}

// A table that gets only some rows is as wide as with all of them.
func TestTableKnowsRowsItIsNotGiven(t *testing.T) {
	header, lines := tableOfCells([]column{{Header: "N", Width: 6}, {Header: "TEXT"}}, [][]Line{{Plainly("1"), Plainly("x")}}).Lines(80, "…")
	if header.String() != "N       TEXT" || lines[0].String() != "1       x" {
		t.Errorf("%q, %q", header.String(), lines[0].String())
	}
	if header, lines = tableOfCells(nil, nil).Lines(10, "…"); header.Width() != 0 || len(lines) != 0 {
		t.Errorf("a table of nothing: %q, %v", header.String(), lines)
	}
}

// A hidden column is left out. A fixed column keeps its width, whatever its cells are. Further lines of a cell are in its column.
func TestTableHidesFixesAndContinues(t *testing.T) {
	columns := []Column[string]{
		{Header: "A", Text: func(s *string) string { return *s }, Width: 4, Fixed: true},
		{Header: "B", Hidden: true},
		{Header: "C", Text: func(*string) string { return "x" }, Below: func(*string) []Line { return []Line{Plainly("y")} }},
	}
	items := []string{"omitted", "abcdefgh"}
	header, lines := TableAt(columns, items, []int32{1}).Lines(80, "…")
	if got, want := header.String()+"|"+lines[0].String()+"|"+lines[1].String(), "A     C|abc…  x|      y"; got != want || len(lines) != 2 {
		t.Errorf("%q, want %q", got, want)
	}
}

// Names that are truncated in the middle keep both ends and whole characters, at every width.
func TestCutMiddle(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"train-large-model-12-zx9qk", 26, "train-large-model-12-zx9qk"}, {"train-large-model-12-zx9qk", 20, "train-l…del-12-zx9qk"},
		{"train-large-model-12-zx9qk", 8, "tra…x9qk"}, {"train-large-model-12-zx9qk", 2, "t…"}, {"train-large-model-12-zx9qk", 0, ""}, {"漢字漢字漢字", 8, "漢…漢字"},
	} {
		assert.Equalf(t, Plainly(tc.text).CutMiddle(tc.width, "…").String(), tc.want, "%q in %d columns", tc.text, tc.width)
	}
	two := Of(Text(Bold, "train-large-"), Text(Muted, "model-12-zx9qk"))
	assert.Equal(t, two.CutMiddle(16, "…").String(), "train…l-12-zx9qk")
	_, lines := tableOfCells([]column{{Header: "NAME", Min: 4, Middle: true}}, [][]Line{{Plainly("sweep-1-abcde")}}).Lines(8, "…")
	assert.Equal(t, lines[0].String(), "swe…bcde")
	rapid.Check(t, func(t *rapid.T) {
		line, width, ellipsis := anyLine().Draw(t, "line"), anyWidth().Draw(t, "width"), anyEllipsis().Draw(t, "ellipsis")
		checkWidth(t, "CutMiddle", line.CutMiddle(width, ellipsis), width)
	})
}
