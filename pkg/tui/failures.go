package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// failuresPane lists the causes of failures; the chosen one is told in full below.
type failuresPane struct {
	screen *jobScreen
	list   list
	// detail is scrolled where the cause that is told has more lines than there is room.
	detail scroll
	told   int
}

//nolint:gochecknoglobals // constants, as those of the key map
var keyDetail = bind("J/K", "scroll the cause", "J", "K")

func newFailuresPane(s *jobScreen) *failuresPane { return &failuresPane{screen: s} }

func (o *failuresPane) key(k tea.KeyPressMsg, d *data) (action, bool) {
	switch {
	case o.list.handle(k):
		return none()
	case matches(k, keyDetail) && k.Text == "J":
		o.detail.move(1)
	case matches(k, keyDetail):
		o.detail.move(-1)
	case matches(k, keyOpen):
		return o.open(d), true
	default:
		return action{}, false
	}
	return none()
}

// open shows an example of the chosen cause.
func (o *failuresPane) open(d *data) action {
	if d.job == nil || o.list.cursor >= len(d.job.Causes) {
		return action{}
	}
	c := &d.job.Causes[o.list.cursor]
	if len(c.Pods) == 0 {
		return action{say: "no pod is known for this cause"}
	}
	var index *int32
	for i := range d.job.Pods {
		if d.job.Pods[i].Name == c.Pods[0] {
			index = d.job.Pods[i].Index
		}
	}
	return action{open: newPodScreen(o.screen.job, c.Pods[0], index)}
}

func (o *failuresPane) wheel(lines int, _ *data) { o.list.move(lines) }

func (o *failuresPane) keys() []keyGroup {
	if o.list.n == 0 {
		return nil
	}
	open := bind("enter", "open a pod of it", "enter")
	if o.detail.n <= o.detail.height {
		return []keyGroup{{title: "Failures", bindings: []binding{open}}}
	}
	return []keyGroup{{title: "Failures", bindings: []binding{open, keyDetail}}}
}

func (o *failuresPane) body(p *paint, d *data) []layout.Line {
	j := d.job
	lines := append([]layout.Line{nil}, p.Wrap(failuresLine(j), 2)...)
	if len(j.Causes) == 0 {
		o.list.resize(0, 1, nil)
		return lines
	}
	// Which cause is chosen comes first: how long its detail is says how much room is left.
	keyOf := func(i int) string { return j.Causes[i].Text + section.CauseRule(&j.Causes[i]) }
	o.list.resize(len(j.Causes), o.list.height, keyOf)
	if at := o.list.cursor; at != o.told {
		o.told, o.detail = at, scroll{}
	}
	detail := causeDetail(p, &j.Causes[o.list.cursor])
	// The header, and a blank line before and behind the table, are there too; without room
	// only the last one is.
	const around = 3
	blank := []layout.Line{nil}
	if len(lines)+min(minCauses, len(j.Causes))+len(detail)+around > p.height {
		lines, blank = lines[1:], nil
	}
	header, table := layout.Table(causeColumns(p, j), causeCells(p, j), p.Width-cursorWidth, p.Glyphs.Ellipsis)
	lines = append(append(lines, blank...), header.Indent(cursorWidth))
	left := p.height - len(lines) - 1
	o.list.resize(len(table), max(min(minCauses, len(table)), left-len(detail)), keyOf)
	first, end := rows(len(table), o.list.top, o.list.height)
	for i := first; i < end; i++ {
		row := chosenRow(p, table[i], i == o.list.cursor)
		if more := len(table) - end; i == end-1 && more > 0 {
			row = layout.Spread(p.Width, row, layout.Of(layout.Textf(layout.Accent, "  %s %d more", p.Glyphs.Down, more)), p.Glyphs.Ellipsis)
		}
		lines = append(lines, row)
	}
	rest := p.sized(p.Width, p.height-len(lines)-1)
	if rest.height <= 0 {
		return lines[:min(len(lines), p.height)]
	}
	title := detail[0]
	if len(detail) > rest.height {
		title = p.title("Cause", keyDetail.Help().Key+" scroll")
	}
	lines = append(append(lines, nil), title)
	return append(lines, o.detail.page(p.sized(p.Width, rest.height-1), detail[1:])...)
}

