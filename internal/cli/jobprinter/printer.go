package jobprinter

import (
	"fmt"
	"io"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// Printer writes Jobs in one output format.
type Printer interface {
	// Snapshot writes what a get or a list returned: the object itself if single, otherwise a list.
	Snapshot(jobs []*unstructured.Unstructured, single bool) error
	// Rows writes each of these Jobs, in order. If deleted, they show their last state.
	Rows(jobs []*unstructured.Unstructured, deleted bool) error
	// Signature is equal for two states of a Job if the second needs no row of its own.
	Signature(job *unstructured.Unstructured) (string, error)
}

// TablePrinter is the default output and -o wide. Columns keep their width over the calls, and only grow.
type TablePrinter struct {
	table       Table
	now         func() time.Time
	fullIndexes bool
	headers     bool // still to be written
	Follow      bool // more rows will follow
	w           tabWriter
}

// tabWriter aligns what was written up to Flush.
type tabWriter interface {
	io.Writer
	Flush() error
}

// NewTablePrinter returns a printer for a table with these columns.
func NewTablePrinter(out io.Writer, table Table, headers, fullIndexes bool, now func() time.Time) *TablePrinter {
	return &TablePrinter{table: table, now: now, fullIndexes: fullIndexes, headers: headers, w: printers.GetNewTabWriter(out)}
}

// Snapshot implements Printer.
func (p *TablePrinter) Snapshot(jobs []*unstructured.Unstructured, _ bool) error {
	return p.Rows(jobs, false)
}

// Rows implements Printer.
func (p *TablePrinter) Rows(jobs []*unstructured.Unstructured, deleted bool) error {
	if len(jobs) == 0 {
		return nil
	}
	if p.headers {
		p.headers = false
		writeCells(p.w, p.headerCells())
	}
	now := p.now()
	for _, object := range jobs {
		job, err := cmdutil.ToJob(object)
		if err != nil {
			return err
		}
		writeCells(p.w, p.table.row(p.rowOf(object, job, now, deleted)))
	}
	return p.w.Flush()
}

func (p *TablePrinter) rowOf(object *unstructured.Unstructured, job *batchv1.Job, now time.Time, deleted bool) Row {
	return Row{Job: job, Now: now, Stalled: stallOf(object), object: object.Object, deleted: deleted, fullIndexes: p.fullIndexes}
}

// headerCells leaves room for the longest STATUS where rows will follow, so that a Job that ends does not shift the table.
func (p *TablePrinter) headerCells() []string {
	cells := p.table.headers()
	for i, header := range cells {
		if p.Follow && header == statusHeader {
			cells[i] = fmt.Sprintf("%-*s", len(batchv1.JobSuccessCriteriaMet), header)
		}
	}
	return cells
}

// writeCells needs no error: a tab writer keeps it for Flush.
func writeCells(w io.Writer, cells []string) {
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// Signature implements Printer.
func (p *TablePrinter) Signature(object *unstructured.Unstructured) (string, error) {
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return "", err
	}
	return p.table.signature(p.rowOf(object, job, time.Time{}, false)), nil
}

// ObjectPrinter writes the objects themselves: JSON, YAML and templates. Every new version of a Job is a change.
type ObjectPrinter struct {
	Out     io.Writer
	Printer printers.ResourcePrinter
}

// Snapshot implements Printer.
func (p *ObjectPrinter) Snapshot(jobs []*unstructured.Unstructured, single bool) error {
	if single {
		return p.Rows(jobs, false)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{
		"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""},
	}}
	for _, job := range jobs {
		list.Items = append(list.Items, *job)
	}
	return p.Printer.PrintObj(list, p.Out)
}

// Rows implements Printer.
func (p *ObjectPrinter) Rows(jobs []*unstructured.Unstructured, _ bool) error {
	for _, job := range jobs {
		if err := p.Printer.PrintObj(job, p.Out); err != nil {
			return err
		}
	}
	return nil
}

// Signature implements Printer.
func (p *ObjectPrinter) Signature(job *unstructured.Unstructured) (string, error) {
	signature := job.GetResourceVersion()
	if stall := stallOf(job); stall != nil {
		signature += "\n" + stall.Reason
	}
	return signature, nil
}

// NamePrinter writes job.batch/NAME.
type NamePrinter struct{ Out io.Writer }

// Snapshot implements Printer.
func (p *NamePrinter) Snapshot(jobs []*unstructured.Unstructured, _ bool) error {
	return p.Rows(jobs, false)
}

// Rows implements Printer.
func (p *NamePrinter) Rows(jobs []*unstructured.Unstructured, _ bool) error {
	for _, job := range jobs {
		if _, err := fmt.Fprintf(p.Out, "job.batch/%s\n", sanitize.Line(job.GetName())); err != nil {
			return err
		}
	}
	return nil
}

// Signature implements Printer.
func (p *NamePrinter) Signature(job *unstructured.Unstructured) (string, error) {
	return job.GetResourceVersion(), nil
}
