package job

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// On the map, l is one of the four keys that move the cursor.
	keyMapRight = widget.Bind("→/l", "right", "right", "l")
	keyCursor   = widget.Bind("arrows/hjkl", "move the cursor", "up", "down", "left", "right", "h", "j", "k", "l")
	keyLook     = widget.Bind("n", "next problem", "n")
	keyLookUp   = widget.Bind("N", "previous problem", "N")
	keyZoomIn   = widget.Bind("+", "zoom in", "+", "=")
	keyZoomOut  = widget.Bind("-", "zoom out", "-", "_")
	keyZoomFit  = widget.Bind("a", "all indexes", "a")
	keyGoTo     = widget.Bind("/", "go to an index", "/")
)

// indexesPane shows the map of the indexes, with a cursor.
type indexesPane struct {
	job types.NamespacedName
	// cursor is the chosen index, or an index in the chosen cell. It is kept when the map changes, even if the map does not
	// hold it for now.
	cursor int32
	// placed is set once the cursor had a place: on a failed Job, it starts on the first failed index.
	placed bool
	// per is the number of indexes per cell; 0 for the fewest that fit.
	per int
	// top is the first visible row. free is set when the wheel has scrolled away from the cursor.
	top  int
	free bool
	// width and rows are the size of the map in the last frame.
	width, rows int
	// others scrolls the view of a Job without indexes.
	others widget.Scroll
}

func (o *indexesPane) Keys() []widget.KeyGroup {
	if o.width == 0 {
		return nil // There is no map.
	}
	return []widget.KeyGroup{{Title: "Indexes", Bindings: []widget.Binding{
		keyLook, widget.KeyOpen, keyZoomIn, keyZoomOut, keyGoTo, keyZoomFit, keyLookUp, keyCursor,
	}}}
}

func (o *indexesPane) Wheel(lines int, d *screen.Data) {
	if m := mapOf(d); m == nil {
		o.others.Move(lines)
		return
	}
	g := o.grid(d.Job.Map)
	o.free = true
	o.top = max(0, min(o.top+lines, g.Rows-o.rows))
}

// mapOf returns the map of the open Job, or nil if it has none.
func mapOf(d *screen.Data) *indexmap.Map {
	if d.Job == nil || d.Job.Map == nil || d.Job.Map.Len() == 0 {
		return nil
	}
	return d.Job.Map
}

// grid returns the map as it is drawn.
func (o *indexesPane) grid(m *indexmap.Map) indexmap.Grid {
	fit := m.Fit(o.width, o.rows)
	if o.per == 0 || o.per >= fit.Per {
		return fit
	}
	return m.Grid(o.width, o.per)
}

func (o *indexesPane) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	m := mapOf(d)
	if m == nil {
		return screen.Action{}, o.others.Key(k)
	}
	g := o.grid(m)
	switch {
	case o.move(k, &g):
		return screen.Done()
	case widget.Matches(k, keyZoomIn), widget.Matches(k, keyZoomOut), widget.Matches(k, keyZoomFit):
		return o.zoom(k, m, &g), true
	case widget.Matches(k, widget.KeyOpen):
		return o.enter(&g), true
	case widget.Matches(k, keyLook):
		return o.look(m, g.Cell(g.CellOf(o.cursor)), true), true
	case widget.Matches(k, keyLookUp):
		return o.look(m, g.Cell(g.CellOf(o.cursor)), false), true
	case widget.Matches(k, keyGoTo):
		return screen.Action{Ask: &widget.Question{Label: "go to index: ", Answered: func(text string) string { return o.goTo(text, d) }}}, true
	}
	return screen.Action{}, false
}

// move handles the keys that move the cursor by cells.
func (o *indexesPane) move(k tea.KeyPressMsg, g *indexmap.Grid) bool {
	rows, known := widget.StepOf(k, g.Len(), o.rows)
	by := rows * g.Columns
	switch {
	case known:
	case widget.Matches(k, widget.KeyLeft):
		by = -1
	case widget.Matches(k, keyMapRight):
		by = 1
	default:
		return false
	}
	o.free = false
	at := g.CellOf(o.cursor)
	if to := max(0, min(at+by, g.Len()-1)); to != at {
		o.cursor = g.First(to)
	}
	return true
}

