// Package jobprinter prints Jobs as a table, as objects, or by name.
package jobprinter

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Words in cells, and the length limit of a list of indexes.
const (
	None          = "-"    // the API server has no value
	cellEmpty     = "none" // it has a value, which is an empty list of indexes
	cellBuiltIn   = "built-in"
	cellUnknown   = "<unknown>" // kubectl's word for a missing creation time
	StatusDeleted = "Deleted"   // only in -w, for a Job that is gone
	IndexesLimit  = 20          // soft limit of an index list in a cell, see explain.Crop
)

// Row is the input of the cells of one row.
type Row struct {
	Job         *batchv1.Job
	Now         time.Time
	Stalled     *explain.Stall // nil if no stall is known
	Why         *explain.Why   // nil if no failed pod is known
	object      map[string]any // the object that Job was decoded from
	deleted     bool           // the Job is gone, and Job is its last state
	fullIndexes bool           // do not crop index lists

	outlined *explain.Outline // cached result of outline
}

// withOutline returns the row with its outline, which is computed once for all cells.
func (v Row) withOutline() Row {
	v.outlined = v.outline()
	return v
}

// outline returns the Job's outline, from which other views of Jobs make their rows, too.
func (v Row) outline() *explain.Outline {
	if v.outlined != nil {
		return v.outlined
	}
	o := analysis.OutlineOf(v.Job, nil, v.Now)
	o.Stalled, o.Why = v.Stalled, v.Why
	return &o
}

// column is one column of the table of Jobs.
type column struct {
	header string
	cell   func(Row) string
	ticks  bool                                // changes with time alone, which is no reason to print a row again
	style  func(*explain.Outline) layout.Style // nil for plain
	layout layout.Column                       // how it is fitted to a terminal
}

const (
	statusHeader = "STATUS"
	whyHeader    = "WHY"
)

// Table chooses the columns.
type Table struct {
	Namespaces bool // NAMESPACE first
	Wide       bool
	// Narrow omits the columns that do not fit into a terminal narrower than NarrowBelow.
	Narrow bool
	// LabelColumns are labels with a column of their own; ShowLabels adds a last column with all labels.
	LabelColumns []string
	ShowLabels   bool
	custom       []column // replaces all other columns
}

// NarrowBelow is the least width in characters of a terminal that shows all columns of the table that is not wide.
const NarrowBelow = 100

func (t Table) columns() []column {
	if t.custom != nil {
		return t.custom
	}
	var columns []column
	if t.Namespaces {
		columns = append(columns, column{header: "NAMESPACE", cell: func(v Row) string { return v.Job.Namespace }, layout: layout.Column{Min: 9, Middle: true}})
	}
	columns = append(columns,
		column{header: "NAME", cell: func(v Row) string { return v.Job.Name }, layout: layout.Column{Min: 12, Middle: true}},
		column{header: statusHeader, cell: Row.Status, style: statusStyle},
		column{header: "DONE", cell: Row.Completions},
	)
	if t.Wide {
		columns = append(columns, column{header: "ACTIVE(READY)", cell: activeCell})
	}
	columns = append(columns, column{header: "FAILED", cell: func(v Row) string { return wording.Thousands(v.Job.Status.Failed) }, style: failedStyle})
	if !t.Narrow {
		columns = append(columns,
			column{header: "FAILED INDEXES", cell: failedIndexesCell, layout: layout.Column{Min: 14}},
			column{header: "TERMINATING", cell: func(v Row) string { return countOrNone(v.Job.Status.Terminating) }},
		)
	}
	columns = append(columns, column{header: whyHeader, cell: Row.whyCell, layout: layout.Column{Min: 16}})
	if t.Wide {
		columns = append(columns, column{header: "RUN BY", cell: Row.ManagedBy}, column{header: "DURATION", cell: Row.Duration, ticks: true})
	}
	columns = append(columns, column{header: "AGE", cell: ageCell, ticks: true})
	if t.Wide {
		columns = append(columns,
			column{header: "REASON", cell: reasonCell},
			column{header: "MODE", cell: modeCell},
			column{header: "COMPLETED INDEXES", cell: completedIndexesCell},
			column{header: "UNCOUNTED", cell: uncountedCell},
			column{header: "STARTED", cell: func(v Row) string { return timeOrNone(v.Job.Status.StartTime) }},
			column{header: "FINISHED", cell: func(v Row) string { return timeOrNone(analysis.FinishedAt(v.Job)) }},
			column{header: "CONTAINERS", cell: containersCell},
			column{header: "IMAGES", cell: imagesCell},
		)
	}
	return append(columns, t.labelColumns()...)
}

func statusStyle(o *explain.Outline) layout.Style {
	_, style := section.JobMark(&layout.Glyphs{}, o.Outcome, o.Stalled != nil, o.Status == string(batchv1.JobSuspended))
	return style
}

func failedStyle(o *explain.Outline) layout.Style {
	if o.Failed == 0 {
		return layout.Plain
	}
	return section.FailureStyle(o.Outcome)
}

