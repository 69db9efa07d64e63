package joblist

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// notReconciled is the reason shown for a Job without a controller.
const notReconciled = "no controller"

const (
	// failedIndexesLimit is the maximum length, in characters, of the lists of failed indexes on narrow screens.
	failedIndexesLimit = 18
	// widestCell is the maximum width of the widest columns.
	widestCell = 48
	// statusWidth is the width of a mark and the usual statuses, and timeWidth the width of a duration in two units.
	statusWidth = len("x Suspended")
	timeWidth   = 6
	// barsFrom is the screen width from which there are bars: below, reasons need their columns. leastBar, usualBar and mostBar
	// are widths of bars, which use the width that no column needs.
	barsFrom = 75
	leastBar = 4
	usualBar = 20
	mostBar  = 40
)

// columns returns the columns for the width of the screen. They do not depend on data that changes while Jobs run, so they
// stay where they are. The narrowest screen has the name, the status and the progress.
func (s *listScreen) columns(p *widget.Paint) []layout.Column[explain.Outline] {
	type job = explain.Outline
	f := &s.stats
	least := leastWidthsFor(p)
	if f.namespaces {
		least.name = min(least.name, 16) // The namespace and the name together identify the Job.
	}
	managed := min(f.managedBy, least.managedBy)
	bar, why := leastBar, words.WhyWidth
	columns := []layout.Column[job]{
		{
			Header: section.NamespaceColumn, Width: min(f.namespace, widestCell), Fixed: true, Min: 9, Hidden: !f.namespaces,
			Style: layout.Muted, Text: func(o *job) string { return o.Namespace },
		},
		{
			Header: section.NameColumn, Width: f.name, Min: least.name, Middle: true,
			Sort: layout.Sort[job]{Turn: 2, Name: "name"}, // The Jobs are sorted by name.
			Cell: func(o *job) layout.Line { return s.nameCell(p, o) },
		},
		{
			Header: "STATUS", Width: statusWidth, Fixed: true, Min: least.status,
			Sort: layout.Sort[job]{Turn: 1, Name: "problems", Descending: true, Value: urgencyOf},
			Cell: func(o *job) layout.Line { return statusCell(p, o) },
		},
		s.doneColumn(p, &bar),
		{
			Header: headerFor(p, "ACTIVE(READY)", "ACTIVE"), Width: f.active, Right: true, Drop: 6, Hidden: p.Width < 140,
			Text: section.Active,
		},
		{
			Header: headerFor(p, "TERMINATING", "TERM"), Right: true, Drop: 9, Hidden: p.Width < fullWhyFrom,
			Cell: func(o *job) layout.Line { return countCell(o.Terminating, layout.Special) },
		},
		{
			Header: "FAILED", Right: true, Drop: 3, Hidden: p.Width < 80, // WHY has numbers, too
			Sort: layout.Sort[job]{Turn: 5, Name: "failed pods", Descending: true, Value: failedPodsOf},
			Cell: func(o *job) layout.Line {
				n := o.Failures()
				return countCell(&n, section.FailureStyle(o.Outcome))
			},
		},
		{
			Header: headerFor(p, "FAILED INDEXES", "FAILED IDX"), Hidden: p.Width < fullWhyFrom,
			Width: max(10, p.Width/12), Fixed: true, Min: 10, Drop: 4, Style: layout.Bad, Text: func(o *job) string { return failedIndexesOf(p, o) },
		},
		{
			Header: section.WhyColumn, Width: words.WhyWidth, Fixed: true, Min: least.why, Drop: 1,
			Cell: func(o *job) layout.Line { return whyCell(p, o, why) },
		},
		{
			Header: "RUN BY", Width: managed, Fixed: true, Min: managed, Drop: 5, Hidden: !f.managed || p.Width < fullHeadersFrom,
			Cell: func(o *job) layout.Line { return managedCell(p, o) },
		},
		{
			Header: "DURATION", Width: timeWidth, Right: true, Drop: 8, Hidden: p.Width < 140,
			Sort: layout.Sort[job]{Turn: 4, Name: "duration", Descending: true, Value: durationOf},
			Text: func(o *job) string { return ranFor(p, o) },
		},
		s.ageColumn(p),
	}

	columns = s.table.Marked(p, s.withCronJobs(p, columns))
	if p.Width < barsFrom {
		return columns
	}
	// Bars and reasons use the width that no column needs: first bars up to a usual size, then reasons, then bars.
	free := max(0, layout.TableOf(columns, nil).Free(p.Width-widget.CursorWidth))
	usual := min(usualBar-leastBar, free)
	reasons := min(words.MostWhy-words.WhyWidth, (free-usual)*2/3)
	bar, why = leastBar+usual+min(mostBar-usualBar, free-usual-reasons), words.WhyWidth+reasons
	for i := range columns {
		switch {
		case columns[i].Sort.Name == progress:
			columns[i].Width += bar - leastBar
		case columns[i].Header == section.WhyColumn && reasons > 0:
			columns[i].Width, columns[i].Min = why, why
		}
	}
	return columns
}

// leastWidths are the minimum widths of columns.
type leastWidths struct{ name, status, why, managedBy int }

// fullWhyFrom is the screen width from which reasons are not cut: other columns are omitted first.
const fullWhyFrom = 100

func leastWidthsFor(p *widget.Paint) leastWidths {
	switch {
	case p.Width < 80:
		return leastWidths{name: 12, status: 10, why: 10, managedBy: 10}
	case p.Width < fullWhyFrom:
		return leastWidths{name: 12, status: 10, why: 18, managedBy: 10}
	case p.Width < 140:
		return leastWidths{name: 22, status: 10, why: words.WhyWidth, managedBy: 12}
	}
	return leastWidths{name: 20, status: 12, why: words.WhyWidth, managedBy: 23}
}

