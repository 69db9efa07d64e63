package layout

import (
	"fmt"
	"math"
	"strings"
)

const (
	// minPage is the narrowest page; a narrower terminal breaks lines itself.
	minPage = 40
	// minRoom is the least that an indent leaves for text.
	minRoom = 8
	// titleHang is the indent of a title's second line, labelWidth that of a field's text.
	titleHang  = 2
	labelWidth = 12
)

// Page collects lines that are read from top to bottom: titles, paragraphs, tables. Only
// commands may be wider than the page: they must stay copyable.
type Page struct {
	Glyphs Glyphs
	width  int
	// ascii replaces the typographic marks of sentences; nil keeps them.
	ascii *strings.Replacer
	lines []Line
}

// NewPage returns an empty page. A width of 0 allows lines of any length.
func NewPage(width int, ascii bool) *Page {
	p := &Page{Glyphs: NewGlyphs(ascii), width: max(width, minPage)}
	if width == 0 {
		p.width = math.MaxInt32
	}
	if ascii {
		p.ascii = strings.NewReplacer("“", `"`, "”", `"`, "…", p.Glyphs.More)
	}
	return p
}

// Lines returns the lines written so far, without trailing spaces.
func (p *Page) Lines() []Line { return p.lines }

// Para writes a paragraph; lines after the first are indented by hang.
func (p *Page) Para(indent, hang int, spans ...Span) {
	for i, l := range wrap(p.shown(spans), p.room(indent), p.room(hang)) {
		if i > 0 {
			indent = hang
		}
		p.write(indent, l)
	}
}

// Blank writes an empty line, unless there is one or the page is empty.
func (p *Page) Blank() {
	if n := len(p.lines); n > 0 && len(p.lines[n-1]) > 0 {
		p.lines = append(p.lines, nil)
	}
}

// Title starts a section; note follows the title.
func (p *Page) Title(title, note string) {
	p.Blank()
	l := Of(Text(Bold, title))
	if note != "" {
		l = append(l, Text(Plain, ": "+note))
	}
	p.Para(0, titleHang, l...)
}

// Field writes a labelled text; a field without text is left out.
func (p *Page) Field(label string, spans ...Span) {
	if Line(spans).Width() > 0 {
		p.Para(0, labelWidth, append(Of(Text(Muted, fmt.Sprintf("%-*s", labelWidth, label))), spans...)...)
	}
}

// Command writes a shell command on a line of its own, never wrapped, so that it can be copied.
func (p *Page) Command(indent int, command string) {
	if command != "" {
		p.write(indent, p.shown(Of(Text(Muted, "$ "), Text(Accent, command))))
	}
}

// Quote writes text of others, such as logs, with a mark before each line.
func (p *Page) Quote(indent int, lines ...string) {
	mark := Text(Muted, p.Glyphs.Quote+" ")
	room := p.room(indent + mark.width)
	for _, text := range lines {
		for _, l := range wrap(p.shown(Plainly(text)), room, room) {
			p.write(indent, append(Of(mark), l...))
		}
	}
}

// Table writes a table, with a header if any column has one. Empty columns are left out.
func (p *Page) Table(indent int, columns []Column, rows [][]Line) {
	if len(rows) == 0 {
		return
	}
	var kept []Column
	headed, cells := false, make([][]Line, len(rows))
	for i, c := range columns {
		if emptyColumn(rows, i) {
			continue
		}
		headed, kept = headed || c.Header != "", append(kept, c)
		for n, row := range rows {
			cells[n] = append(cells[n], p.shown(row[i]))
		}
	}
	header, lines := Table(kept, cells, p.room(indent), p.Glyphs.More)
	if headed {
		p.write(indent, header)
	}
	for _, l := range lines {
		p.write(indent, l)
	}
}

func emptyColumn(rows [][]Line, column int) bool {
	for _, row := range rows {
		if row[column].Width() > 0 {
			return false
		}
	}
	return true
}

func (p *Page) write(indent int, l Line) {
	p.lines = append(p.lines, l.Indent(indent).trimRight())
}

// room is how many columns an indent leaves.
func (p *Page) room(indent int) int { return max(p.width-indent, minRoom) }

// shown is the line in the characters that the terminal has.
func (p *Page) shown(l Line) Line {
	if p.ascii == nil {
		return l
	}
	out := make(Line, len(l))
	for i, s := range l {
		out[i] = Text(s.style, p.ascii.Replace(s.text))
	}
	return out
}
