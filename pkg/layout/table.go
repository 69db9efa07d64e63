package layout

import (
	"slices"
	"time"
)

// Column is a column of a Table whose rows show values of type T.
type Column[T any] struct {
	Header string
	// Text returns the text of a row's cell, which has this Style. Cell returns a styled cell instead, and Below further lines
	// of the cell.
	Text  func(row *T) string
	Style Style
	Cell  func(row *T) Line
	Below func(row *T) []Line
	// Hidden omits the column.
	Hidden bool
	// Sort is the order by this column in an interactive table; none if its Name is "".
	Sort Sort[T]
	// Right aligns cells to the right.
	Right bool
	// Drop is the order in which columns are dropped on a narrow screen: highest first, 0 never.
	Drop int
	// Min is the minimum width to which the column may be narrowed, 0 for never.
	Min int
	// Middle truncates cells in the middle: names differ at both ends.
	Middle bool
	// Wrap breaks cells into lines instead of truncating them. At most one column may have it; it is narrowed first.
	Wrap bool
	// Width is the width of the widest cell of all rows. It keeps the columns in place while a table that gets only the
	// visible rows scrolls. Fixed truncates wider cells, which would move the following columns.
	Width int
	Fixed bool
}

// Sort is a sort order of rows.
type Sort[T any] struct {
	Name string
	// Turn is the position of the order among all orders of the table. If Descending is set, the highest row comes first.
	Turn       int
	Descending bool
	// Value returns the number by which rows are sorted; it is called once per row. Compare compares rows with equal numbers.
	// Without both, rows keep their order.
	Value   func(row *T, now time.Time) int64
	Compare func(a, b *T) int
}

// tableGap is the space between columns.
const tableGap = 2

// Table has the cells of the columns that are not hidden, row by row.
type Table struct {
	columns []shape
	rows    [][]Line
}

// shape has the fields of a Column that do not depend on the type of its rows.
type shape struct {
	header                     Span
	drop, min, width           int
	right, middle, wrap, fixed bool
}

// TableOf returns a table of these rows.
func TableOf[T any](columns []Column[T], rows []T) *Table {
	return tableOf(columns, len(rows), func(i int) *T { return &rows[i] })
}

// TableAt returns a table of the items at these positions.
func TableAt[T any](columns []Column[T], items []T, at []int32) *Table {
	return tableOf(columns, len(at), func(i int) *T { return &items[at[i]] })
}

func tableOf[T any](columns []Column[T], n int, row func(i int) *T) *Table {
	t := &Table{columns: make([]shape, 0, len(columns)), rows: make([][]Line, 0, n)}
	for i := range columns {
		if c := &columns[i]; !c.Hidden {
			t.columns = append(t.columns, shape{
				Text(Muted, c.Header), c.Drop, c.Min, c.Width, c.Right, c.Middle, c.Wrap, c.Fixed,
			})
		}
	}
	for i := range n {
		v, cells := row(i), make([]Line, 0, len(t.columns))
		var below [][]Line
		for at := range columns {
			c := &columns[at]
			switch {
			case c.Hidden:
				continue
			case c.Cell != nil:
				cells = append(cells, c.Cell(v))
			default:
				cells = append(cells, Of(Text(c.Style, c.Text(v))))
			}
			if c.Below != nil {
				for _, l := range c.Below(v) {
					line := make([]Line, len(t.columns))
					line[len(cells)-1] = l
					below = append(below, line)
				}
			}
		}
		t.rows = append(append(t.rows, cells), below...)
	}
	return t
}

// ToASCII converts all cells, see the function ToASCII.
func (t *Table) ToASCII() {
	for _, row := range t.rows {
		for i := range row {
			row[i] = ToASCII(row[i])
		}
	}
}

// Lines returns the header and one line per row, or more if a column wraps, none wider than width. If there is not enough
// space, columns with a Min are narrowed, then columns are dropped, and finally lines are truncated.
func (t *Table) Lines(width int, ellipsis string) (header Line, lines []Line) {
	widths := t.fit(width)
	cells := make([]Line, len(t.columns))
	for i := range t.columns {
		cells[i] = Of(t.columns[i].header)
	}
	header = tableRow(t.columns, widths, cells, ellipsis).Cut(width, ellipsis)
	lines = make([]Line, 0, len(t.rows))
	wraps := slices.IndexFunc(t.columns, func(c shape) bool { return c.wrap })
	for _, row := range t.rows {
		// The row gets the first line of the cell that wraps; the others follow.
		var below []Line
		if wraps >= 0 && widths[wraps] >= 0 && row[wraps].Width() > widths[wraps] {
			parts := Wrap(row[wraps], widths[wraps], 0)
			row, below = slices.Clone(row), parts[1:]
			row[wraps] = parts[0]
		}
		lines = append(lines, tableRow(t.columns, widths, row, ellipsis).Cut(width, ellipsis))
		for _, l := range below {
			lines = append(lines, l.Indent(total(widths[:wraps])+tableGap).Cut(width, ellipsis))
		}
	}
	return header, lines
}

