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

// Headers of the columns by which the table can be sorted.
const (
	columnName     = "NAME"
	columnStatus   = "STATUS"
	columnDone     = "DONE"
	columnFailed   = "FAILED"
	columnDuration = "DURATION"
	columnAge      = "AGE"
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
	// leastBar and mostBar are the minimum and maximum width of bars, which use the width that no column needs.
	leastBar = 4
	mostBar  = 40
)

// columns returns the columns for the width of the screen. They do not depend on data that changes while Jobs run, so they
// stay where they are. The narrowest screen has the name, the status and the progress. bar is the width of the bars.
func (s *listScreen) columns(p *widget.Paint) (columns []layout.Column, bar int) {
	f := &s.stats
	head := func(name string) string { return s.table.Sorting.Header(p, name) }
	least := leastWidthsFor(p)
	if f.namespaces {
		least.name = min(least.name, 16) // The namespace and the name together identify the Job.
	}
	managed := min(f.managedBy, least.managedBy)
	all := []layout.Column{
		{Header: "NAMESPACE", Width: min(f.namespace, widestCell), Min: 9},
		{Header: head(columnName), Width: f.name, Min: least.name, Middle: true},
		{Header: head(columnStatus), Width: statusWidth, Min: least.status},
		{Header: head(columnDone), Width: leastBar + 1 + min(f.completions, widestCell), Right: true},
		{Header: headerFor(p, "ACTIVE(READY)", "ACTIVE"), Width: f.active, Right: true, Drop: 6},
		{Header: headerFor(p, "TERMINATING", "TERM"), Right: true, Drop: 9},
		{Header: head(columnFailed), Right: true, Drop: 3},
		{Header: headerFor(p, "FAILED INDEXES", "FAILED IDX"), Width: max(10, p.Width/12), Min: 10, Drop: 4},
		{Header: "WHY", Width: words.WhyWidth, Min: least.why, Drop: 1},
		{Header: "RUN BY", Width: managed, Min: managed, Drop: 5},
		{Header: head(columnDuration), Width: timeWidth, Right: true, Drop: 8},
		s.ageColumn(p),
	}
	columns = widget.Present(all, func(i int) bool { return s.hasColumn(p, i) })
	bar = min(mostBar, leastBar+max(0, layout.FreeWidth(columns, p.Width-widget.CursorWidth)))
	for i := range columns {
		if columns[i].Header == head(columnDone) {
			columns[i].Width += bar - leastBar
		}
	}
	return columns, bar
}

// leastWidths are the minimum widths of columns.
type leastWidths struct{ name, status, why, managedBy int }

// fullWhyFrom is the screen width from which reasons are not cut: other columns are omitted first.
const fullWhyFrom = 100

func leastWidthsFor(p *widget.Paint) leastWidths {
	switch {
	case p.Width < 80:
		return leastWidths{name: 16, status: 10, why: 10, managedBy: 10}
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

// ageColumn returns the column of ages. It is dropped later than most columns, because it distinguishes tonight's Jobs from
// last week's.
func (s *listScreen) ageColumn(p *widget.Paint) layout.Column {
	c := layout.Column{Header: columnAge, Width: timeWidth, Right: true, Drop: 2}
	switch {
	case p.Absolute:
		c.Header, c.Width, c.Drop = "CREATED", len(p.Clock(s.stats.earliest)), 0 // The user asked for absolute times.
	case p.Width < 100:
		c.Width = 0
	}
	if s.table.Sorting.By == jobsByAge {
		c.Header += " " + s.table.Sorting.Mark(p)
	}
	return c
}

// Positions of the columns that may be missing.
const (
	namespaceColumn     = 0
	activeColumn        = 4
	terminatingColumn   = 5
	failedIndexesColumn = 7
	managedByColumn     = 9
	durationColumn      = 10
)

// hasColumn reports whether a screen of this width has a column. Columns do not appear or disappear while Jobs run.
func (s *listScreen) hasColumn(p *widget.Paint, i int) bool {
	switch i {
	case namespaceColumn:
		return s.stats.namespaces
	case terminatingColumn, failedIndexesColumn:
		return p.Width >= fullWhyFrom
	case managedByColumn:
		return s.stats.managed && p.Width >= fullHeadersFrom
	case activeColumn, durationColumn:
		return p.Width >= 140
	}
	return true
}

func (s *listScreen) cells(p *widget.Paint, o *explain.Outline, bar int) []layout.Line {
	kind := kindOf(o)
	mark, style := kind.look(p)
	completions := layout.Plainly(section.Completions(o))
	progress := append(section.ProgressOf(o).Bar(&p.Frame, bar), layout.Blank(1+max(0, s.stats.completions-completions.Width())))
	progress = append(progress, completions...)
	duration := "-"
	if ran := section.Ran(o, p.Now); ran >= 0 {
		duration = wording.Duration(ran)
	}
	return widget.Present([]layout.Line{
		layout.Of(layout.Text(layout.Muted, o.Namespace)), s.nameCell(p, o), layout.Of(layout.Text(style, mark+" "+section.RowStatus(o))), progress,
		layout.Plainly(section.Active(o)), countCell(o.Terminating, layout.Special), countCell(&o.Failed, section.FailureStyle(o.Outcome)),
		layout.Of(layout.Text(layout.Bad, failedIndexesOf(p, o))), whyCell(p, o), managedCell(p, o), layout.Plainly(duration), ageCell(p, o.Created),
	}, func(i int) bool { return s.hasColumn(p, i) })
}

// cutTo cuts cells to the widths of their columns, because a longer reason would move the following columns.
func cutTo(columns []layout.Column, cells []layout.Line, ellipsis string) []layout.Line {
	for i, c := range columns {
		if c.Width > 0 && c.Min > 0 && !c.Middle {
			cells[i] = cells[i].Cut(max(c.Width, layout.Width(c.Header)), ellipsis)
		}
	}
	return cells
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
		return layout.Plainly(wording.Age(age))
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
func whyCell(p *widget.Paint, o *explain.Outline) layout.Line {
	style := layout.Warn
	if o.Stalled == nil && o.Outcome.Fails() {
		style = layout.Bad
	}
	return layout.Of(layout.Text(style, words.Why(o, p.Now)))
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