// zoom changes the number of indexes per cell, or returns a notice why it cannot.
func (o *indexesPane) zoom(k tea.KeyPressMsg, m *indexmap.Map, g *indexmap.Grid) screen.Action {
	o.free = false
	switch in := widget.Matches(k, keyZoomIn); {
	case in && g.Per == 1:
		return screen.Action{Notice: "each cell is one index already: enter opens it"}
	case in:
		o.per = indexmap.Finer(g.Per)
	case widget.Matches(k, keyZoomOut) && g.Per >= m.Fit(o.width, o.rows).Per:
		return screen.Action{Notice: "all indexes are on the screen already"}
	case widget.Matches(k, keyZoomOut):
		o.per = indexmap.Coarser(g.Per)
	default:
		o.per = 0
	}
	return screen.Action{}
}

// enter opens the index, or zooms in on a cell with several indexes.
func (o *indexesPane) enter(g *indexmap.Grid) screen.Action {
	cell := g.Cell(g.CellOf(o.cursor))
	if cell.N == 1 {
		index := cell.First
		return screen.Action{Open: pods.NewScreen(o.job, "", &index)}
	}
	o.per, o.free = indexmap.Finer(g.Per), false
	return screen.Action{}
}

// look moves to the next or previous index that needs attention, outside of the cell under the cursor.
func (o *indexesPane) look(m *indexmap.Map, cell indexmap.Cell, forward bool) screen.Action {
	from, find, anew := cell.Last, m.Next, "continued from the first index"
	if !forward {
		from, find, anew = cell.First, m.Previous, "continued from the last index"
	}
	to, found := find(from, indexmap.Attention())
	inCell := to >= cell.First && to <= cell.Last
	switch {
	case !found:
		return screen.Action{Notice: "no index is failed, in back-off, terminating or unknown"}
	case inCell && to == o.cursor, inCell && cell.N > 1:
		o.cursor, o.free = to, false
		return screen.Action{Notice: "no other cell needs attention"}
	}
	o.cursor, o.free = to, false
	if forward == (to < from) {
		return screen.Action{Notice: anew}
	}
	return screen.Action{}
}

// goTo moves to the index that was typed, or returns a notice why it cannot.
func (o *indexesPane) goTo(text string, d *screen.Data) (notice string) {
	m := mapOf(d)
	text = strings.TrimSpace(text)
	if m == nil || text == "" {
		return ""
	}
	n, err := strconv.ParseInt(text, 10, 32)
	index := int32(n)
	if _, there := m.State(index); err != nil || !there {
		return fmt.Sprintf("%q is not on the map: type an index from %d to %d", text, m.First(), m.Last())
	}
	o.cursor, o.free = index, false
	return ""
}

// Numbers of lines.
const (
	detailLines = 4 // of the detail of the cell under the cursor
	leastRows   = 3 // of the map, at least
)

func (o *indexesPane) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	m := mapOf(d)
	if m == nil {
		o.width = 0
		return o.withoutMap(p, j)
	}
	if !o.placed {
		o.placed = true
		if first, found := m.Next(m.Last(), indexmap.SetOf(indexmap.Failed)); found && j.Verdict.Outcome.Fails() {
			o.cursor = first
		}
	}
	head, g := o.layout(p, j, m)
	cell := g.CellOf(o.cursor)

	// The row of the cursor is visible, unless the wheel has scrolled away from it.
	if row := cell / g.Columns; !o.free {
		o.top = max(row-o.rows+1, min(o.top, row))
	}
	o.top = max(0, min(o.top, g.Rows-o.rows))
	first, end := widget.Rows(g.Rows, o.top, o.rows)

	// The line above the map has the number of indexes, and the part that is visible.
	note := perCell(&g)
	if end-first < g.Rows {
		note += fmt.Sprintf("  %s rows %d to %s", p.Glyphs.Dot, first+1, wording.Of(end, g.Rows))
	}
	lines := append([]layout.Line{p.Title(howMany(j.Map), note)}, head...)
	lines = append(lines, mapRows(p, &g, first, end, cell)...)
	lines = append(lines, cellDetail(p, j, g.Cell(cell))...)
	if left := p.Height - len(lines); left >= leastTable {
		lines = append(lines, indexesWithFailures(p, j, left)...)
	}
	return lines
}

// layout divides the room between the legend, the map and the detail below it.
func (o *indexesPane) layout(p *widget.Paint, j *screen.Job, m *indexmap.Map) (head []layout.Line, g indexmap.Grid) {
	o.width = p.Width
	for _, mixed := range []bool{false, true} {
		head = layout.Flow(legend(p, j, mixed), p.Width, 3)
		o.rows = max(leastRows, p.Height-1-len(head)-detailLines)
		if g = o.grid(m); !isMixed(&g, m) {
			break
		}
	}
	return head, g
}
