package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
)

// overviewPane is what matters of a Job on one screen.
type overviewPane struct {
	scroll scroll
}

func newOverviewPane(_ *jobScreen) *overviewPane { return &overviewPane{} }

func (o *overviewPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *overviewPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *overviewPane) keys() []keyGroup { return nil }

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

func (o *overviewPane) body(p *paint) []layout.Line {
	return o.scroll.page(p, overviewLines(p, p.data.job))
}

func overviewLines(p *paint, j *jobData) []layout.Line {
	if p.width < columnsFrom {
		story := storyBlocks(p, j)
		blocks := slices.Concat(story, stateBlocks(p, j), []block{nextBlock(p, j), adviceBlock(p, j)})
		growMap(p, j, blocks, len(story))
		return stack(blocks, p.height)
	}
	half := (p.width - columnGap) / 2
	left, right := p.sized(half, p.height), p.sized(p.width-columnGap-half, p.height)
	story, state := storyBlocks(left, j), stateBlocks(right, j)
	if full := append(slices.Clone(story), chainBlock(left, j)); len(stack(full, p.height)) <= p.height*3/4 {
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
	return layout.Beside(stack(story, p.height), half, columnGap, stack(state, p.height), p.glyphs.Ellipsis)
}

// block is a part with a heading.
type block []layout.Line

// stack puts blocks below each other, with an empty line between them if there is room.
func stack(blocks []block, height int) []layout.Line {
	n, filled := 0, 0
	for _, b := range blocks {
		if len(b) > 0 {
			n, filled = n+len(b), filled+1
		}
	}
	airy := n+filled-1 <= height
	var lines []layout.Line
	for _, b := range blocks {
		if airy && len(lines) > 0 && len(b) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, b...)
	}
	return lines
}

// titled is a block with a heading, nil without lines.
func titled(heading layout.Line, lines []layout.Line) block {
	if len(lines) == 0 {
		return nil
	}
	return append(block{heading}, lines...)
}

// storyBlocks say what is the matter: the verdict, the problems, and the causes.
func storyBlocks(p *paint, j *jobData) []block {
	return []block{
		verdictLines(p, j),
		titled(p.title("Problems", ""), problemLines(p, j, overviewProblems)),
		titled(p.title("Causes", causesNote(j)), causeLines(p, j, overviewCauses)),
	}
}

// stateBlocks are where the Job stands.
func stateBlocks(p *paint, j *jobData) []block {
	success, limits := titled(p.title("Success criteria", ""), successLines(p, j)), titled(p.title("Limits", ""), limitLines(p, j))
	if j.SuccessPolicy == nil && j.Job.Completions != nil {
		// That all have to succeed is no news that needs a heading of its own.
		success, limits = nil, titled(p.title("Completions and limits", ""), meters(p, append(successMeters(p, j), limitMeters(p, j)...)))
	}
	return []block{
		mapBlock(p, j, mapRowsAtFirst(p)),
		success,
		titled(p.title("Failure policy", "the first rule that matches decides"), failurePolicyLines(p, j, true)),
		limits,
	}
}

func nextBlock(p *paint, j *jobData) block { return titled(p.title("Next", ""), nextLines(p, j)) }

// verdictLines are the answer: how it begins stands out.
func verdictLines(p *paint, j *jobData) block {
	v := &j.Verdict
	if len(v.Clauses) < 2 {
		return p.wrap(layout.Of(layout.Text(bold, v.Sentence)), 0)
	}
	rest := " " + strings.Join(v.Clauses[1:], "; ") + "."
	return p.wrap(layout.Of(layout.Text(bold, v.Clauses[0]+";"), layout.Text(stylePlain, rest)), 0)
}

