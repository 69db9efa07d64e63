package text

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Options say for whom is drawn.
type Options struct {
	// Width is that of the terminal in columns, 0 for lines of any length.
	Width int
	Color bool
	// ASCII says that only glyphs of ASCII can be shown.
	ASCII bool
	// Full shows lists and tables to their end.
	Full bool
	// Location is the time zone, nil for UTC.
	Location *time.Location
}

// page collects what is drawn.
type page struct {
	*layout.Page
	opts Options
}

func newPage(o Options) *page {
	if o.Location == nil {
		o.Location = time.UTC
	}
	return &page{Page: layout.NewPage(o.Width, o.ASCII), opts: o}
}

func (p *page) writeTo(w io.Writer) error {
	theme := &layout.Theme{}
	if p.opts.Color {
		theme = layout.NewTheme(layout.Unknown)
	}
	out := bufio.NewWriter(w)
	for _, l := range p.Lines() {
		fmt.Fprintln(out, theme.Render(l))
	}
	return out.Flush()
}

// table is one with a row for each line of text in its last column.
type table struct {
	columns []layout.Column
	rows    [][]layout.Line
}

func (t *table) add(cells ...layout.Line) { t.rows = append(t.rows, cells) }

// below adds lines to the last column.
func (t *table) below(lines ...layout.Line) {
	for _, l := range lines {
		t.rows = append(t.rows, append(make([]layout.Line, len(t.columns)-1), l))
	}
}

func (p *page) table(indent int, t table) { p.Table(indent, t.columns, t.rows) }

// prose is the last column of a table, which is wrapped.
func prose(header string) layout.Column {
	const proseWidth = 24
	return layout.Column{Header: header, Wrap: true, Min: proseWidth}
}

func plain(text string) layout.Span { return layout.Text(layout.Plain, text) }

func cell(style layout.Style, text string) layout.Line { return layout.Of(layout.Text(style, text)) }
