package job

import (
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// mapRows draws rows of a grid, with the cursor on a cell; -1 for no cursor.
func mapRows(p *widget.Paint, g *indexmap.Grid, first, end, cursor int) []layout.Line {
	out := make([]layout.Line, 0, end-first)
	for row := first; row < end; row++ {
		label := strconv.Itoa(int(g.First(row * g.Columns)))
		l := layout.Of(layout.Text(layout.Muted, strings.Repeat(" ", max(0, g.Label-1-len(label)))+label+" "))
		out = append(out, append(l, mapRow(p, g, row, cursor)...))
	}
	return out
}

// mapRow draws the cells of a row; neighbors with the same style share a span.
func mapRow(p *widget.Paint, g *indexmap.Grid, row, cursor int) layout.Line {
	var l layout.Line
	var text strings.Builder
	style := layout.Style(0)
	flush := func() {
		if text.Len() > 0 {
			l = append(l, layout.Text(style, text.String()))
			text.Reset()
		}
	}
	for column := range min(g.Columns, g.Len()-row*g.Columns) {
		cell := row*g.Columns + column
		mark := g.Mark(cell)
		if looks := mark.Style(); looks != style {
			flush()
			style = looks
		}
		if g.Gap(column) {
			text.WriteByte(' ')
		}
		glyph := mark.Glyph(p.ASCII)
		if cell == cursor {
			flush()
			l = append(l, layout.Text(style|layout.Reverse|layout.Bold, glyph))
		} else {
			text.WriteString(glyph)
		}
		for range g.Pitch - 1 {
			text.WriteByte(' ')
		}
	}
	flush()
	return l
}

// legendStates returns the states in the order of the legend, from good to bad.
func legendStates() []indexmap.State {
	return []indexmap.State{
		indexmap.Chosen, indexmap.Succeeded, indexmap.Ready, indexmap.Active, indexmap.Pending,
		indexmap.Terminating, indexmap.Retrying, indexmap.BackOff, indexmap.Failed, indexmap.OutOfRange, indexmap.Unknown,
	}
}

// legend returns the states that occur, with their counts. mixed is set if cells may have indexes in several states.
func legend(p *widget.Paint, j *screen.Job, mixed bool) []layout.Line {
	var items []layout.Line
	for _, state := range legendStates() {
		n := j.Map.Count(state)
		if n <= 0 {
			continue
		}
		mark := indexmap.Mark(state)
		items = append(items, layout.Of(layout.Textf(mark.Style(), "%s %s", mark.Glyph(p.ASCII), wording.Thousands(n)), layout.Text(layout.Plain, " "+j.StateWord(state))))
	}
	part := func(mark indexmap.Mark, text string) {
		items = append(items, layout.Of(layout.Text(mark.Style(), mark.Glyph(p.ASCII)), layout.Text(layout.Muted, " "+text)))
	}
	if mixed && mixes(j.Map, indexmap.Chosen) {
		part(indexmap.SomeChosen, "partly to run")
	}
	if mixed && mixesDone(j.Map) {
		part(indexmap.Half, "partly completed")
	}
	if mixed && mixes(j.Map, indexmap.Failed) {
		part(indexmap.SomeFailed, "some failed")
	}
	return items
}

// isMixed reports whether some cell may have a mark for several states. It uses only the counts of the states.
func isMixed(g *indexmap.Grid, m *indexmap.Map) bool {
	return g.Per > 1 && (mixes(m, indexmap.Chosen) || mixesDone(m) || mixes(m, indexmap.Failed))
}

// mixesDone reports whether a cell may be partly completed.
func mixesDone(m *indexmap.Map) bool {
	return m.Count(indexmap.Succeeded) > 0 && m.Count(indexmap.Pending) > 0
}

// mixes reports whether only a part of a cell may be in the state.
func mixes(m *indexmap.Map, state indexmap.State) bool {
	n := m.Count(state)
	return n > 0 && n < int64(m.Len())+m.Hidden()
}

// perCell returns the number of indexes per cell, in words.
func perCell(g *indexmap.Grid) string {
	if g.Per == 1 {
		return "1 index per cell"
	}
	return wording.Count(g.Per, "indexes per cell")
}

// howMany returns the number of indexes of the Job, and of those on the map if it does not hold all; indexes out of range are
// counted separately.
func howMany(m *indexmap.Map) string {
	if m.Hidden() > 0 {
		return "The first " + wording.Of(int64(m.Len()), int64(m.Len())+m.Hidden()) + " indexes"
	}
	beyond := m.Count(indexmap.OutOfRange)
	own := int64(m.Len()) - beyond
	text := wording.Count(own, "indexes")
	if own == 1 {
		text = "1 index"
	}
	if beyond > 0 {
		text += ", " + wording.Count(beyond, "out of range")
	}
	return text
}
