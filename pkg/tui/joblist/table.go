package joblist

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Headers of columns that tables can be sorted by.
const (
	columnName     = "NAME"
	columnStatus   = "STATUS"
	columnDone     = "DONE"
	columnFailed   = "FAILED"
	columnDuration = "DURATION"
	columnAge      = "AGE"
)

// notReconciled is shown for a Job without a controller.
const notReconciled = "no controller"

const (
	// failedIndexesLimit is where the lists of failed indexes are cut, in characters.
	failedIndexesLimit = 18
	// widestCell is where the widest columns end.
	widestCell = 48
	// statusWidth is that of a mark and the usual statuses, and timeWidth that of a duration in two units.
	statusWidth = len("x Suspended")
	timeWidth   = 6
	// leastBar and mostBar are the widths of bars: a bar takes the width that no column needs.
	leastBar = 4
	mostBar  = 40
)

// columns are chosen by the width of the screen, and by what does not change while Jobs run: so they stay where they are.
// The narrowest screen has the name, the status and the progress. bar is the width of the bars.
func (s *listScreen) columns(p *widget.Paint) (columns []layout.Column, bar int) {
	f := &s.stats
	head := func(name string) string { return s.table.Sorting.Header(p, name) }
	least := leastWidthsFor(p)
	if f.namespaces {
		least.name = min(least.name, 16) // Both together name the Job.
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

// leastWidths is how narrow columns may be cut.
type leastWidths struct{ name, status, why, managedBy int }

// fullWhyFrom is from how many columns on the reasons are not cut: other columns are left out first.
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

// fullHeadersFrom is from how many columns of the screen on all headers are those of status.
const fullHeadersFrom = 180

// headerFor is the header that status has, or a shorter one.
func headerFor(p *widget.Paint, status, short string) string {
	if p.Width < fullHeadersFrom {
		return short
	}
	return status
}

// ageColumn is dropped later than most: it separates the Jobs of tonight from those of last week.
func (s *listScreen) ageColumn(p *widget.Paint) layout.Column {
	c := layout.Column{Header: columnAge, Width: timeWidth, Right: true, Drop: 2}
	switch {
	case p.Absolute:
		c.Header, c.Width, c.Drop = "CREATED", len(p.Clock(s.stats.earliest)), 0 // They were asked for.
	case p.Width < 100:
		c.Width = 0
	}
	if s.table.Sorting.By == jobsByAge {
		c.Header += " " + s.table.Sorting.Mark(p)
	}
	return c
}

// The columns that may be missing, by their place.
const (
	namespaceColumn     = 0
	activeColumn        = 4
	terminatingColumn   = 5
	failedIndexesColumn = 7
	managedByColumn     = 9
	durationColumn      = 10
)

// hasColumn reports whether a screen of this width has a column. No column comes or goes because of what Jobs do.
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
		layout.Plainly(section.Active(o)), countCell(o.Terminating, layout.Special), countCell(&o.Failed, section.FailureStyle(o.Fate)),
		layout.Of(layout.Text(layout.Bad, failedIndexesOf(p, o))), whyCell(p, o), managedCell(p, o), layout.Plainly(duration), ageCell(p, o.Created),
	}, func(i int) bool { return s.hasColumn(p, i) })
}

// cutTo cuts cells to the widths of their columns: a longer reason would move the columns behind it.
func cutTo(columns []layout.Column, cells []layout.Line, ellipsis string) []layout.Line {
	for i, c := range columns {
		if c.Width > 0 && c.Min > 0 && !c.Middle {
			cells[i] = cells[i].Cut(max(c.Width, layout.Width(c.Header)), ellipsis)
		}
	}
	return cells
}

// countCell is a number; nothing is muted.
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

// failedIndexesOf is how many there are, and the list, which may be cut.
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

// whyCell is what is wrong with the Job.
func whyCell(p *widget.Paint, o *explain.Outline) layout.Line {
	style := layout.Warn
	if o.Stalled == nil && (o.Fate == explain.FateFailed || o.Fate == explain.FateFailing) {
		style = layout.Bad
	}
	return layout.Of(layout.Text(style, words.Why(o, p.Now)))
}

// reasonOf is that of the condition, or why the Job is stalled, or that it has no controller.
func reasonOf(o *explain.Outline) string {
	switch {
	case o.Reason == "" && o.Stalled != nil:
		return o.Stalled.Reason
	case o.Reason == "" && o.Neglected:
		return notReconciled
	}
	return o.Reason
}

// managerOf is the controller of managedBy. On a narrow screen, its domain is cut to the first
// label.
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

// managedCell is the controller, and that it does not reconcile the Job if the reason shows
// something else.
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
