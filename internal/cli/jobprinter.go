package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// jobPrinter writes Jobs in one output format.
type jobPrinter interface {
	// snapshot writes what a get or a list returned: the object when single, else all together.
	snapshot(jobs []*unstructured.Unstructured, single bool) error
	// rows writes each of these Jobs, in order; deleted says that they are gone.
	rows(jobs []*unstructured.Unstructured, deleted bool) error
	// signature is equal for two states of a Job of which the second is not worth another row.
	signature(job *unstructured.Unstructured) (string, error)
}

// tablePrinter is the default output and -o wide. Columns keep their width over the calls, and only grow.
type tablePrinter struct {
	table       jobTable
	now         func() time.Time
	fullIndexes bool
	headers     bool // still to be written
	follow      bool // rows will come that are not known yet
	w           tabWriter
}

// tabWriter aligns what was written up to Flush.
type tabWriter interface {
	io.Writer
	Flush() error
}

func newTablePrinter(out io.Writer, table jobTable, headers, fullIndexes bool, now func() time.Time) *tablePrinter {
	return &tablePrinter{table: table, now: now, fullIndexes: fullIndexes, headers: headers, w: printers.GetNewTabWriter(out)}
}

func (p *tablePrinter) snapshot(jobs []*unstructured.Unstructured, _ bool) error {
	return p.rows(jobs, false)
}

func (p *tablePrinter) rows(jobs []*unstructured.Unstructured, deleted bool) error {
	if len(jobs) == 0 {
		return nil
	}
	if p.headers {
		p.headers = false
		writeCells(p.w, p.headerCells())
	}
	now := p.now()
	for _, object := range jobs {
		job, err := toJob(object)
		if err != nil {
			return err
		}
		writeCells(p.w, p.table.row(jobView{job: job, now: now, deleted: deleted, fullIndexes: p.fullIndexes}))
	}
	return p.w.Flush()
}

// headerCells leaves room for the longest STATUS where rows will follow, so that a Job that ends does not shift the table.
func (p *tablePrinter) headerCells() []string {
	cells := p.table.headers()
	for i, header := range cells {
		if p.follow && header == statusHeader {
			cells[i] = fmt.Sprintf("%-*s", len(batchv1.JobSuccessCriteriaMet), header)
		}
	}
	return cells
}

// writeCells needs no error: a tab writer keeps it for Flush.
func writeCells(w io.Writer, cells []string) {
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

func (p *tablePrinter) signature(object *unstructured.Unstructured) (string, error) {
	job, err := toJob(object)
	if err != nil {
		return "", err
	}
	return p.table.signature(jobView{job: job, fullIndexes: p.fullIndexes}), nil
}

// objectPrinter writes the objects themselves: JSON, YAML and templates. Every new version of a Job is a change.
type objectPrinter struct {
	out     io.Writer
	printer printers.ResourcePrinter
}

func (p *objectPrinter) snapshot(jobs []*unstructured.Unstructured, single bool) error {
	if single {
		return p.rows(jobs, false)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{
		"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""},
	}}
	for _, job := range jobs {
		list.Items = append(list.Items, *job)
	}
	return p.printer.PrintObj(list, p.out)
}

func (p *objectPrinter) rows(jobs []*unstructured.Unstructured, _ bool) error {
	for _, job := range jobs {
		if err := p.printer.PrintObj(job, p.out); err != nil {
			return err
		}
	}
	return nil
}

func (p *objectPrinter) signature(job *unstructured.Unstructured) (string, error) {
	return job.GetResourceVersion(), nil
}

// namePrinter writes job.batch/NAME.
type namePrinter struct{ out io.Writer }

func (p *namePrinter) snapshot(jobs []*unstructured.Unstructured, _ bool) error {
	return p.rows(jobs, false)
}

func (p *namePrinter) rows(jobs []*unstructured.Unstructured, _ bool) error {
	for _, job := range jobs {
		if _, err := fmt.Fprintf(p.out, "job.batch/%s\n", sanitize.Line(job.GetName())); err != nil {
			return err
		}
	}
	return nil
}

func (p *namePrinter) signature(job *unstructured.Unstructured) (string, error) {
	return job.GetResourceVersion(), nil
}

// objectFormats are the values of -o beside wide.
func objectFormats() []string {
	formats := genericclioptions.NewPrintFlags("").AllowedFormats()
	slices.Sort(formats)
	return formats
}
