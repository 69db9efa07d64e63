package jobprinter

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// Printer writes Jobs in one output format.
type Printer interface {
	// Snapshot writes the result of a get or a list: the object itself if single, otherwise a list.
	Snapshot(jobs []*unstructured.Unstructured, single bool) error
	// Rows writes each of these Jobs, in order. If deleted, the Jobs are gone, and these are their last states.
	Rows(jobs []*unstructured.Unstructured, deleted bool) error
	// Signature is equal for two states of a Job if the second one does not need a new row.
	Signature(job *unstructured.Unstructured) (string, error)
}

// TablePrinter prints rows of a Table.
type TablePrinter struct {
	out         io.Writer
	table       Table
	display     cmdutil.Display
	now         func() time.Time
	fullIndexes bool
	headers     bool  // still to be written
	Follow      bool  // more rows will follow
	widths      []int // of the columns so far, if more rows follow
}

// NewTablePrinter returns a printer for a table with these columns.
func NewTablePrinter(out io.Writer, table Table, display cmdutil.Display, headers, fullIndexes bool, now func() time.Time) *TablePrinter {
	return &TablePrinter{out: out, table: table, display: display, now: now, fullIndexes: fullIndexes || !display.Terminal, headers: headers}
}

// Snapshot implements Printer.
func (p *TablePrinter) Snapshot(jobs []*unstructured.Unstructured, _ bool) error {
	return p.Rows(jobs, false)
}

// Rows implements Printer. If more rows follow, columns are as wide as the cells of earlier rows, so that the table does not
// shift.
func (p *TablePrinter) Rows(jobs []*unstructured.Unstructured, deleted bool) error {
	if len(jobs) == 0 {
		return nil
	}
	now := p.now()
	var rows []Row
	for _, object := range jobs {
		row, err := p.rowOf(object, now, deleted)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	p.showWholeIndexes(rows)
	if p.table.ByOwner {
		rows = byOwner(rows)
	}
	p.table.whyWidth = p.roomForWhy(rows)
	columns := p.table.columns(p.Follow)
	for i, width := range p.widths {
		columns[i].Width = max(columns[i].Width, width)
	}
	table := layout.TableOf(columns, rows)
	if p.display.ASCII {
		table.ToASCII()
	}
	if p.Follow {
		p.widths = table.Widths()
	}
	header, lines := table.Lines(p.display.TableWidth(), layout.NewGlyphs(p.display.ASCII).Ellipsis)
	if p.headers {
		p.headers = false
		lines = append([]layout.Line{header}, lines...)
	}
	return p.write(lines)
}

// showWholeIndexes does not crop lists of indexes if the terminal has room for them, beside whole reasons.
func (p *TablePrinter) showWholeIndexes(rows []Row) {
	if p.Follow || p.table.custom != nil || p.display.Width == 0 || p.fullIndexes {
		return
	}
	whole := slices.Clone(rows)
	for i := range whole {
		whole[i].fullIndexes = true
	}
	p.table.whyWidth = words.MostWhy
	if layout.TableOf(p.table.columns(false), whole).Free(p.display.Width) > 0 {
		copy(rows, whole)
	}
}

// roomForWhy returns the width of WHY: all of it unless the width of the terminal limits it. Rows that are followed keep the
// usual width.
func (p *TablePrinter) roomForWhy(rows []Row) int {
	switch {
	case p.Follow || p.table.custom != nil:
		return 0
	case p.display.Width == 0:
		return words.MostWhy
	}
	p.table.whyWidth = 0
	free := layout.TableOf(p.table.columns(false), rows).Free(p.display.Width)
	return words.WhyWidth + max(0, free)
}

func (p *TablePrinter) write(lines []layout.Line) error {
	var theme layout.Theme
	if p.display.Color {
		theme = *layout.NewTheme(layout.Unknown)
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimRight(theme.Render(line), " "))
		text.WriteByte('\n')
	}
	_, err := io.WriteString(p.out, text.String())
	return err
}

func (p *TablePrinter) rowOf(object *unstructured.Unstructured, now time.Time, deleted bool) (Row, error) {
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return Row{}, err
	}
	row := Row{
		Job: job, Now: now, Stalled: valueOf[explain.Stall](object, stalledField), Refused: valueOf[explain.Stall](object, refusedField), Why: whyOf(object),
		object: object.Object, deleted: deleted, fullIndexes: p.fullIndexes,
	}
	row.outlined = row.outline()
	return row, nil
}

// Signature implements Printer. The cells have no time, because the passing of time is no reason to print a row again.
func (p *TablePrinter) Signature(object *unstructured.Unstructured) (string, error) {
	row, err := p.rowOf(object, time.Time{}, false)
	if err != nil {
		return "", err
	}
	_, lines := layout.TableOf(p.table.columns(false), []Row{row}).Lines(cmdutil.Display{}.TableWidth(), "")
	return lines[0].String(), nil
}

// ObjectPrinter writes the objects themselves: JSON, YAML and templates. Every new version of a Job counts as a
// change.
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
	for _, field := range []string{stalledField, refusedField} {
		if stall := valueOf[explain.Stall](job, field); stall != nil {
			signature += "\n" + stall.Reason
		}
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
