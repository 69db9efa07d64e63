package job

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// failuresPane lists the causes of failures, and shows the chosen one in full below the list.
type failuresPane struct {
	job  types.NamespacedName
	list widget.List
	// detail scrolls the chosen cause if it does not fit; shown is the cause for which it was last drawn.
	detail widget.Scroll
	shown  int
}

var keyDetail = widget.Bind("J/K", "scroll the cause", "J", "K")

func (o *failuresPane) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	switch {
	case o.list.Key(k):
		return screen.Done()
	case widget.Matches(k, keyDetail) && k.Text == "J":
		o.detail.Move(1)
	case widget.Matches(k, keyDetail):
		o.detail.Move(-1)
	case widget.Matches(k, widget.KeyOpen):
		return o.open(d), true
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

// open opens a pod that failed with the chosen cause.
func (o *failuresPane) open(d *screen.Data) screen.Action {
	if d.Job == nil {
		return screen.Action{}
	}
	causes := section.OwnCauses(d.Job.Report)
	if o.list.Cursor >= len(causes) {
		return screen.Action{}
	}
	c := &causes[o.list.Cursor]
	if len(c.Pods) == 0 {
		return screen.Action{Notice: "no pod is known for this cause"}
	}
	var index *int32
	if pod := d.Job.Pod(c.Pods[0]); pod != nil {
		index = pod.Index
	}
	return screen.Action{Open: pods.NewScreen(o.job, c.Pods[0], index)}
}

func (o *failuresPane) Wheel(lines int, _ *screen.Data) { o.list.Move(lines) }

func (o *failuresPane) Keys() []widget.KeyGroup {
	if o.list.Len == 0 {
		return nil
	}
	open := widget.Bind("enter", "open a pod", "enter")
	if o.detail.Len <= o.detail.Height {
		return []widget.KeyGroup{{Title: "Failures", Bindings: []widget.Binding{open}}}
	}
	return []widget.KeyGroup{{Title: "Failures", Bindings: []widget.Binding{open, keyDetail}}}
}

func (o *failuresPane) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	causes := section.OwnCauses(j.Report) // Pods that the Job stopped are counted in the line above.
	lines := append([]layout.Line{nil}, p.Wrap(failuresLine(j), 2)...)
	if len(causes) == 0 {
		o.list.Resize(0, 1, nil)
		return lines
	}
	// The cursor is needed first, because the length of the chosen cause determines the room for the list.
	keyOf := func(i int) string { return causes[i].Text + section.CauseRule(&causes[i]) }
	o.list.Resize(len(causes), o.list.Height, keyOf)
	if at := o.list.Cursor; at != o.shown {
		o.shown, o.detail = at, widget.Scroll{}
	}
	detail := causeDetail(p, &causes[o.list.Cursor])
	// These are the header, and a blank line before and after the table; if room is short, only the latter is kept.
	const around = 3
	blank := []layout.Line{nil}
	if len(lines)+min(minCauses, len(causes))+len(detail)+around > p.Height {
		lines, blank = lines[1:], nil
	}
	header, table := causeTable(p, j.Report, causes).Lines(p.Width-widget.CursorWidth, p.Glyphs.Ellipsis)
	lines = append(append(lines, blank...), header.Indent(widget.CursorWidth))
	left := p.Height - len(lines) - 1
	o.list.Resize(len(table), max(min(minCauses, len(table)), left-len(detail)), keyOf)
	first, end := widget.Rows(len(table), o.list.Top, o.list.Height)
	for i := first; i < end; i++ {
		row := widget.Row(p, table[i], i == o.list.Cursor)
		if more := len(table) - end; i == end-1 && more > 0 {
			row = layout.Spread(p.Width, row, layout.Of(layout.Textf(layout.Accent, "  %s %s", p.Glyphs.Down, wording.Count(more, "more"))), p.Glyphs.Ellipsis)
		}
		lines = append(lines, row)
	}
	rest := p.Sized(p.Width, p.Height-len(lines)-1)
	if rest.Height <= 0 {
		return lines[:min(len(lines), p.Height)]
	}
	title := detail[0]
	if len(detail) > rest.Height {
		title = p.Title("Cause", keyDetail.Help().Key+" scroll")
	}
	lines = append(append(lines, nil), title)
	return append(lines, o.detail.Page(p.Sized(p.Width, rest.Height-1), detail[1:])...)
}