// minCauses is how many rows the list has, however long the detail is.
const minCauses = 3

// failuresLine is section.FailuresNote, and why the cause of some is not known.
func failuresLine(j *jobData) layout.Line {
	note := section.FailuresNote(j.Report)
	if note == "" {
		return layout.Of(layout.Text(layout.Muted, "No failures are known."))
	}
	l := layout.Of(layout.Text(layout.Bold, note))
	if n := j.FailuresWithoutPod; n > 0 {
		l = append(l, layout.Textf(layout.Muted, "; %d %s", n, section.WhyUnknown(j.Report)))
	}
	return l
}

// causeTexts are the causes for a table: in short where one of the sentences has no room,
// as its end is what tells it from the others.
func causeTexts(p *paint, j *jobData) []string {
	full, texts := make([]string, len(j.Causes)), make([]failureText, len(j.Causes))
	for i := range j.Causes {
		texts[i] = failureText{j.Causes[i].Failure, j.Causes[i].Text}
		full[i] = wording.Sentence(j.Causes[i].Text)
	}
	if slices.ContainsFunc(full, func(text string) bool { return widthOf(text) > leastCause(p) }) {
		return briefCauses(texts)
	}
	return full
}

// leastCause is how narrow the column of causes may be.
func leastCause(p *paint) int { return p.Width/2 + 2 }

// causeColumns give the text of causes most of the room: its end tells them apart.
func causeColumns(p *paint, j *jobData) []layout.Column {
	columns := []layout.Column{
		{Header: "COUNT", Right: true}, {Header: "CAUSE", Min: leastCause(p)}, {Header: "RULE", Min: 12, Drop: 1}, {Header: "LAST", Drop: 2},
	}
	if hasIndexes(j) {
		columns = append(columns, layout.Column{Header: "INDEXES", Min: 16, Drop: 3})
	}
	return columns
}

// hasIndexes says that causes tell of indexes.
func hasIndexes(j *jobData) bool {
	return slices.ContainsFunc(j.Causes, func(c explain.Cause) bool { return c.Indexes != "" })
}

// maxIndexList is how many bytes of a list of indexes stand in the table.
const maxIndexList = 40

func causeCells(p *paint, j *jobData) [][]layout.Line {
	cells := make([][]layout.Line, 0, len(j.Causes))
	indexes, texts := hasIndexes(j), causeTexts(p, j)
	for i := range j.Causes {
		c := &j.Causes[i]
		rule, style := section.CauseRule(c), layout.Accent
		if rule == "" {
			rule, style = "no rule", layout.Muted
		}
		if c.Consequence {
			rule, style = "the Job was ending", layout.Muted
		}
		row := []layout.Line{
			layout.Of(layout.Text(layout.Bad|layout.Bold, strconv.Itoa(int(c.Count)))), layout.Plainly(texts[i]),
			layout.Of(layout.Text(style, rule)), layout.Of(layout.Text(layout.Muted, p.When(c.Last))),
		}
		if indexes {
			row = append(row, layout.Plainly(p.Crop(c.Indexes, maxIndexList)))
		}
		cells = append(cells, row)
	}
	return cells
}

// causeDetail is a cause in full.
func causeDetail(p *paint, c *explain.Cause) []layout.Line {
	lines := append([]layout.Line{p.title("Cause", "")}, section.CauseLines(&p.Frame, c)...)
	if !c.First.IsZero() && !c.Last.IsZero() {
		lines = append(lines, p.Cut(layout.Of(layout.Textf(layout.Muted, "  first %s, last %s", p.When(c.First), p.When(c.Last))), p.Width))
	}
	return lines
}
