package indexmap

import "strconv"

// group is how many cells there are between gaps, so that they can be counted.
const group = 10

// Grid is a Map in rows of cells. The indexes out of range start in a cell of their own.
type Grid struct {
	// Per is how many indexes a cell has: 1, 2, 5, 10, 20, 50 …
	Per int
	// Columns and Rows are how many cells a row has, and how many rows there are.
	Columns, Rows int
	// Label is how many columns of the screen are before the first cell of each row, for
	// the number of its first index.
	Label int
	// Pitch is how many columns of the screen a cell takes: 2 where there is room.
	Pitch int

	m     *Map
	cells int
	// inRange is how many of the cells are for indexes below the completions.
	inRange int
}

// Fit is the Grid with the fewest indexes in a cell that has at most so many rows. width is
// in columns of the screen.
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

// Grid has so many indexes in a cell, and as many rows as that takes.
func (m *Map) Grid(width, per int) Grid { return m.grid(width, per, 1) }

func (m *Map) grid(width, per, pitch int) Grid {
	g := Grid{Per: max(per, 1), Pitch: pitch, Label: len(strconv.Itoa(int(m.Last()))) + 1, m: m}
	g.inRange = ceil(m.inRange, g.Per)
	g.cells = g.inRange + ceil(len(m.beyond), g.Per)
	room := width - g.Label
	// A group takes a gap too, but for the last one.
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

// Coarser is the number of indexes in a cell after zooming out, Finer after zooming in.
func Coarser(per int) int {
	for unit := 1; ; unit *= 10 {
		for _, step := range []int{1, 2, 5} {
			if unit*step > per {
				return unit * step
			}
		}
	}
}

// Finer is the number of indexes in a cell after zooming in; 1 at least.
func Finer(per int) int {
	finer := 1
	for n := 1; n < per; n = Coarser(n) {
		finer = n
	}
	return finer
}

// Len is how many cells there are.
func (g *Grid) Len() int { return g.cells }

// Gap reports whether there is an empty column before a cell of a row.
func (g *Grid) Gap(column int) bool { return column > 0 && column%group == 0 }

// Cell is the indexes of a cell.
type Cell struct {
	// First and Last are the lowest and highest index, N how many there are.
	First, Last int32
	N           int
	// Counts are how many of its indexes are in each state.
	Counts [States]int32
}

// Cell is the n-th one; the zero Cell if there is none.
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

// places are where the indexes of a cell are.
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

// First is the lowest index of a cell.
func (g *Grid) First(n int) int32 {
	first, _ := g.places(n)
	return g.m.index(first)
}

// CellOf is the cell of an index, or of the one that the Map holds instead.
func (g *Grid) CellOf(index int32) int {
	at := min(g.m.place(index), g.m.Len()-1)
	if at < g.m.inRange {
		return max(at, 0) / g.Per
	}
	return g.inRange + (at-g.m.inRange)/g.Per
}

// Mark is what the n-th cell shows, without counting more than that takes.
func (g *Grid) Mark(n int) Mark {
	first, end := g.places(n)
	var seen Set
	for _, s := range g.m.states[first:end] {
		seen |= 1 << s
	}
	return seen.mark()
}

// Mark is what the cell shows: the state that matters most, or that there are several.
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