// minCauses is the minimum number of rows for the list, however long the detail is.
const minCauses = 3

// failuresLine returns section.FailuresNote, the reason why some failures have no cause, and the number of pods that the Job
// stopped.
func failuresLine(j *screen.Job) layout.Line {
	note, stopped := section.FailuresNote(j.Report), section.StoppedNote(j.Report)
	if note == "" {
		return layout.Of(layout.Text(layout.Muted, cmp.Or(stopped, "No failures are known")+"."))
	}
	l := layout.Of(layout.Text(layout.Bold, note))
	if n := j.FailuresWithoutPod; n > 0 {
		l = append(l, layout.Text(layout.Muted, "; "+wording.Count(n, section.WhyUnknown(j.Report))))
	}
	if stopped != "" {
		l = append(l, layout.Text(layout.Muted, "; "+stopped))
	}
	return l
}

// maxIndexList is the minimum room, in bytes, for a list of indexes in the table; on screens that are wider than that plus
// indexListFrom columns, the extra columns are used, too.
const (
	maxIndexList  = 40
	indexListFrom = 120
)

// causeTable gives most of the room to the texts of the causes, because these often differ only at the end.
func causeTable(p *widget.Paint, r *explain.Report, causes []explain.Cause) *layout.Table {
	// The texts are in short form if one of them does not fit.
	least := p.Width/2 + 2
	texts, long := make([]pods.FailureText, len(causes)), false
	for i := range causes {
		texts[i] = pods.FailureText{Failure: causes[i].Failure, Text: causes[i].Text}
		long = long || widget.Width(wording.Sentence(causes[i].Text)) > least
	}
	brief := pods.BriefCauses(texts)
	type row struct {
		*explain.Cause
		text string
	}
	rows := make([]row, len(causes))
	for i := range causes {
		rows[i] = row{&causes[i], wording.Sentence(causes[i].Text)}
		if long {
			rows[i].text = brief[i]
		}
	}
	hasIndexes := slices.ContainsFunc(causes, func(c explain.Cause) bool { return c.Indexes != "" })
	return layout.TableOf([]layout.Column[row]{
		{Header: "COUNT", Right: true, Style: layout.Bad | layout.Bold, Text: func(c *row) string { return wording.Thousands(c.Count) }},
		{Header: "CAUSE", Min: least, Text: func(c *row) string { return c.text }},
		{Header: "RULE", Min: 12, Drop: 1, Hidden: r.FailurePolicy == nil, Cell: func(c *row) layout.Line {
			if rule := section.CauseRule(c.Cause); rule != "" {
				return layout.Of(layout.Text(layout.Accent, rule))
			}
			return layout.Of(layout.Text(layout.Muted, section.NoRule))
		}},
		{Header: "LAST", Drop: 2, Style: layout.Muted, Text: func(c *row) string { return p.When(c.Last) }},
		{
			Header: "INDEXES", Min: 16, Drop: 3, Hidden: !hasIndexes,
			Text: func(c *row) string { return p.Crop(c.Indexes, max(maxIndexList, p.Width-indexListFrom)) },
		},
	}, rows)
}

// causeDetail returns the full description of a cause.
func causeDetail(p *widget.Paint, c *explain.Cause) []layout.Line {
	lines := append([]layout.Line{p.Title("Cause", "")}, section.CauseLines(&p.Frame, c)...)
	if !c.First.IsZero() && !c.Last.IsZero() {
		lines = append(lines, p.Cut(layout.Of(layout.Textf(layout.Muted, "  first %s, last %s", p.When(c.First), p.When(c.Last))), p.Width))
	}
	return lines
}
