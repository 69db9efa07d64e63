package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Options say for whom is drawn.
type Options struct {
	// Width is that of the terminal in columns, 0 for lines of any length.
	Width int
	Color bool
	// ASCII reports whether only glyphs of ASCII can be shown.
	ASCII bool
	// Full shows lists and tables to their end.
	Full bool
	// Again is how to see the whole of a Short explanation: "" for the flag --full of the same command.
	Again string
	// Location is the time zone, nil for UTC.
	Location *time.Location
	// Namespace is the one that kubectl uses where none is given: commands leave it out. With "", they name theirs.
	Namespace string
}

// Local is a command without the namespace that kubectl uses anyway, which comes last or before "-o yaml |".
func (o *Options) Local(command string) string {
	if o.Namespace == "" {
		return command
	}
	in := " -n " + explain.ShellWord(o.Namespace)
	const piped = " -o yaml | "
	return strings.TrimSuffix(strings.Replace(command, in+piped, piped, 1), in)
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

// Command writes a command as one may type it here.
func (p *page) Command(indent int, command string) { p.Page.Command(indent, p.opts.Local(command)) }

// again is how to see the whole.
func (p *page) again() string { return cmp.Or(p.opts.Again, "--full") }

// frame is what sections below a title are drawn for.
func (p *page) frame(now time.Time) *section.Frame {
	return &section.Frame{
		Width: p.Room(indentSection), Now: now, Printed: true, Location: p.opts.Location,
		Glyphs: p.Glyphs, ASCII: p.opts.ASCII, Full: p.opts.Full,
	}
}

// section writes a section below its title, unless it has no lines.
func (p *page) section(s section.Section) {
	if len(s.Lines) > 0 {
		p.Title(s.Title, s.Note)
		p.Place(indentSection, s.Lines...)
	}
}

// prose is the last column of a table, which is wrapped.
func prose(header string) layout.Column {
	const proseWidth = 24
	return layout.Column{Header: header, Wrap: true, Min: proseWidth}
}

// omitted says how much a table left out.
func (p *page) omitted(n int64, one, many string) {
	if n == 0 {
		return
	}
	more := p.Glyphs.More + " " + wording.Plural(n, "more "+one, "more "+many)
	if !p.opts.Full {
		more += ", see --full"
	}
	p.Para(indentSection, indentSection, layout.Text(layout.Muted, more))
}

func plain(text string) layout.Span { return layout.Text(layout.Plain, text) }

func cell(style layout.Style, text string) layout.Line { return layout.Of(layout.Text(style, text)) }