// Filled returns the lines without empty columns, with the header unless it is empty.
func (t *Table) Filled(width int, ellipsis string) []Line {
	filled, headed := Table{columns: make([]shape, 0, len(t.columns)), rows: make([][]Line, len(t.rows))}, false
	for n := range t.rows {
		filled.rows[n] = make([]Line, 0, len(t.columns))
	}
	for i := range t.columns {
		if !slices.ContainsFunc(t.rows, func(row []Line) bool { return row[i].Width() > 0 }) {
			continue
		}
		headed, filled.columns = headed || t.columns[i].header.text != "", append(filled.columns, t.columns[i])
		for n, row := range t.rows {
			filled.rows[n] = append(filled.rows[n], row[i])
		}
	}
	header, lines := filled.Lines(width, ellipsis)
	if !headed {
		return lines
	}
	return append([]Line{header}, lines...)
}

// Free returns the number of columns that the table leaves free: 0 or less if columns are narrowed, and the free width after
// dropping columns.
func (t *Table) Free(width int) int { return width - total(t.fit(width)) }

// fit returns the widths of the columns, -1 for dropped ones.
func (t *Table) fit(width int) []int {
	widths := t.Widths()
	squeeze(t.columns, widths, width)
	return widths
}

// Widths returns the widths of the columns if there is enough space.
func (t *Table) Widths() []int {
	widths := make([]int, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		widths[i] = max(c.header.width, c.width)
		for _, row := range t.rows {
			if !c.fixed {
				widths[i] = max(widths[i], row[i].Width())
			}
		}
	}
	return widths
}

// squeeze narrows columns, or drops them (width -1), until the rest fits.
func squeeze(columns []shape, widths []int, width int) {
	for {
		over := total(widths) - width
		if over <= 0 {
			return
		}
		if slack := slackOf(columns, widths); slack >= over {
			narrow(columns, widths, over)
			return
		}
		worst := -1
		for i, c := range columns {
			if c.drop > 0 && widths[i] >= 0 && (worst < 0 || c.drop > columns[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			narrow(columns, widths, slackOf(columns, widths))
			return
		}
		widths[worst] = -1
	}
}

func total(widths []int) int {
	n := -tableGap
	for _, w := range widths {
		if w >= 0 {
			n += w + tableGap
		}
	}
	return n
}

// slackOf returns how far the columns can be narrowed in total.
func slackOf(columns []shape, widths []int) int {
	n := 0
	for i, c := range columns {
		if c.min > 0 && widths[i] > c.min {
			n += widths[i] - c.min
		}
	}
	return n
}

// narrow removes over columns of width: first from the column that wraps, which loses no text, then one at a time from
// the widest column above its Min.
func narrow(columns []shape, widths []int, over int) {
	for i, c := range columns {
		if c.wrap && c.min > 0 && widths[i] > c.min {
			given := min(over, widths[i]-c.min)
			widths[i], over = widths[i]-given, over-given
		}
	}
	for range over {
		widest := -1
		for i, c := range columns {
			if c.min > 0 && widths[i] > c.min && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func tableRow(columns []shape, widths []int, cells []Line, ellipsis string) Line {
	out := make(Line, 0, 3*len(columns))
	last := len(columns) - 1
	for last > 0 && widths[last] < 0 {
		last--
	}
	for i := range columns {
		if widths[i] < 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, Blank(tableGap))
		}
		cut := cells[i].Cut
		if columns[i].middle {
			cut = cells[i].CutMiddle
		}
		cell := cut(widths[i], ellipsis)
		missing := widths[i] - cell.Width()
		switch {
		case columns[i].right:
			out = append(append(out, Blank(missing)), cell...)
		case i == last:
			out = append(out, cell...)
		default:
			out = append(append(out, cell...), Blank(missing))
		}
	}
	return out
}
