package tui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keySort    = bind("s", "sort", "s")
	keyReverse = bind("S", "reverse", "S")
)

// sorting is the order of the rows of a table.
type sorting struct {
	by       []order
	at       int
	reversed bool
	// moved says that the user has chosen a row other than the first, which stays chosen in
	// every order.
	moved bool
}

// order is one way to sort.
type order struct {
	// column is the header of the column, and name what the order is called; falls says
	// that the highest value comes first.
	column, name string
	falls        bool
}

// rowKeys moves in the rows or changes their order; another order is shown from its begin,
// as long as no row was chosen.
func (s *sorting) rowKeys(k tea.KeyPressMsg, l *list) bool {
	switch {
	case l.handle(k):
		s.moved = l.cursor > 0
	case !s.handle(k):
		return false
	case !s.moved:
		*l = list{n: l.n, height: l.height}
	}
	return true
}

// wheel moves in the rows.
func (s *sorting) wheel(lines int, l *list) {
	l.move(lines)
	s.moved = l.cursor > 0
}

// handle changes the order.
func (s *sorting) handle(k tea.KeyPressMsg) bool {
	switch {
	case matches(k, keySort):
		s.at, s.reversed = (s.at+1)%len(s.by), false
	case matches(k, keyReverse):
		s.reversed = !s.reversed
	default:
		return false
	}
	return true
}

// falling says that the highest value comes first.
func (s *sorting) falling() bool { return s.by[s.at].falls != s.reversed }

// rows sorts the numbers of rows; of equal ones the lower number comes first. compare orders
// two of them by the values of the chosen column, the lowest first; nil keeps the
// order, or reverses it.
func (s *sorting) rows(rows []int32, compare func(a, b int32) int) {
	switch {
	case compare == nil && s.reversed:
		slices.Reverse(rows)
	case compare == nil:
	case s.falling():
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(compare(b, a), cmp.Compare(a, b)) })
	default:
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	}
}

// header is that of a column, with a mark if the table is sorted by it.
func (s *sorting) header(p *paint, column string) string {
	if s.by[s.at].column != column {
		return column
	}
	return column + " " + s.mark(p)
}

func (s *sorting) mark(p *paint) string {
	if s.falling() {
		return p.Glyphs.Down
	}
	return p.Glyphs.Up
}

// line is "by name ▲": the column may have no room.
func (s *sorting) line(p *paint) layout.Line {
	return layout.Of(layout.Text(layout.Muted, "  by "+s.by[s.at].name+" "+s.mark(p)))
}

// chosenRow puts the cursor before a row of a table, or the room for it.
func chosenRow(p *paint, l layout.Line, chosen bool) layout.Line {
	if !chosen {
		return l.Indent(cursorWidth)
	}
	return append(layout.Of(layout.Text(layout.Accent|layout.Bold, p.Glyphs.Cursor), layout.Blank(1)), l.With(layout.Bold)...)
}

// cursorWidth is that of the cursor before rows.
const cursorWidth = 2

// titled is a title with what is counted, and the order: on one line if there is room, or
// with the counts below, on as many lines as they take: none may be lost. colon stands before the counts on the same line.
func (s *sorting) titled(p *paint, title layout.Line, colon string, counts layout.Line) []layout.Line {
	parts := make([]layout.Line, len(counts))
	for i := range counts {
		parts[i] = counts[i : i+1]
	}
	by, rows := s.line(p), layout.Flow(parts, p.Width, 2)
	if len(rows) == 1 && title.Width()+len(colon)+rows[0].Width()+by.Width() <= p.Width {
		title = append(append(title, layout.Text(layout.Muted, colon)), rows[0]...)
		rows = nil
	}
	return append([]layout.Line{layout.Spread(p.Width, title, by, p.Glyphs.Ellipsis)}, rows...)
}
