package text

import (
	"strings"
)

const tableGap = 2

// cell is what stands in a column of one row: one line, or several in the last column.
type cell []line

func textCell(text string) cell                  { return cell{{plain(text)}} }
func styledCell(style Style, text string) cell   { return cell{{styled(style, text)}} }
func (c cell) empty() bool                       { return len(c) == 0 || c[0].empty() }
func (l line) empty() bool                       { return l.text() == "" }
func (c cell) and(style Style, more string) cell { return append(c, line{styled(style, more)}) }

func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// tableColumn is one column. The last one of a table is wrapped, others are of one line.
type tableColumn struct {
	header string
	right  bool // numbers
	// least is how narrow the column may become, 0 for as wide as it is.
	least int
	// drop says which column goes first if there is no room: the highest; 0 stays.
	drop int
}

type table struct {
	columns []tableColumn
	rows    [][]cell
	// bare tables have no header line.
	bare bool
	// oneLine crops the last column instead of wrapping it.
	oneLine bool
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// proseWidth is what the last column should have at least, if it is wrapped.
const proseWidth = 24

// table writes t at an indent. Columns with nothing in them are left out.
func (p *page) table(indent int, t table) {
	if len(t.rows) == 0 {
		return
	}
	shown, widths := t.layout(p, p.room(indent))
	if !t.bare {
		p.tableHeader(indent, t, shown, widths)
	}
	for _, row := range t.rows {
		p.tableRow(indent, t, row, shown, widths)
	}
}

// layout chooses columns and their widths.
func (t *table) layout(p *page, room int) (shown, widths []int) {
	natural := t.naturalWidths(p)
	for i := range t.columns {
		if !t.emptyColumn(i) {
			shown = append(shown, i)
		}
	}
	for {
		widths = make([]int, len(t.columns))
		copy(widths, natural)
		if room == 0 || t.shrink(widths, shown, room) {
			return shown, widths
		}
		victim := t.leastUseful(shown)
		if victim < 0 {
			return shown, widths
		}
		shown = append(shown[:victim:victim], shown[victim+1:]...)
	}
}

func (t *table) naturalWidths(p *page) []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		if !t.bare {
			widths[i] = len(c.header)
		}
		for _, row := range t.rows {
			for _, l := range row[i] {
				widths[i] = max(widths[i], columns(p.clean(l.text())))
			}
		}
	}
	return widths
}

func (t *table) emptyColumn(i int) bool {
	for _, row := range t.rows {
		if !row[i].empty() {
			return false
		}
	}
	return true
}

// shrink makes columns narrower until all fit into room, the last one first, and says
// whether that did.
func (t *table) shrink(widths, shown []int, room int) bool {
	need := tableGap * (len(shown) - 1)
	for _, i := range shown {
		need += widths[i]
	}
	for n := len(shown) - 1; n >= 0 && need > room; n-- {
		i := shown[n]
		least := t.columns[i].least
		if n == len(shown)-1 && i == len(t.columns)-1 && least == 0 {
			least = proseWidth
		}
		if least > 0 && widths[i] > least {
			less := min(widths[i]-least, need-room)
			widths[i] -= less
			need -= less
		}
	}
	return need <= room
}

// leastUseful is the place in shown of the column to drop, -1 if all must stay.
func (t *table) leastUseful(shown []int) int {
	victim := -1
	for n, i := range shown {
		if t.columns[i].drop > 0 && (victim < 0 || t.columns[i].drop > t.columns[shown[victim]].drop) {
			victim = n
		}
	}
	return victim
}

func (p *page) tableHeader(indent int, t table, shown, widths []int) {
	var spans line
	for n, i := range shown {
		c := t.columns[i]
		spans = append(spans, p.align(line{styled(Faint, c.header)}, widths[i], c.right)...)
		if n < len(shown)-1 {
			spans = append(spans, plain(strings.Repeat(" ", tableGap)))
		}
	}
	p.emit(indent, trimRight(spans))
}

func (p *page) tableRow(indent int, t table, row []cell, shown, widths []int) {
	var first line
	at := 0
	for n, i := range shown {
		if n == len(shown)-1 && i == len(t.columns)-1 {
			p.lastCell(indent, at, first, row[i], widths[i], t.oneLine)
			return
		}
		var spans line
		if len(row[i]) > 0 {
			spans = p.fit(row[i][0], widths[i])
		}
		first = append(first, p.align(spans, widths[i], t.columns[i].right)...)
		first = append(first, plain(strings.Repeat(" ", tableGap)))
		at += widths[i] + tableGap
	}
	p.emit(indent, trimRight(first))
}

// lastCell wraps all lines of the cell into its column, the first behind the other cells.
func (p *page) lastCell(indent, at int, before line, c cell, width int, oneLine bool) {
	if p.opts.Width == 0 {
		width = 0
	}
	var lines []line
	for _, l := range c {
		if oneLine && width > 0 {
			l = line{styled(l[0].style, crop(p.clean(l.text()), width, p.glyphs.Ellipsis))}
		}
		lines = append(lines, p.wrap(l, width, width)...)
	}
	if len(lines) == 0 {
		p.emit(indent, trimRight(before))
	}
	for i, l := range lines {
		if i == 0 {
			p.emit(indent, append(before, l...))
			continue
		}
		p.emit(indent+at, l)
	}
}

// fit crops a line to a column. A line that is too long loses its middle, so that the ends
// of names of pods stay; it must be of one span to keep its style.
func (p *page) fit(l line, width int) line {
	clean := p.clean(l.text())
	if columns(clean) <= width {
		return l
	}
	return line{styled(l[0].style, cropMiddle(clean, width, p.glyphs.Ellipsis))}
}

func (p *page) align(l line, width int, right bool) line {
	space := plain(strings.Repeat(" ", max(0, width-columns(p.clean(l.text())))))
	if right {
		return append(line{space}, l...)
	}
	return append(append(line{}, l...), space)
}

// trimRight leaves out spaces at the end.
func trimRight(l line) line {
	for len(l) > 0 && strings.Trim(l[len(l)-1].text, " ") == "" {
		l = l[:len(l)-1]
	}
	return l
}
