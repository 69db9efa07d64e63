// Package jobprinter prints Jobs as a table, as objects, or by name.
package jobprinter

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
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
	Refused     *explain.Stall // nil if all pods can be created
	Why         *explain.Why   // nil if no failed pod is known
	object      map[string]any // the object that Job was decoded from
	deleted     bool           // the Job is gone, and Job is its last state
	fullIndexes bool           // do not crop index lists

	outlined *explain.Outline // cached result of outline

	owner  *section.Owner // set for the row of an owner, which has no Job
	indent string         // of the name of a Job below the row of its owner
}

// outline returns the Job's outline, from which other views of Jobs make their rows, too.
func (v Row) outline() *explain.Outline {
	if v.outlined != nil {
		return v.outlined
	}
	o := analysis.OutlineOf(v.Job, nil, v.Now)
	o.Stalled, o.Refused, o.Why = v.Stalled, v.Refused, v.Why
	return &o
}

// column is a column of the table of Jobs.
type column = layout.Column[Row]

// Table chooses the columns.
type Table struct {
	Namespaces bool // NAMESPACE first
	Wide       bool
	// Narrow omits the columns that do not fit into a terminal narrower than NarrowBelow.
	Narrow bool
	// ByOwner puts Jobs below a row of their owner.
	ByOwner bool
	// LabelColumns are labels with a column of their own; ShowLabels adds a last column with all labels.
	LabelColumns []string
	ShowLabels   bool
	custom       []column // replaces all other columns
	whyWidth     int      // the maximum width of WHY, 0 for the usual one
}

// leastNarrowWhy is the least width of WHY on a narrow terminal.
const leastNarrowWhy = 16

// NarrowBelow is the least width in characters of a terminal that shows all columns of the table that is not wide.
const NarrowBelow = 100

