package cli

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

const (
	cellNone      = "-"    // the API server has no value
	cellEmpty     = "none" // it has one, and it is an empty list of indexes
	cellBuiltIn   = "built-in"
	cellUnknown   = "<unknown>" // kubectl's word for a missing creation time
	statusDeleted = "Deleted"   // only in -w, for a Job that is gone
	indexesLimit  = 20          // soft limit of an index list in a cell, see explain.Crop
)

// jobView is what the cells of one row are made from. Nothing else is read, so a row is a function of it.
type jobView struct {
	job         *batchv1.Job
	now         time.Time
	deleted     bool // the Job is gone, job is its last state
	fullIndexes bool // do not crop index lists
}

// outline is what other views of Jobs make their rows from.
func (v jobView) outline() *explain.Outline {
	o := analysis.OutlineOf(v.job, nil, v.now)
	return &o
}

// column is one column of the table of Jobs.
type column struct {
	header string
	cell   func(jobView) string
	ticks  bool // changes with time alone, so it is no reason to print a row again
}

const statusHeader = "STATUS"

// jobTable is the choice of columns.
type jobTable struct {
	namespaces bool // NAMESPACE first
	wide       bool
}

func (t jobTable) columns() []column {
	var columns []column
	if t.namespaces {
		columns = append(columns, column{header: "NAMESPACE", cell: func(v jobView) string { return v.job.Namespace }})
	}
	columns = append(columns,
		column{header: "NAME", cell: func(v jobView) string { return v.job.Name }},
		column{header: statusHeader, cell: statusCell},
		column{header: "COMPLETIONS", cell: completionsCell},
		column{header: "ACTIVE(READY)", cell: activeCell},
		column{header: "TERMINATING", cell: func(v jobView) string { return countOrNone(v.job.Status.Terminating) }},
		column{header: "FAILED", cell: func(v jobView) string { return fmt.Sprint(v.job.Status.Failed) }},
		column{header: "FAILED INDEXES", cell: failedIndexesCell},
		column{header: "MANAGED BY", cell: managedByCell},
		column{header: "DURATION", cell: durationCell, ticks: true},
		column{header: "AGE", cell: ageCell, ticks: true},
	)
	if t.wide {
		columns = append(columns,
			column{header: "REASON", cell: reasonCell},
			column{header: "MODE", cell: modeCell},
			column{header: "COMPLETED INDEXES", cell: completedIndexesCell},
			column{header: "UNCOUNTED", cell: uncountedCell},
			column{header: "STARTED", cell: func(v jobView) string { return timeOrNone(v.job.Status.StartTime) }},
			column{header: "FINISHED", cell: func(v jobView) string { return timeOrNone(analysis.FinishedAt(v.job)) }},
			column{header: "CONTAINERS", cell: containersCell},
			column{header: "IMAGES", cell: imagesCell},
		)
	}
	return columns
}

// headers are the column names.
func (t jobTable) headers() []string {
	var headers []string
	for _, c := range t.columns() {
		headers = append(headers, c.header)
	}
	return headers
}

// row is the row of one Job, safe for a terminal.
func (t jobTable) row(v jobView) []string {
	var cells []string
	for _, c := range t.columns() {
		cells = append(cells, sanitize.Line(c.cell(v)))
	}
	return cells
}

// signature is equal for two views of a Job that show nothing different but the passing of time.
func (t jobTable) signature(v jobView) string {
	var b strings.Builder
	for _, c := range t.columns() {
		if !c.ticks {
			b.WriteString(sanitize.Line(c.cell(v)))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func statusCell(v jobView) string {
	if v.deleted {
		return statusDeleted
	}
	return analysis.Status(v.job)
}

// reasonCell is the reason of the condition that decides the STATUS. A Job that is being deleted shows what was decided
// before.
func reasonCell(v jobView) string {
	for _, kind := range []batchv1.JobConditionType{
		batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet,
	} {
		if c := reconcile.TrueCondition(v.job, kind); c != nil {
			return orNone(c.Reason)
		}
	}
	return cellNone
}

func completionsCell(v jobView) string { return section.Completions(v.outline()) }

func activeCell(v jobView) string { return section.Active(v.outline()) }

func failedIndexesCell(v jobView) string {
	if v.job.Status.FailedIndexes == nil {
		return cellNone
	}
	return v.indexes(*v.job.Status.FailedIndexes)
}

func completedIndexesCell(v jobView) string {
	if modeCell(v) != string(batchv1.IndexedCompletion) {
		return cellNone
	}
	return v.indexes(v.job.Status.CompletedIndexes)
}

func (v jobView) indexes(list string) string {
	switch {
	case list == "":
		return cellEmpty
	case v.fullIndexes:
		return list
	}
	return explain.Crop(list, indexesLimit)
}

// managedByCell also says that whoever should has not worked on the Job, as with a
// mistyped name (MGB-12).
func managedByCell(v jobView) string {
	by := cellBuiltIn
	if v.job.Spec.ManagedBy != nil {
		by = orNone(*v.job.Spec.ManagedBy)
	}
	if analysis.IsNeglected(v.job, v.now) {
		by += " (not reconciled)"
	}
	return by
}

func modeCell(v jobView) string {
	return orNone(string(jobspec.CompletionMode(&v.job.Spec)))
}

// uncountedCell is how many finished pods are recorded but not counted yet: succeeded+failed.
func uncountedCell(v jobView) string {
	uncounted := v.job.Status.UncountedTerminatedPods
	if uncounted == nil {
		return cellNone
	}
	return fmt.Sprintf("%d+%d", len(uncounted.Succeeded), len(uncounted.Failed))
}

// durationCell ends with the Job. A failed Job has no completionTime; its end is the transition of Failed.
func durationCell(v jobView) string {
	ran := section.Ran(v.outline(), v.now)
	if ran < 0 {
		return cellNone
	}
	return wording.Duration(ran)
}

func ageCell(v jobView) string {
	if v.job.CreationTimestamp.IsZero() {
		return cellUnknown
	}
	return wording.Duration(max(0, v.now.Sub(v.job.CreationTimestamp.Time)))
}

func containersCell(v jobView) string {
	var names []string
	for _, c := range v.job.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	return orNone(strings.Join(names, ","))
}

func imagesCell(v jobView) string {
	var images []string
	for _, c := range v.job.Spec.Template.Spec.Containers {
		images = append(images, c.Image)
	}
	return orNone(strings.Join(images, ","))
}

func countOrNone(n *int32) string {
	if n == nil {
		return cellNone
	}
	return fmt.Sprint(*n)
}

func orNone(s string) string {
	if s == "" {
		return cellNone
	}
	return s
}

func timeOrNone(t *metav1.Time) string {
	if t.IsZero() {
		return cellNone
	}
	return t.UTC().Format(time.RFC3339)
}
