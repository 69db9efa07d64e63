package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Options describe the terminal and the user's preferences.
type Options struct {
	// Width is the width of the terminal in columns, 0 for lines of any length.
	Width int
	Color bool
	// ASCII restricts glyphs to ASCII.
	ASCII bool
	// Full disables the truncation of lists and tables.
	Full bool
	// Absolute shows times of day instead of "3s ago".
	Absolute bool
	// Again is the command that shows the whole of a Short explanation: "" for the flag --full of the same command.
	Again string
	// Location is the time zone, nil for UTC.
	Location *time.Location
	// Namespace is kubectl's default namespace, which commands leave out. If it is "", commands always have a namespace.
	Namespace string
}

// Local returns the command without kubectl's default namespace, which is at the end or before "-o yaml |".
func (o *Options) Local(command string) string {
	if o.Namespace == "" {
		return command
	}
	in := " -n " + explain.ShellWord(o.Namespace)
	for _, rest := range []string{" -o yaml | ", explain.InShell} {
		command = strings.Replace(command, in+rest, rest, 1)
	}
	return strings.TrimSuffix(command, in)
}

// page collects the lines of the output.
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

// Command writes a command without kubectl's default namespace.
func (p *page) Command(indent int, command string) { p.Page.Command(indent, p.opts.Local(command)) }

// again returns the flag or command that shows the whole explanation.
func (p *page) again() string { return cmp.Or(p.opts.Again, "--full") }

// frame returns the Frame of sections below a title.
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

// proseWidth is the minimum width of the last column of a table, which is wrapped.
const proseWidth = 24

// omitted writes the number of rows that a table left out.
func (p *page) omitted(n int64, one, many string) {
	if n == 0 {
		return
	}
	p.Para(indentSection, indentSection, layout.Text(layout.Muted, p.Glyphs.More+" "+wording.Plural(n, "more "+one, "more "+many)))
}

func plain(text string) layout.Span { return layout.Text(layout.Plain, text) }

func cell(style layout.Style, text string) layout.Line { return layout.Of(layout.Text(style, text)) }
