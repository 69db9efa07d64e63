package tui

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
)

// What is shown of long lists.
const (
	overviewCauses   = 3
	overviewProblems = 3
)

// From columnsFrom columns on there are two of them, columnGap apart.
const (
	columnsFrom = 110
	columnGap   = 3
)

// overview is what matters of a Job on one screen.
func overview(p *paint, d *data) []layout.Line {
	j := d.job
	if p.Width < columnsFrom {
		story := storyBlocks(p, j)
		blocks := slices.Concat(story, stateBlocks(p, j), []block{nextBlock(p, j), adviceBlock(p, j)})
		growMap(p, j, blocks, len(story))
		return stack(blocks, p.height)
	}
	half := (p.Width - columnGap) / 2
	left, right := p.sized(half, p.height), p.sized(p.Width-columnGap-half, p.height)
	story, state := storyBlocks(left, j), stateBlocks(right, j)
	if full := append(slices.Clone(story), left.section(section.Why(&left.Frame, j.Report))); len(stack(full, p.height)) <= p.height*3/4 {
		story = full
	}
	// What comes next goes where there is more room.
	if len(stack(story, p.height)) < len(stack(state, p.height)) {
		story = append(story, nextBlock(left, j))
	} else {
		state = append(state, nextBlock(right, j))
	}
	story = append(story, adviceBlock(left, j))
	growMap(right, j, state, 0)
	return layout.Beside(stack(story, p.height), half, columnGap, stack(state, p.height), p.Glyphs.Ellipsis)
}

// storyBlocks say what is the matter: the verdict, the problems, and the causes.
func storyBlocks(p *paint, j *jobData) []block {
	problems := section.BriefProblems(&p.Frame, j.Report, overviewProblems)
	problems.Lines = append(problems.Lines, jobGaps(p, j)...)
	return []block{
		verdictLines(p, j),
		p.section(problems),
		p.section(section.BriefCauses(&p.Frame, j.Report, overviewCauses)),
	}
}

// jobGaps are what could not be read but logs: these may be gone for good without anything
// being wrong with the Job, and the explanation names them.
func jobGaps(p *paint, j *jobData) []layout.Line {
	const gapLogs = "logs"
	var gaps []explain.Gap
	for _, gap := range j.Gaps {
		if gap.What != gapLogs {
			gaps = append(gaps, explain.Gap{Text: gap.Text})
		}
	}
	return gapLines(p, gaps)
}

// stateBlocks are where the Job stands.
func stateBlocks(p *paint, j *jobData) []block {
	success, limits := section.Success(&p.Frame, j.Report, j.pods), section.Limits(&p.Frame, j.Report)
	if j.SuccessPolicy == nil && j.Job.Completions != nil {
		// That all have to succeed is no news that needs a heading of its own.
		meters := append(section.SuccessMeters(&p.Frame, j.Report, j.pods), section.LimitMeters(&p.Frame, j.Report)...)
		success, limits = section.Section{}, section.Section{Title: "Completions and limits", Lines: section.Meters(&p.Frame, meters)}
	}
	return []block{
		mapBlock(p, j, mapRowsAtFirst(p)),
		p.section(success),
		p.section(section.FailurePolicy(&p.Frame, j.FailurePolicy, true)),
		p.section(limits),
	}
}

func nextBlock(p *paint, j *jobData) block { return p.section(section.Next(&p.Frame, j.Report)) }

// verdictLines are the answer: how it begins stands out.
func verdictLines(p *paint, j *jobData) block {
	v := &j.Verdict
	if len(v.Clauses) < 2 {
		return p.Wrap(layout.Of(layout.Text(layout.Bold, v.Sentence)), 0)
	}
	rest := " " + strings.Join(v.Clauses[1:], "; ") + "."
	return p.Wrap(layout.Of(layout.Text(layout.Bold, v.Clauses[0]+";"), layout.Text(layout.Plain, rest)), 0)
}

// mapRowsAtFirst is how many rows the map has among the other blocks.
func mapRowsAtFirst(p *paint) int { return max(2, min(20, p.height/4+1)) }

// growMap gives the map, which is one of the blocks, the lines that they leave empty: no more,
// lest something else is cut.
func growMap(p *paint, j *jobData, blocks []block, at int) {
	free := p.height - len(stack(blocks, p.height))
	if free <= 0 || len(blocks[at]) == 0 {
		return
	}
	// The rows that the map has by now may be fewer than it may have, and with fewer indexes
	// in a cell the legend may need other lines.
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

// mapBlock is the map of the indexes in at most so many rows.
func mapBlock(p *paint, j *jobData, rows int) block {
	if j.indexes == nil || j.indexes.Len() == 0 {
		return nil
	}
	head, g := mapHead(p, j, rows)
	return append(head, mapRows(p, &g, 0, g.Rows, -1)...)
}

// mapHead is what stands above a map of at most so many rows: the scale, if a cell is several
// indexes, and the legend, in the heading if it fits.
func mapHead(p *paint, j *jobData, rows int) (block, indexmap.Grid) {
	g := j.indexes.Fit(p.Width, rows)
	items := legend(p, j, isMixed(&g, j.indexes))
	const gap = 2
	name, note := "Indexes", ""
	if g.Per > 1 {
		note = perCell(&g)
	}
	if j.indexes.Hidden() > 0 {
		name = howMany(j.indexes)
	}
	begin := layout.Of(layout.Text(layout.Bold, name))
	if note != "" {
		begin = append(begin, layout.Text(layout.Muted, "  "+note))
	}
	if one := layout.Flow(append([]layout.Line{begin}, items...), p.Width, gap); len(one) == 1 {
		return block{p.rule(one[0])}, g
	}
	return append(block{p.title(name, note)}, layout.Flow(items, p.Width, gap)...), g
}

// adviceBlock is the first thing that can be done, with its command.
func adviceBlock(p *paint, j *jobData) block {
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
	text := wording.Sentence(advice.Text)
	if advice.Command == "" {
		return titled(p.title("To do", ""), p.Wrap(layout.Plainly(text), 0))
	}
	command := p.Wrap(layout.Of(layout.Text(layout.Muted, "$ "), layout.Text(layout.Accent, advice.Command)), 2)
	heading := layout.Of(layout.Text(layout.Bold, "To do"), layout.Text(layout.Plain, "  "+text))
	if heading.Width() > p.Width {
		return titled(p.title("To do", ""), append(p.Wrap(layout.Plainly(text), 0), command...))
	}
	return titled(p.rule(heading), command)
}