// fullHeadersFrom is the screen width from which all headers are the same as in status.
const fullHeadersFrom = 180

// headerFor returns the header that status has, or a shorter one on narrow screens.
func headerFor(p *widget.Paint, status, short string) string {
	if p.Width < fullHeadersFrom {
		return short
	}
	return status
}

// progress is the name of the order by progress.
const progress = "progress"

// doneColumn returns the column of completions, with bars of this width unless the screen is narrow.
func (s *listScreen) doneColumn(p *widget.Paint, bar *int) layout.Column[explain.Outline] {
	c := layout.Column[explain.Outline]{
		Header: "DONE", Width: min(s.stats.completions, widestCell), Right: true,
		Sort: layout.Sort[explain.Outline]{Turn: 6, Name: progress, Value: progressOf},
		Cell: func(o *explain.Outline) layout.Line { return layout.Plainly(section.Completions(o)) },
	}
	if p.Width < barsFrom {
		return c
	}
	c.Width += leastBar + 1
	c.Cell = func(o *explain.Outline) layout.Line {
		completions := layout.Plainly(section.Completions(o))
		gap := layout.Blank(1 + max(0, s.stats.completions-completions.Width()))
		return append(append(section.ProgressOf(o).Bar(&p.Frame, *bar), gap), completions...)
	}
	return c
}

// ageColumn returns the column of ages. It is dropped later than most columns, because ages distinguish tonight's Jobs from
// last week's.
func (s *listScreen) ageColumn(p *widget.Paint) layout.Column[explain.Outline] {
	c := layout.Column[explain.Outline]{
		Header: "AGE", Width: timeWidth, Right: true, Drop: 2, Hidden: p.Width < barsFrom && !p.Absolute, Sort: layout.Sort[explain.Outline]{Turn: 3, Name: "age", Value: ageOf},
		Cell: func(o *explain.Outline) layout.Line { return ageCell(p, o.Created) },
	}
	switch {
	case p.Absolute:
		c.Header, c.Width, c.Drop = "CREATED", len(p.Clock(s.stats.earliest)), 0 // The user asked for absolute times.
		if s.stats.namespaces && p.Width < leastNamespaces {
			c.Drop = 1 // There is no room for them.
		}
	case p.Width < 100:
		c.Width = 0
	}
	return c
}

func ranFor(p *widget.Paint, o *explain.Outline) string {
	if ran := section.Ran(o, p.Now); ran >= 0 {
		return wording.Duration(ran)
	}
	return "-"
}

func statusCell(p *widget.Paint, o *explain.Outline) layout.Line {
	mark, style := kindOf(o).look(p)
	return layout.Of(layout.Text(style, mark+" "+section.RowStatus(o)))
}

// countCell formats a number; 0 and missing numbers are muted.
func countCell(n *int32, style layout.Style) layout.Line {
	switch {
	case n == nil:
		return layout.Of(layout.Text(layout.Muted, "-"))
	case *n == 0:
		return layout.Of(layout.Text(layout.Muted, "0"))
	}
	return layout.Of(layout.Text(style, wording.Thousands(*n)))
}

func ageCell(p *widget.Paint, created *metav1.Time) layout.Line {
	switch {
	case created.IsZero():
		return layout.Of(layout.Text(layout.Muted, "-"))
	case p.Absolute:
		return layout.Plainly(p.Clock(created.Time))
	}
	age := max(0, p.Now.Sub(created.Time))
	if p.Width < 100 {
		return layout.Plainly(wording.ShortAge(age))
	}
	return layout.Plainly(wording.Duration(age))
}

// failedIndexesOf returns the number and the list of failed indexes, which may be cut.
func failedIndexesOf(p *widget.Paint, o *explain.Outline) string {
	if o.FailedIndexes == nil {
		return ""
	}
	list := p.Crop(*o.FailedIndexes, max(failedIndexesLimit, p.Width/8))
	if o.FailedIndexCount < 2 {
		return list
	}
	return wording.Thousands(o.FailedIndexCount) + ": " + list
}

// whyCell returns the problem of the Job.
func whyCell(p *widget.Paint, o *explain.Outline, width int) layout.Line {
	style := layout.Warn
	if o.Stalled == nil && o.Outcome.Fails() {
		style = layout.Bad
	}
	return layout.Of(layout.Text(style, words.Why(o, p.Now, width)))
}

// reasonOf returns the reason of the condition, the reason why the Job is stalled, or that it has no controller.
func reasonOf(o *explain.Outline) string {
	switch {
	case o.Reason == "" && o.Stalled != nil:
		return o.Stalled.Reason
	case o.Reason == "" && o.Neglected:
		return notReconciled
	}
	return o.Reason
}

// managerOf returns the managedBy value. On a narrow screen, its domain is cut to the first label.
func managerOf(p *widget.Paint, managedBy string) string {
	if p.Width >= 140 {
		return managedBy
	}
	domain, path, has := strings.Cut(managedBy, "/")
	label, _, _ := strings.Cut(domain, ".")
	if !has {
		return managedBy
	}
	return label + "/" + path
}

// managedCell returns the controller, and a warning that it does not reconcile the Job if the reason column shows another
// reason.
func managedCell(p *widget.Paint, o *explain.Outline) layout.Line {
	name := layout.Text(layout.Plain, managerOf(p, o.ManagedBy))
	if o.ManagedBy == "" {
		name = layout.Text(layout.Muted, "built-in")
	}
	if !o.Neglected || o.Reason == "" && o.Rule == nil {
		return layout.Of(name)
	}
	return layout.Of(name, layout.Text(layout.Warn, " "+p.Glyphs.Warn+" "+notReconciled))
}