func (t Table) labelColumns() []column {
	var columns []column
	for _, label := range t.LabelColumns {
		header := strings.ToUpper(label[strings.LastIndexByte(label, '/')+1:])
		columns = append(columns, column{header: header, cell: func(v Row) string { return OrNone(v.Job.Labels[label]) }})
	}
	if t.ShowLabels {
		columns = append(columns, column{header: "LABELS", cell: func(v Row) string { return labels.FormatLabels(v.Job.Labels) }})
	}
	return columns
}

// layout returns the layouts of the columns.
func (t Table) layout() []layout.Column {
	var columns []layout.Column
	for _, c := range t.columns() {
		l := c.layout
		l.Header = sanitize.Line(c.header)
		columns = append(columns, l)
	}
	return columns
}

// row returns the cells of one Job, safe for a terminal.
func (t Table) row(v Row) []layout.Line {
	v = v.withOutline()
	var cells []layout.Line
	for _, c := range t.columns() {
		style := layout.Plain
		if c.style != nil {
			style = c.style(v.outlined)
		}
		cells = append(cells, layout.Of(layout.Text(style, sanitize.Line(c.cell(v)))))
	}
	return cells
}

// signature is equal for two states of a Job that differ only by the passing of time.
func (t Table) signature(v Row) string {
	v = v.withOutline()
	var b strings.Builder
	for _, c := range t.columns() {
		if !c.ticks {
			b.WriteString(c.cell(v))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Status returns the STATUS of the Job.
func (v Row) Status() string {
	if v.deleted {
		return StatusDeleted
	}
	return section.RowStatus(v.outline())
}

// reasonCell returns the reason of the condition that decides the STATUS. A Job that is being deleted shows the
// reason of its earlier condition.
func reasonCell(v Row) string {
	for _, kind := range []batchv1.JobConditionType{
		batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet,
	} {
		if c := reconcile.TrueCondition(v.Job, kind); c != nil {
			return OrNone(c.Reason)
		}
	}
	if v.Stalled != nil {
		return v.Stalled.Reason
	}
	return None
}

// whyCell returns the WHY of the Job. In a signature, which has no time, it omits the next retry.
func (v Row) whyCell() string { return OrNone(words.Why(v.outline(), v.Now)) }

// Completions returns n/m, or n/1 with the parallelism if the Job is a work queue.
func (v Row) Completions() string { return section.Completions(v.outline()) }

// Bar draws the progress of the Job, width columns wide.
func (v Row) Bar(ascii bool, width int) string {
	return section.ProgressOf(v.outline()).Bar(&section.Frame{ASCII: ascii}, width).String()
}

func activeCell(v Row) string { return section.Active(v.outline()) }

func failedIndexesCell(v Row) string {
	if v.Job.Status.FailedIndexes == nil {
		return None
	}
	return v.indexes(*v.Job.Status.FailedIndexes)
}

func completedIndexesCell(v Row) string {
	if modeCell(v) != string(batchv1.IndexedCompletion) {
		return None
	}
	return v.indexes(v.Job.Status.CompletedIndexes)
}

func (v Row) indexes(list string) string {
	switch {
	case list == "":
		return cellEmpty
	case v.fullIndexes:
		return list
	}
	return explain.Crop(list, IndexesLimit)
}

// ManagedBy returns the controller of the Job. It adds "(no controller)" if no controller of this name has worked on
// the Job, as with a mistyped name (MGB-12).
func (v Row) ManagedBy() string {
	by := cellBuiltIn
	if v.Job.Spec.ManagedBy != nil {
		by = OrNone(*v.Job.Spec.ManagedBy)
	}
	if analysis.IsNeglected(v.Job, v.Now) {
		by += " (no controller)"
	}
	return by
}

func modeCell(v Row) string {
	return OrNone(string(jobspec.CompletionMode(&v.Job.Spec)))
}

// uncountedCell returns the numbers of finished pods that are recorded but not counted yet: succeeded+failed.
func uncountedCell(v Row) string {
	uncounted := v.Job.Status.UncountedTerminatedPods
	if uncounted == nil {
		return None
	}
	return wording.Thousands(len(uncounted.Succeeded)) + "+" + wording.Thousands(len(uncounted.Failed))
}

// Duration returns the run time, which ends when the Job finishes. A failed Job has no completionTime, so the time of
// its condition counts.
func (v Row) Duration() string {
	ran := section.Ran(v.outline(), v.Now)
	if ran < 0 {
		return None
	}
	return wording.Duration(ran)
}

func ageCell(v Row) string {
	if v.Job.CreationTimestamp.IsZero() {
		return cellUnknown
	}
	return wording.Duration(max(0, v.Now.Sub(v.Job.CreationTimestamp.Time)))
}

func containersCell(v Row) string {
	var names []string
	for _, c := range v.Job.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	return OrNone(strings.Join(names, ","))
}

func imagesCell(v Row) string {
	var images []string
	for _, c := range v.Job.Spec.Template.Spec.Containers {
		images = append(images, c.Image)
	}
	return OrNone(strings.Join(images, ","))
}

func countOrNone(n *int32) string {
	if n == nil {
		return None
	}
	return wording.Thousands(*n)
}

// OrNone returns s, or None if it is empty.
func OrNone(s string) string {
	if s == "" {
		return None
	}
	return s
}

func timeOrNone(t *metav1.Time) string {
	if t.IsZero() {
		return None
	}
	return t.UTC().Format(time.RFC3339)
}