// columns returns the columns. follow reserves space for the longest STATUS and WHY, so that a Job that ends does not shift
// the rows below.
func (t *Table) columns(follow bool) []column {
	if t.custom != nil {
		return t.custom
	}
	statusWidth, whyWidth := 0, 0
	if follow {
		statusWidth, whyWidth = len("Terminating"), words.WhyWidth
	}
	why, leastWhy := max(words.WhyWidth, t.whyWidth), words.WhyWidth
	if t.Narrow {
		leastWhy = leastNarrowWhy
	}
	order := 1 // in which columns are dropped so that WHY fits; a wide table has all of them
	if t.Wide {
		order = 0
	}
	columns := []column{
		{Header: section.NamespaceColumn, Hidden: !t.Namespaces, Min: 9, Middle: true, Text: func(v *Row) string { return v.Job.Namespace }},
		{Header: section.NameColumn, Min: 12, Middle: true, Text: func(v *Row) string { return v.indent + v.Job.Name }},
		{Header: "STATUS", Width: statusWidth, Cell: func(v *Row) layout.Line {
			o := v.outline()
			_, style := section.JobMark(&layout.Glyphs{}, o.Outcome, o.Stalled != nil, o.Status == string(batchv1.JobSuspended))
			return layout.Of(layout.Text(style, v.Status()))
		}},
		{Header: "DONE", Text: (*Row).Completions},
		{Header: "ACTIVE(READY)", Hidden: !t.Wide, Text: func(v *Row) string { return section.Active(v.outline()) }},
		{Header: "FAILED", Drop: order, Cell: func(v *Row) layout.Line {
			o, style := v.outline(), layout.Plain
			if o.Failures() > 0 {
				style = section.FailureStyle(o.Outcome)
			}
			return layout.Of(layout.Text(style, wording.Thousands(o.Failures())))
		}},
		{Header: "FAILED INDEXES", Hidden: t.Narrow, Min: 14, Drop: 2 * order, Text: failedIndexesCell},
		{Header: "TERMINATING", Hidden: t.Narrow, Drop: 3 * order, Text: terminatingCell},
		// In a signature, which has no time, WHY omits the next retry.
		{Header: section.WhyColumn, Width: whyWidth, Min: leastWhy, Text: func(v *Row) string { return OrNone(words.Why(v.outline(), v.Now, why)) }},
		{Header: "RUN BY", Hidden: !t.Wide, Text: (*Row).ManagedBy},
		{Header: "DURATION", Hidden: !t.Wide, Text: (*Row).Duration},
		{Header: "AGE", Drop: order, Text: ageCell},
		{Header: "REASON", Hidden: !t.Wide, Text: reasonCell},
		{Header: "MODE", Hidden: !t.Wide, Text: modeCell},
		{Header: "COMPLETED INDEXES", Hidden: !t.Wide, Text: completedIndexesCell},
		{Header: "UNCOUNTED", Hidden: !t.Wide, Text: uncountedCell},
		{Header: "STARTED", Hidden: !t.Wide, Text: func(v *Row) string { return timeOrNone(v.Job.Status.StartTime) }},
		{Header: "FINISHED", Hidden: !t.Wide, Text: func(v *Row) string { return timeOrNone(analysis.FinishedAt(v.Job)) }},
		{Header: "CONTAINERS", Hidden: !t.Wide, Text: func(v *Row) string {
			return containersCell(v, func(c *corev1.Container) string { return c.Name })
		}},
		{Header: "IMAGES", Hidden: !t.Wide, Text: func(v *Row) string {
			return containersCell(v, func(c *corev1.Container) string { return c.Image })
		}},
	}
	for _, label := range t.LabelColumns {
		header := strings.ToUpper(label[strings.LastIndexByte(label, '/')+1:])
		columns = append(columns, column{Header: header, Text: func(v *Row) string { return OrNone(v.Job.Labels[label]) }})
	}
	columns = append(columns, column{
		Header: "LABELS", Hidden: !t.ShowLabels, Text: func(v *Row) string { return labels.FormatLabels(v.Job.Labels) },
	})
	columns = slices.DeleteFunc(columns, func(c column) bool { return c.Hidden })
	if t.ByOwner {
		return section.WithOwners(columns, func(v *Row) *section.Owner { return v.owner })
	}
	return columns
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
func reasonCell(v *Row) string {
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

// Completions returns n/m, or n/1 with the parallelism if the Job is a work queue.
func (v Row) Completions() string { return section.Completions(v.outline()) }

func failedIndexesCell(v *Row) string {
	if v.Job.Status.FailedIndexes == nil {
		return None
	}
	return v.indexes(*v.Job.Status.FailedIndexes)
}

func completedIndexesCell(v *Row) string {
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
	return wording.Crop(list, IndexesLimit, "…")
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

func modeCell(v *Row) string {
	return OrNone(string(jobspec.CompletionMode(&v.Job.Spec)))
}

// uncountedCell returns the numbers of finished pods that are recorded but not counted yet: succeeded+failed.
func uncountedCell(v *Row) string {
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

func ageCell(v *Row) string {
	if v.Job.CreationTimestamp.IsZero() {
		return cellUnknown
	}
	return wording.Age(v.Now.Sub(v.Job.CreationTimestamp.Time))
}

// containersCell lists a value of each container.
func containersCell(v *Row, of func(*corev1.Container) string) string {
	var values []string
	for i := range v.Job.Spec.Template.Spec.Containers {
		values = append(values, of(&v.Job.Spec.Template.Spec.Containers[i]))
	}
	return OrNone(strings.Join(values, ","))
}

func terminatingCell(v *Row) string {
	if v.Job.Status.Terminating == nil {
		return None
	}
	return wording.Thousands(*v.Job.Status.Terminating)
}

// OrNone returns s, or None if it is empty.
func OrNone(s string) string { return cmp.Or(s, None) }

func timeOrNone(t *metav1.Time) string {
	if t.IsZero() {
		return None
	}
	return t.UTC().Format(time.RFC3339)
}
