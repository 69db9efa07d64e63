package indexmap

import "strconv"

// group is the number of cells between gaps, which help the user to count cells.
const group = 10

// Grid is a Map in rows of cells. The indexes out of range start a new cell.
type Grid struct {
	// Per is the number of indexes per cell: 1, 2, 5, 10, 20, 50 …
	Per int
	// Columns is the number of cells in a row, and Rows the number of rows.
	Columns, Rows int
	// Label is the width, in screen columns, of the label before each row: the number of its first index.
	Label int
	// Pitch is the number of screen columns per cell: 2 if there is room.
	Pitch int

	m     *Map
	cells int
	// inRange is the number of cells for indexes below the completions.
	inRange int
}

// Fit returns the Grid with the fewest indexes per cell that has at most the given number of rows. width is in screen
// columns.
func (m *Map) Fit(width, rows int) Grid {
	for per := 1; ; per = Coarser(per) {
		g := m.grid(width, per, 1)
		if g.Rows > max(rows, 1) && per < m.Len() {
			continue
		}
		if wide := m.grid(width, per, 2); per == 1 && wide.Rows <= rows {
			return wide
		}
		return g
	}
}

// Grid returns a Grid with per indexes in each cell, and as many rows as needed.
func (m *Map) Grid(width, per int) Grid { return m.grid(width, per, 1) }

func (m *Map) grid(width, per, pitch int) Grid {
	g := Grid{Per: max(per, 1), Pitch: pitch, Label: len(strconv.Itoa(int(m.Last()))) + 1, m: m}
	g.inRange = ceil(m.inRange, g.Per)
	g.cells = g.inRange + ceil(len(m.beyond), g.Per)
	room := width - g.Label
	// Each group but the last is followed by a gap.
	groups := (room + 1) / (group*pitch + 1)
	g.Columns = groups * group
	if groups == 0 {
		g.Columns = max(1, room/pitch)
	}
	g.Columns = max(1, min(g.Columns, ceil(g.cells, group)*group))
	g.Rows = ceil(g.cells, g.Columns)
	return g
}

func ceil(n, by int) int { return (n + by - 1) / by }

// Coarser returns the number of indexes per cell after zooming out.
func Coarser(per int) int {
	for unit := 1; ; unit *= 10 {
		for _, step := range []int{1, 2, 5} {
			if unit*step > per {
				return unit * step
			}
		}
	}
}

// Finer returns the number of indexes per cell after zooming in, at least 1.
func Finer(per int) int {
	finer := 1
	for n := 1; n < per; n = Coarser(n) {
		finer = n
	}
	return finer
}

// Len returns the number of cells.
func (g *Grid) Len() int { return g.cells }

// Gap reports whether there is an empty column before a cell of a row.
func (g *Grid) Gap(column int) bool { return column > 0 && column%group == 0 }

// Cell describes the indexes of a cell.
type Cell struct {
	// First and Last are the lowest and highest index, and N is the number of indexes.
	First, Last int32
	N           int
	// Counts are the numbers of indexes by state.
	Counts [States]int32
}

// Cell returns the n-th cell, or the zero Cell if it does not exist.
func (g *Grid) Cell(n int) Cell {
	first, end := g.places(n)
	if first >= end {
		return Cell{}
	}
	c := Cell{First: g.m.index(first), Last: g.m.index(end - 1), N: end - first}
	for _, s := range g.m.states[first:end] {
		c.Counts[s]++
	}
	return c
}

// places returns the range of places of the indexes in a cell.
func (g *Grid) places(n int) (first, end int) {
	switch {
	case n < 0 || n >= g.cells:
		return 0, 0
	case n < g.inRange:
		return n * g.Per, min((n+1)*g.Per, g.m.inRange)
	}
	first = g.m.inRange + (n-g.inRange)*g.Per
	return first, min(first+g.Per, g.m.Len())
}

// First returns the lowest index of a cell.
func (g *Grid) First(n int) int32 {
	first, _ := g.places(n)
	return g.m.index(first)
}

// CellOf returns the cell of an index, or of the nearest index that the Map holds.
func (g *Grid) CellOf(index int32) int {
	at := min(g.m.place(index), g.m.Len()-1)
	if at < g.m.inRange {
		return max(at, 0) / g.Per
	}
	return g.inRange + (at-g.m.inRange)/g.Per
}

// Mark returns the mark of the n-th cell, without building the Cell.
func (g *Grid) Mark(n int) Mark {
	first, end := g.places(n)
	var seen Set
	for _, s := range g.m.states[first:end] {
		seen |= 1 << s
	}
	return seen.mark()
}

// Mark returns the mark of the cell: its most important state, or a mark for several states.
func (c *Cell) Mark() Mark {
	var seen Set
	for s, n := range c.Counts {
		if n > 0 {
			seen |= 1 << s
		}
	}
	return seen.mark()
}

func (s Set) mark() Mark {
	switch {
	case s == SetOf(Succeeded, Pending):
		return Half
	case s.Has(Chosen) && s != SetOf(Chosen):
		return SomeChosen
	case s.Has(Failed) && s != SetOf(Failed):
		return SomeFailed
	}
	for state := Chosen; state > Succeeded; state-- {
		if s.Has(state) {
			return Mark(state)
		}
	}
	return Mark(Succeeded)
}
