package tui

import (
	"fmt"
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
	open := bind("enter", "open a pod of it", "enter")
	return []keyGroup{{title: "Failures", bindings: []binding{open}}}
}

func (o *failuresPane) body(p *paint) []canvas.Line {
	j := p.data.job
	lines := []canvas.Line{nil, p.cut(failuresSummary(j), p.width)}
	if len(j.Causes) == 0 {
		return lines
	}
	detail := o.detail(p, j)
	header, table := canvas.Table(causeColumns(p), causeCells(j), p.width-cursorWidth, p.glyphs.ellipsis)
	lines = append(lines, nil, header.Indent(cursorWidth))
	room := max(3, p.height-len(lines)-len(detail)-1)
	o.list.resize(len(table), room, func(i int) string { return j.Causes[i].Text + causeRule(&j.Causes[i]) })
	first, end := rows(len(table), o.list.top, room)
	for i := first; i < end; i++ {
		lines = append(lines, chosenRow(p, table[i], i == o.list.cursor))
	}
	lines = append(append(lines, nil), o.detail(p, j)...)
	return lines[:min(len(lines), p.height)]
}

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

func causeColumns(p *paint) []canvas.Column {
	return []canvas.Column{
		{Header: "COUNT", Right: true}, {Header: "CAUSE", Min: 24}, {Header: "RULE", Min: 12, Drop: 1}, {Header: "INDEXES", Min: 8, Drop: 2}, {Header: "LAST", Drop: 3},
	}
}

func causeCells(j *jobData) [][]canvas.Line {
	cells := make([][]canvas.Line, 0, len(j.Causes))
	for i := range j.Causes {
		c := &j.Causes[i]
		rule, style := causeRule(c), styleAccent
		if rule == "" {
			rule, style = "no rule: counted", styleMuted
		}
		if c.Consequence {
			rule, style = "the Job was ending", styleMuted
		}
		cells = append(cells, []canvas.Line{
			canvas.Of(canvas.Text(styleBad|bold, strconv.Itoa(int(c.Count)))), canvas.Plainly(wording.Sentence(c.Text)),
			canvas.Of(canvas.Text(style, rule)), canvas.Plainly(explain.Crop(c.Indexes, 20)), canvas.Of(canvas.Text(styleMuted, lastOf(j, c))),
		})
	}
	return cells
}

// lastOf is how long before the Report a cause was seen last.
func lastOf(j *jobData, c *explain.Cause) string {
	if c.Last.IsZero() {
		return "-"
	}
	return wording.Duration(max(0, j.ObservedAt.Sub(c.Last.Time))) + " ago"
}

// detail is the chosen cause in full.
func (o *failuresPane) detail(p *paint, j *jobData) []canvas.Line {
	c := &j.Causes[max(0, min(o.list.cursor, len(j.Causes)-1))]
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
