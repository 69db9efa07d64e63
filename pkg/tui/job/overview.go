package job

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// How much of long lists is shown.
const (
	overviewCauses    = 3
	linesPerCause     = 8 // screen lines per cause, on screens with room for more causes
	overviewProblems  = 3
	overviewHistories = 2
)

// A screen of at least columnsFrom columns has two columns of text, columnGap apart.
const (
	columnsFrom = 110
	columnGap   = 3
)

// overview shows the most important facts about a Job on one screen.
func overview(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	if p.Width < columnsFrom {
		story := storyBlocks(p, j)
		blocks := slices.Concat(story, stateBlocks(p, j), []widget.Block{nextBlock(p, j), adviceBlock(p, j)})
		growMap(p, j, blocks, len(story))
		return widget.Stack(blocks, p.Height)
	}
	half := (p.Width - columnGap) / 2
	left, right := p.Sized(half, p.Height), p.Sized(p.Width-columnGap-half, p.Height)
	story, state := storyBlocks(left, j), stateBlocks(right, j)
	if full := append(slices.Clone(story), left.Section(section.Why(&left.Frame, j.Report))); len(widget.Stack(full, p.Height)) <= p.Height*3/4 {
		story = full
	}
	// The next steps go to the column with more room.
	if len(widget.Stack(story, p.Height)) < len(widget.Stack(state, p.Height)) {
		story = append(story, nextBlock(left, j))
	} else {
		state = append(state, nextBlock(right, j))
	}
	story = append(story, adviceBlock(left, j))
	growMap(right, j, state, 0)
	lines := layout.Beside(widget.Stack(story, p.Height), half, columnGap, widget.Stack(state, p.Height), p.Glyphs.Ellipsis)
	return append(lines, recent(p, j, p.Height-len(lines))...)
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

// storyBlocks returns the verdict, the problems, the causes, and the retry family.
func storyBlocks(p *widget.Paint, j *screen.Job) []widget.Block {
	problems := section.BriefProblems(&p.Frame, j.Report, overviewProblems)
	problems.Lines = append(problems.Lines, jobGaps(p, j)...)
	return []widget.Block{
		verdictLines(p, j),
		p.Section(problems),
		p.Section(section.BriefCauses(&p.Frame, j.Report, max(overviewCauses, p.Height/linesPerCause))),
		p.Section(section.Family(&p.Frame, j.Report, overviewHistories)),
	}
}

// jobGaps returns the gaps except for logs: these may be gone although nothing is wrong with the Job, and the explanation
// lists them.
func jobGaps(p *widget.Paint, j *screen.Job) []layout.Line {
	const gapLogs = "logs"
	var gaps []input.Gap
	for _, gap := range j.Gaps {
		if gap.What != gapLogs {
			gaps = append(gaps, input.Gap{Text: gap.Text})
		}
	}
	return screen.Gaps(p, gaps)
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
	}
}

// nextBlock returns what happens next, or nil if the Job is gone.
func nextBlock(p *widget.Paint, j *screen.Job) widget.Block {
	if j.Gone {
		return nil
	}
	return p.Section(section.Next(&p.Frame, j.Report))
}

// verdictLines returns the verdict, with its first clause in bold. For a deleted Job, it is the last known verdict.
func verdictLines(p *widget.Paint, j *screen.Job) widget.Block {
	v := &j.Verdict
	if j.GoneAt != nil {
		gone := layout.Text(layout.Bold, "The Job was "+j.GoneWords(p)+".")
		return p.Wrap(layout.Of(gone, layout.Text(layout.Plain, " Its last known state: "+v.Sentence)), 0)
	}
	if len(v.Clauses) < 2 {
		return p.Wrap(layout.Of(layout.Text(layout.Bold, v.Sentence)), 0)
	}
	rest := " " + strings.Join(v.Clauses[1:], "; ") + "."
	return p.Wrap(layout.Of(layout.Text(layout.Bold, v.Clauses[0]+";"), layout.Text(layout.Plain, rest)), 0)
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

// adviceBlock returns the first advice that has a command, or else the first advice.
func adviceBlock(p *widget.Paint, j *screen.Job) widget.Block {
	if len(j.Advice) == 0 {
		return nil
	}
	advice := &j.Advice[0]
	for i := range j.Advice {
		if j.Advice[i].Command != "" {
			advice = &j.Advice[i]
			break
		}
	}
	step := wording.Sentence(advice.Text)
	if advice.Command == "" {
		return widget.Titled(p.Title("What to do", ""), p.Wrap(layout.Plainly(step), 0))
	}
	local := text.Options{Namespace: p.Namespace}
	command := p.Wrap(layout.Of(layout.Text(layout.Muted, "$ "), layout.Text(layout.Accent, local.Local(advice.Command))), 2)
	heading := layout.Of(layout.Text(layout.Bold, "What to do"), layout.Text(layout.Plain, "  "+step))
	if heading.Width() > p.Width {
		return widget.Titled(p.Title("What to do", ""), append(p.Wrap(layout.Plainly(step), 0), command...))
	}
	return widget.Titled(p.Rule(heading), command)
}