// causesNote is "412 failures, 3 causes", or what stands behind the number if not all of them
// are counted: "14 failures: 6 counted, 6 with the next pod, 2 ignored; 4 causes".
func causesNote(j *jobData) string {
	all, counted, awaiting, ignored := failureTotals(j)
	note, between := wording.Plural(int64(all), "failure", "failures"), ", "
	var parts []string
	for _, part := range []struct {
		n    int32
		word string
	}{{counted, "counted"}, {awaiting, "with the next pod"}, {ignored, "ignored"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if awaiting > 0 || ignored > 0 {
		note += ": " + strings.Join(parts, ", ")
		between = "; "
	}
	if len(j.Causes) > 1 {
		note += between + wording.Plural(int64(len(j.Causes)), "cause", "causes")
	}
	return note
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
	g := j.indexes.Fit(p.width, rows)
	items := legend(p, j, isMixed(&g, j.indexes))
	const gap = 2
	name, note := "Indexes", ""
	if g.Per > 1 {
		note = perCell(&g)
	}
	if j.indexes.Hidden() > 0 {
		name = howMany(j.indexes)
	}
	begin := layout.Of(layout.Text(bold, name))
	if note != "" {
		begin = append(begin, layout.Text(styleMuted, "  "+note))
	}
	if one := layout.Flow(append([]layout.Line{begin}, items...), p.width, gap); len(one) == 1 {
		return block{p.rule(one[0])}, g
	}
	return append(block{p.title(name, note)}, layout.Flow(items, p.width, gap)...), g
}

// nextLines are the clocks that run, the first to end first, and what comes without one.
func nextLines(p *paint, j *jobData) []layout.Line {
	type row struct {
		when layout.Span
		text string
	}
	var all []row
	for i := range j.Waits {
		w := &j.Waits[i]
		all = append(all, row{layout.Text(waitStyle(w.Kind), p.countdown(w.Until.Time)), w.Text})
	}
	for i := range j.Next {
		step := &j.Next[i]
		switch {
		case step.IsWait():
		case step.At != nil:
			all = append(all, row{layout.Text(styleInfo, p.countdown(step.At.Time)), step.Text})
		default:
			all = append(all, row{layout.Text(styleMuted, "then"), step.Text})
		}
	}
	width := 0
	for i := range all {
		width = max(width, layout.Of(all[i].when).Width())
	}
	var lines []layout.Line
	for i := range all {
		l := layout.Of(all[i].when).Pad(width + 2)
		lines = append(lines, p.wrap(append(l, layout.Text(stylePlain, wording.Sentence(all[i].text))), width+2)...)
	}
	return lines
}

// waitStyle is the colour of a clock: those that end something warn.
func waitStyle(kind explain.WaitKind) styleOf {
	switch kind {
	case explain.WaitDeadline, explain.WaitTTL:
		return styleWarn | bold
	case explain.WaitGrace:
		return styleSpecial | bold
	}
	return styleInfo | bold
}

// chainBlock is what leads from the condition to the last lines of a log. It repeats some of
// the causes, so that it is for screens with room.
func chainBlock(p *paint, j *jobData) block {
	var lines []layout.Line
	for i := range j.Evidence {
		e := &j.Evidence[i]
		text := layout.Of(layout.Text(styleMuted, p.glyphs.Into+" "), layout.Text(stylePlain, wording.Sentence(e.Text)))
		lines = append(lines, p.wrap(text, 2)...)
		lines = append(lines, quotedLines(p, e.Lines)...)
	}
	return titled(p.title("Why", ""), lines)
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
		return titled(p.title("To do", ""), p.wrap(layout.Plainly(text), 0))
	}
	command := p.wrap(layout.Of(layout.Text(styleMuted, "$ "), layout.Text(styleAccent, advice.Command)), 2)
	heading := layout.Of(layout.Text(bold, "To do"), layout.Text(stylePlain, "  "+text))
	if heading.Width() > p.width {
		return titled(p.title("To do", ""), append(p.wrap(layout.Plainly(text), 0), command...))
	}
	return titled(p.rule(heading), command)
}
