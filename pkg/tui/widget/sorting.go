package widget

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Sorting is the sort order of the rows of a table.
type Sorting struct {
	Orders   []Order
	By       int
	Reversed bool
	// moved is set when the user has chosen a row other than the first, which then stays chosen in every order.
	moved bool
}

// Order is one sort order.
type Order struct {
	// Column is the header of the column, and Name the name of the order. If Descending is set, the highest value comes
	// first.
	Column, Name string
	Descending   bool
}

// key moves the cursor or changes the sort order. Unless the user has chosen a row, the cursor moves to the first row after a
// change of the order.
func (s *Sorting) key(k tea.KeyPressMsg, l *List) bool {
	switch {
	case l.Key(k):
		s.moved = l.Cursor > 0
		return true
	case Matches(k, KeySort):
		s.By, s.Reversed = (s.By+1)%len(s.Orders), false
	case Matches(k, KeyReverse):
		s.Reversed = !s.Reversed
	default:
		return false
	}
	if !s.moved {
		*l = List{Len: l.Len, Height: l.Height}
	}
	return true
}

// wheel moves the cursor.
func (s *Sorting) wheel(lines int, l *List) {
	l.Move(lines)
	s.moved = l.Cursor > 0
}

// descending reports whether the highest value comes first.
func (s *Sorting) descending() bool { return s.Orders[s.By].Descending != s.Reversed }

// sort sorts the indexes of items by the order; among equal items, the lower index comes first. If compare is nil, it keeps
// their order, or reverses it.
func (s *Sorting) sort(rows []int32, compare func(a, b int32) int) {
	switch {
	case compare == nil && s.Reversed:
		slices.Reverse(rows)
	case compare == nil:
	case s.descending():
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(compare(b, a), cmp.Compare(a, b)) })
	default:
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	}
}

// Header returns the header of a column, with a mark if the table is sorted by it.
func (s *Sorting) Header(p *Paint, column string) string {
	if s.Orders[s.By].Column != column {
		return column
	}
	return column + " " + s.Mark(p)
}

// Mark returns the mark of the direction: up or down.
func (s *Sorting) Mark(p *Paint) string {
	if s.descending() {
		return p.Glyphs.Down
	}
	return p.Glyphs.Up
}

// Row prepends the cursor to a row of a table, or blanks of the same width.
func Row(p *Paint, l layout.Line, chosen bool) layout.Line {
	if !chosen {
		return l.Indent(CursorWidth)
	}
	return append(layout.Of(layout.Text(layout.Accent|layout.Bold, p.Glyphs.Cursor), layout.Blank(1)), l.With(layout.Bold)...)
}

// CursorWidth is the width of the cursor before rows.
const CursorWidth = 2

// Title returns a title with counts and the sort order. If there is no room for the counts, they follow on separate lines;
// otherwise, colon separates them from the title.
func (s *Sorting) Title(p *Paint, title layout.Line, colon string, counts layout.Line) []layout.Line {
	parts := make([]layout.Line, len(counts))
	for i := range counts {
		parts[i] = counts[i : i+1]
	}
	by := layout.Of(layout.Text(layout.Muted, "  by "+s.Orders[s.By].Name+" "+s.Mark(p))) // The column may be hidden.
	rows := layout.Flow(parts, p.Width, 2)
	if len(rows) == 1 && title.Width()+len(colon)+rows[0].Width()+by.Width() <= p.Width {
		title = append(append(title, layout.Text(layout.Muted, colon)), rows[0]...)
		rows = nil
	}
	return append([]layout.Line{layout.Spread(p.Width, title, by, p.Glyphs.Ellipsis)}, rows...)
}
