package text

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
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

// minWidth is the narrowest layout; a terminal below it breaks lines itself.
const minWidth = 40

// span is a piece of text in one style. Its text may be anything: page makes it safe.
type span struct {
	text  string
	style Style
}

func plain(text string) span               { return span{text: text} }
func styled(style Style, text string) span { return span{text: text, style: style} }

// line is what stands on one line, if there is room.
type line []span

// page collects what is drawn. Lines enter the buffer in emit only, which makes each span
// safe before it gets its style.
type page struct {
	buf    bytes.Buffer
	opts   Options
	glyphs Glyphs
	// ascii replaces marks that texts of the Report are written with, nil to keep them.
	ascii *strings.Replacer
	// begun says that a blank line separates what follows.
	begun bool
	// lines takes what is drawn in place of the buffer, if it is not nil.
	lines *[]Line
}

func newPage(o Options) *page {
	if o.Width > 0 && o.Width < minWidth {
		o.Width = minWidth
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	p := &page{opts: o, glyphs: NewGlyphs(o.ASCII)}
	if o.ASCII {
		p.ascii = strings.NewReplacer("“", `"`, "”", `"`, "…", p.glyphs.Ellipsis)
	}
	return p
}

// clean makes text safe for the terminal; again does not change it.
func (p *page) clean(text string) string {
	text = sanitize.Line(text)
	if p.ascii != nil {
		return p.ascii.Replace(text)
	}
	return text
}

func (p *page) writeTo(w io.Writer) error {
	_, err := w.Write(p.buf.Bytes())
	return err
}

// emit writes one line as it is: the only way into the buffer.
func (p *page) emit(indent int, spans line) {
	p.begun = true
	if p.lines != nil {
		*p.lines = append(*p.lines, p.exported(indent, spans))
		return
	}
	var b strings.Builder
	pad(&b, indent)
	for _, s := range merge(spans) {
		text := p.clean(s.text)
		if p.opts.Color {
			text = s.style.Render(text)
		}
		b.WriteString(text)
	}
	p.buf.WriteString(strings.TrimRight(b.String(), " "))
	p.buf.WriteByte('\n')
}

// merge joins neighbours of the same style.
func merge(spans line) line {
	var merged line
	for _, s := range spans {
		if n := len(merged); n > 0 && merged[n-1].style == s.style {
			merged[n-1].text += s.text
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

func pad(b *strings.Builder, columns int) {
	for range columns {
		b.WriteByte(' ')
	}
}

// para writes a paragraph, wrapped at the width; lines after the first begin at hang.
func (p *page) para(indent, hang int, spans ...span) {
	for i, l := range p.wrap(spans, p.room(indent), p.room(hang)) {
		if i == 0 {
			p.emit(indent, l)
			continue
		}
		p.emit(hang, l)
	}
}

// room is how many columns are left of an indent, 0 for any number.
func (p *page) room(indent int) int {
	if p.opts.Width == 0 {
		return 0
	}
	return max(p.opts.Width-indent, 8)
}

// blank separates from what was written before.
func (p *page) blank() {
	if !p.begun {
		return
	}
	p.begun = false
	if p.lines != nil {
		*p.lines = append(*p.lines, nil)
		return
	}
	p.buf.WriteByte('\n')
}

// title begins a section; note stands behind it.
func (p *page) title(title, note string) {
	p.blank()
	spans := line{styled(Strong, title)}
	if note != "" {
		spans = append(spans, plain(": "+note))
	}
	p.para(0, indentSection, spans...)
}

// command writes what can be copied, on a line of its own that is never wrapped.
func (p *page) command(indent int, command string) {
	if command != "" {
		p.emit(indent, line{styled(Faint, "$ "), styled(Command, command)})
	}
}
