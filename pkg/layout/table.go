package layout

import "slices"

// Column is a column of a Table.
type Column struct {
	Header string
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
	// visible rows scrolls.
	Width int
}

// tableGap is the space between columns.
const tableGap = 2

// Table lays out cells, row by row; every row has a cell for each column. It returns the header and one line per row,
// or more if a column wraps, none wider than width. If there is not enough space, columns with a Min are narrowed, then
// columns are dropped, and finally lines are truncated.
func Table(columns []Column, rows [][]Line, width int, ellipsis string) (header Line, lines []Line) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = max(Width(c.Header), c.Width)
		for _, row := range rows {
			widths[i] = max(widths[i], row[i].Width())
		}
	}
	squeeze(columns, widths, width)
	cells := make([]Line, len(columns))
	for i, c := range columns {
		cells[i] = Of(Text(Muted, c.Header))
	}
	header = tableRow(columns, widths, cells, ellipsis).Cut(width, ellipsis)
	for _, row := range rows {
		first, below := wrapCell(columns, widths, row)
		lines = append(lines, tableRow(columns, widths, first, ellipsis).Cut(width, ellipsis))
		for _, l := range below {
			lines = append(lines, l.Cut(width, ellipsis))
		}
	}
	return header, lines
}

// squeeze narrows columns, or drops them (width -1), until the rest fits.
func squeeze(columns []Column, widths []int, width int) {
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
			if c.Drop > 0 && widths[i] >= 0 && (worst < 0 || c.Drop > columns[worst].Drop) {
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

// FreeWidth returns the number of columns that a Table leaves free if no cell is wider than its column's Width: 0 or
// less if columns are narrowed, and the free width after dropping columns.
func FreeWidth(columns []Column, width int) int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = max(Width(c.Header), c.Width)
	}
	squeeze(columns, widths, width)
	return width - total(widths)
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
func slackOf(columns []Column, widths []int) int {
	n := 0
	for i, c := range columns {
		if c.Min > 0 && widths[i] > c.Min {
			n += widths[i] - c.Min
		}
	}
	return n
}

// narrow removes over columns of width: first from the column that wraps, which loses no text, then one at a time from
// the widest column above its Min.
func narrow(columns []Column, widths []int, over int) {
	for i, c := range columns {
		if c.Wrap && c.Min > 0 && widths[i] > c.Min {
			given := min(over, widths[i]-c.Min)
			widths[i], over = widths[i]-given, over-given
		}
	}
	for range over {
		widest := -1
		for i, c := range columns {
			if c.Min > 0 && widths[i] > c.Min && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// wrapCell wraps the cell of the column with Wrap: the row gets the first line of the cell, and below holds the others.
func wrapCell(columns []Column, widths []int, row []Line) (first, below []Line) {
	at := slices.IndexFunc(columns, func(c Column) bool { return c.Wrap })
	if at < 0 || widths[at] < 0 || row[at].Width() <= widths[at] {
		return row, nil
	}
	parts, indent := Wrap(row[at], widths[at], 0), total(widths[:at])+tableGap
	first = slices.Clone(row)
	first[at] = parts[0]
	for _, part := range parts[1:] {
		below = append(below, part.Indent(indent))
	}
	return first, below
}

func tableRow(columns []Column, widths []int, cells []Line, ellipsis string) Line {
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
		if columns[i].Middle {
			cut = cells[i].CutMiddle
		}
		cell := cut(widths[i], ellipsis)
		missing := widths[i] - cell.Width()
		switch {
		case columns[i].Right:
			out = append(append(out, Blank(missing)), cell...)
		case i == last:
			out = append(out, cell...)
		default:
			out = append(append(out, cell...), Blank(missing))
		}
	}
	return out
}

// FilledTable returns the lines of a Table without empty columns, with its header unless that is empty.
func FilledTable(columns []Column, rows [][]Line, width int, ellipsis string) []Line {
	var filled []Column
	headed, cells := false, make([][]Line, len(rows))
	for i, c := range columns {
		if !slices.ContainsFunc(rows, func(row []Line) bool { return row[i].Width() > 0 }) {
			continue
		}
		headed, filled = headed || c.Header != "", append(filled, c)
		for n, row := range rows {
			cells[n] = append(cells[n], row[i])
		}
	}
	header, lines := Table(filled, cells, width, ellipsis)
	if !headed {
		return lines
	}
	return append([]Line{header}, lines...)
}
