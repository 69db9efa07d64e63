package tui

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// failuresPane lists the causes of failures; the chosen one is told in full below.
type failuresPane struct {
	screen *jobScreen
	list   list
}

func newFailuresPane(s *jobScreen) *failuresPane { return &failuresPane{screen: s} }

func (o *failuresPane) key(k tea.KeyPressMsg, d *data) (action, bool) {
	switch {
	case o.list.handle(k):
		return none()
	case matches(k, keyOpen):
		return o.open(d), true
	}
	return action{}, false
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
	return []keyGroup{{title: "Failures", bindings: []binding{open}}}
}

func (o *failuresPane) body(p *paint) []canvas.Line {
	j := p.data.job
	lines := []canvas.Line{nil, p.cut(failuresSummary(j), p.width)}
	if len(j.Causes) == 0 {
		o.list.resize(0, 1, nil)
		return lines
	}
	// Which cause is chosen comes first: how long its detail is says how much room is left.
	keyOf := func(i int) string { return j.Causes[i].Text + causeRule(&j.Causes[i]) }
	o.list.resize(len(j.Causes), o.list.height, keyOf)
	detail := causeDetail(p, &j.Causes[o.list.cursor])
	header, table := canvas.Table(causeColumns(p, j), causeCells(p, j), p.width-cursorWidth, p.glyphs.ellipsis)
	lines = append(lines, nil, header.Indent(cursorWidth))
	room := max(minCauses, p.height-len(lines)-len(detail)-1)
	o.list.resize(len(table), room, keyOf)
	first, end := rows(len(table), o.list.top, room)
	for i := first; i < end; i++ {
		lines = append(lines, chosenRow(p, table[i], i == o.list.cursor))
	}
	lines = append(append(lines, nil), detail...)
	return lines[:min(len(lines), p.height)]
}

// minCauses is how many rows the list has, however long the detail is.
const minCauses = 3

// failuresSummary is "412 failures, 3 causes".
func failuresSummary(j *jobData) canvas.Line {
	var told int64
	for i := range j.Causes {
		told += int64(j.Causes[i].Count)
	}
	all := told + int64(j.FailuresWithoutPod)
	if all == 0 {
		return canvas.Of(canvas.Text(styleMuted, "No failures are known."))
	}
	l := canvas.Of(canvas.Text(bold, wording.Plural(all, "failure", "failures")), canvas.Text(stylePlain, ", "+wording.Plural(int64(len(j.Causes)), "cause", "causes")))
	if n := j.FailuresWithoutPod; n > 0 {
		l = append(l, canvas.Text(styleMuted, fmt.Sprintf("; %d %s", n, withoutPod(j, n))))
	}
	return l
}

// causeColumns give the text of causes most of the room: its end tells them apart.
func causeColumns(p *paint, j *jobData) []canvas.Column {
	columns := []canvas.Column{
		{Header: "COUNT", Right: true}, {Header: "CAUSE", Min: p.width/2 + 2}, {Header: "RULE", Min: 12, Drop: 1}, {Header: "LAST", Drop: 2},
	}
	if hasIndexes(j) {
		columns = append(columns, canvas.Column{Header: "INDEXES", Min: 16, Drop: 3})
	}
	return columns
}

// hasIndexes says that causes tell of indexes.
func hasIndexes(j *jobData) bool {
	return slices.ContainsFunc(j.Causes, func(c explain.Cause) bool { return c.Indexes != "" })
}

// maxIndexList is how many bytes of a list of indexes stand in the table.
const maxIndexList = 40

func causeCells(p *paint, j *jobData) [][]canvas.Line {
	cells := make([][]canvas.Line, 0, len(j.Causes))
	indexes := hasIndexes(j)
	for i := range j.Causes {
		c := &j.Causes[i]
		rule, style := causeRule(c), styleAccent
		if rule == "" {
			rule, style = "no rule", styleMuted
		}
		if c.Consequence {
			rule, style = "the Job was ending", styleMuted
		}
		row := []canvas.Line{
			canvas.Of(canvas.Text(styleBad|bold, strconv.Itoa(int(c.Count)))), canvas.Plainly(wording.Sentence(c.Text)),
			canvas.Of(canvas.Text(style, rule)), canvas.Of(canvas.Text(styleMuted, p.when(c.Last))),
		}
		if indexes {
			row = append(row, canvas.Plainly(explain.Crop(c.Indexes, maxIndexList)))
		}
		cells = append(cells, row)
	}
	return cells
}

// causeDetail is a cause in full.
func causeDetail(p *paint, c *explain.Cause) []canvas.Line {
	lines := []canvas.Line{p.title("Cause", "")}
	lines = append(lines, p.wrap(causeText(c), 2)...)
	for _, note := range causeNotes(p, c, true) {
		lines = append(lines, p.wrap(note.Indent(2), 2)...)
	}
	if !c.First.IsZero() && !c.Last.IsZero() {
		lines = append(lines, p.cut(canvas.Of(canvas.Textf(styleMuted, "  first %s, last %s", p.when(c.First), p.when(c.Last))), p.width))
	}
	return lines
}
