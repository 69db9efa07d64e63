package layout

// Column is a column of a Table.
type Column struct {
	Header string
	// Right aligns to the right.
	Right bool
	// Drop says when the column is left out on a narrow screen: those with the highest
	// number first; 0 never.
	Drop int
	// Min is how narrow the column may be cut, 0 for never.
	Min int
	// Middle cuts cells in their middle: names are told apart by both ends.
	Middle bool
	// Width is that of the widest cell of all rows, where not all of them are given: so a
	// table that is scrolled does not change.
	Width int
}

// tableGap is how many columns stand between those of a table.
const tableGap = 2

// Table lays out cells, row by row; every row has a cell for each column. It returns the
// header and the rows, none wider than width. When there is not enough room, cells are cut
// where columns have a Min, columns are dropped, and at last the lines are cut.
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
		lines = append(lines, tableRow(columns, widths, row, ellipsis).Cut(width, ellipsis))
	}
	return header, lines
}

// squeeze narrows or drops columns (width -1) until they fit.
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

func total(widths []int) int {
	n := -tableGap
	for _, w := range widths {
		if w >= 0 {
			n += w + tableGap
		}
	}
	return n
}

// slackOf is how much columns can be narrowed.
func slackOf(columns []Column, widths []int) int {
	n := 0
	for i, c := range columns {
		if c.Min > 0 && widths[i] > c.Min {
			n += widths[i] - c.Min
		}
	}
	return n
}

// narrow takes columns away, each time from the widest that has some to give.
func narrow(columns []Column, widths []int, over int) {
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

func tableRow(columns []Column, widths []int, cells []Line, ellipsis string) Line {
	var out Line
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

// CutMiddle is Cut that keeps the end of the line as well: half of what there is room for,
// or up to two thirds for 12 columns: the number and the suffix of a pod's name.
func (l Line) CutMiddle(width int, ellipsis string) Line {
	const tail = 12
	all, room := l.Width(), width-Width(ellipsis)
	switch {
	case all <= width:
		return l
	case room < 2:
		return l.Cut(width, ellipsis)
	}
	end := max(room/2, min(tail, room*2/3))
	head, _ := l.splitAt(room - end)
	_, rest := l.splitAt(all - end)
	for from := all - end + 1; rest.Width() > end; from++ {
		_, rest = l.splitAt(from)
	}
	style := Plain
	if len(head) > 0 {
		style = head[len(head)-1].style
	}
	return append(append(head, Text(style, ellipsis)), rest...)
}

// splitAt cuts between characters, after at most width columns.
func (l Line) splitAt(width int) (head, rest Line) {
	for i, s := range l {
		if s.width <= width {
			head, width = append(head, s), width-s.width
			continue
		}
		first, second := s.split(width)
		return append(head, first), append(Line{second}, l[i+1:]...)
	}
	return head, nil
}
