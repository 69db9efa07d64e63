package job

import (
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// mapRows draws rows of a grid, with the cursor on a cell; -1 for none.
func mapRows(p *widget.Paint, g *indexmap.Grid, first, end, cursor int) []layout.Line {
	out := make([]layout.Line, 0, end-first)
	for row := first; row < end; row++ {
		label := strconv.Itoa(int(g.First(row * g.Columns)))
		l := layout.Of(layout.Text(layout.Muted, strings.Repeat(" ", max(0, g.Label-1-len(label)))+label+" "))
		out = append(out, append(l, mapRow(p, g, row, cursor)...))
	}
	return out
}

// mapRow draws the cells of a row; neighbors that look the same are one span.
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

// legendStates is from the good to the bad.
func legendStates() []indexmap.State {
	return []indexmap.State{
		indexmap.Chosen, indexmap.Succeeded, indexmap.Ready, indexmap.Active, indexmap.Pending,
		indexmap.Terminating, indexmap.Retrying, indexmap.BackOff, indexmap.Failed, indexmap.OutOfRange, indexmap.Unknown,
	}
}

// legend names the states that occur, with their counts. mixed is true if cells may have
// indexes in several states.
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
	if mixed && mixesChosen(j.Map) {
		part(indexmap.SomeChosen, "partly to run")
	}
	if mixed && mixesDone(j.Map) {
		part(indexmap.Half, "partly completed")
	}
	if mixed && mixesFailed(j.Map) {
		part(indexmap.SomeFailed, "some failed")
	}
	return items
}

// isMixed reports whether some cell may have a mark for several states. It looks at the counts
// of the states only.
func isMixed(g *indexmap.Grid, m *indexmap.Map) bool {
	return g.Per > 1 && (mixesChosen(m) || mixesDone(m) || mixesFailed(m))
}

// mixesChosen reports whether a part of a cell may be chosen to run again.
func mixesChosen(m *indexmap.Map) bool {
	chosen := m.Count(indexmap.Chosen)
	return chosen > 0 && chosen < int64(m.Len())
}

// mixesDone reports whether a cell may be partly done.
func mixesDone(m *indexmap.Map) bool {
	return m.Count(indexmap.Succeeded) > 0 && m.Count(indexmap.Pending) > 0
}

// mixesFailed reports whether a part of a cell may have failed.
func mixesFailed(m *indexmap.Map) bool {
	failed := m.Count(indexmap.Failed)
	return failed > 0 && failed < int64(m.Len())+m.Hidden()
}

// perCell is how many indexes a cell has.
func perCell(g *indexmap.Grid) string {
	if g.Per == 1 {
		return "1 index per cell"
	}
	return wording.Count(g.Per, "indexes per cell")
}

// howMany is how many indexes the Job has, and how many of them are on the map; those out of
// range are not counted as its own.
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
