package job

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// A screen of at least columnsFrom columns has two columns of text, columnGap apart.
const (
	columnsFrom = 110
	columnGap   = 3
)

// overview shows the answer of why, and the state of the Job below it or beside it.
func overview(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	if p.Width < columnsFrom {
		blocks := slices.Concat([]widget.Block{answerBlock(p, j)}, stateBlocks(p, j))
		growMap(p, j, blocks, 1)
		return widget.Stack(blocks, p.Height)
	}
	half := (p.Width - columnGap) / 2
	left, right := p.Sized(half, p.Height), p.Sized(p.Width-columnGap-half, p.Height)
	story, state := []widget.Block{answerBlock(left, j)}, stateBlocks(right, j)
	if full := append(slices.Clone(story), left.Section(section.Why(&left.Frame, j.Report))); len(widget.Stack(full, p.Height)) <= p.Height*3/4 {
		story = full
	}
	growMap(right, j, state, 0)
	lines := layout.Beside(widget.Stack(story, p.Height), half, columnGap, widget.Stack(state, p.Height), p.Glyphs.Ellipsis)
	return append(lines, recent(p, j, p.Height-len(lines))...)
}

// answerBlock returns the answer, with its commands wrapped; the details are in the explanation.
func answerBlock(p *widget.Paint, j *screen.Job) (block widget.Block) {
	for _, l := range Answer(p, j, nil, widget.KeyExplain, keyFull) {
		block = append(block, p.Wrap(l, l.Indentation()+2)...)
	}
	return block
}

// leastRecent is the minimum number of lines for the end of the timeline.
const leastRecent = 6

// recent returns the end of the timeline, for the lines that are free on a large screen.
func recent(p *widget.Paint, j *screen.Job, room int) []layout.Line {
	if room < leastRecent {
		return nil
	}
	moments := (&timelinePane{}).chosen(j)
	moments = moments[max(0, len(moments)-room):]
	lines := slices.Concat(section.Moments(&p.Frame, j.Report, moments)...)
	shown := lines[max(0, len(lines)-room+2):]
	return append([]layout.Line{nil}, widget.Titled(p.Title("Timeline", "the latest"), shown)...)
}

// stateBlocks returns the blocks about the state of the Job: map, policies and limits.
func stateBlocks(p *widget.Paint, j *screen.Job) []widget.Block {
	success, limits := section.Success(&p.Frame, j.Report, j.PodCounts), section.Limits(&p.Frame, j.Report)
	if j.SuccessPolicy == nil && j.Job.Completions != nil {
		// Without a success policy, success needs no heading of its own.
		meters := append(section.SuccessMeters(&p.Frame, j.Report, j.PodCounts), section.LimitMeters(&p.Frame, j.Report)...)
		success, limits = section.Section{}, section.Section{Title: "Success and limits", Lines: section.Meters(&p.Frame, meters)}
	}
	return []widget.Block{
		mapBlock(p, j, mapRowsAtFirst(p)),
		p.Section(success),
		p.Section(section.FailurePolicy(&p.Frame, j.FailurePolicy, true)),
		p.Section(limits),
		p.Section(section.Disruptions(&p.Frame, j.Report)),
		p.Section(section.FamilyJobs(&p.Frame, j.Report)),
	}
}

// mapRowsAtFirst returns the number of rows of the map before growMap.
func mapRowsAtFirst(p *widget.Paint) int { return max(2, min(20, p.Height/4+1)) }

// growMap lets the map, the block at the given position, use the lines that the blocks leave free, and no more, so that
// nothing else is cut.
func growMap(p *widget.Paint, j *screen.Job, blocks []widget.Block, at int) {
	free := p.Height - len(widget.Stack(blocks, p.Height))
	if free <= 0 || len(blocks[at]) == 0 {
		return
	}
	// The map may have fewer rows than it was allowed, and with fewer indexes per cell the legend may need a different number
	// of lines.
	most := len(blocks[at]) + free
	for rows := most - 1; rows > 0; rows-- {
		head, g := mapHead(p, j, rows)
		if n := len(head) + g.Rows; n > most {
			continue
		} else if n > len(blocks[at]) {
			blocks[at] = append(head, mapRows(p, &g, 0, g.Rows, -1)...)
		}
		return
	}
}

// mapBlock returns the map of the indexes in at most the given number of rows.
func mapBlock(p *widget.Paint, j *screen.Job, rows int) widget.Block {
	if j.Map == nil || j.Map.Len() == 0 {
		return nil
	}
	head, g := mapHead(p, j, rows)
	return append(head, mapRows(p, &g, 0, g.Rows, -1)...)
}

// mapHead returns the head of a map of at most the given number of rows: the scale, if a cell holds several indexes, and the
// legend, in the heading if it fits.
func mapHead(p *widget.Paint, j *screen.Job, rows int) (widget.Block, indexmap.Grid) {
	g := j.Map.Fit(p.Width, rows)
	items := legend(p, j, isMixed(&g, j.Map))
	const gap = 2
	name, note := "Indexes", ""
	if g.Per > 1 {
		note = perCell(&g)
	}
	if j.Map.Hidden() > 0 {
		name = howMany(j.Map)
	}
	begin := layout.Of(layout.Text(layout.Bold, name))
	if note != "" {
		begin = append(begin, layout.Text(layout.Muted, "  "+note))
	}
	if one := layout.Flow(append([]layout.Line{begin}, items...), p.Width, gap); len(one) == 1 {
		return widget.Block{p.Rule(one[0])}, g
	}
	return append(widget.Block{p.Title(name, note)}, layout.Flow(items, p.Width, gap)...), g
}
