package layout

import (
	"fmt"
	"math"
)

const (
	// minPage is the minimum width of a page; a narrower terminal breaks lines itself.
	minPage = 40
	// minRoom is the minimum width that an indent leaves for text.
	minRoom = 8
	// titleHang is the indent of a title's second line, labelWidth the indent of a field's text.
	titleHang  = 2
	labelWidth = 12
)

// Page collects lines that are read from top to bottom: titles, paragraphs, tables. Only commands may be wider than the
// page, so that they can be copied.
type Page struct {
	Glyphs Glyphs
	width  int
	ascii  bool
	lines  []Line
}

// NewPage returns an empty page. A width of 0 allows lines of any length.
func NewPage(width int, ascii bool) *Page {
	p := &Page{Glyphs: NewGlyphs(ascii), width: max(width, minPage), ascii: ascii}
	if width == 0 {
		p.width = math.MaxInt32
	}
	return p
}

// Lines returns the lines written so far, without trailing spaces.
func (p *Page) Lines() []Line { return p.lines }

// Para writes a paragraph; lines after the first are indented by hang.
func (p *Page) Para(indent, hang int, spans ...Span) {
	for i, l := range wrap(p.shown(spans), p.Room(indent), p.Room(hang)) {
		if i > 0 {
			indent = hang
		}
		p.write(indent, l)
	}
}

// Blank writes an empty line, unless the page is empty or its last line is.
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

// Field writes a labeled text; a field without text is left out.
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

// Table writes the lines of t.Filled.
func (p *Page) Table(indent int, t *Table) {
	if p.ascii {
		t.ToASCII()
	}
	p.Place(indent, t.Filled(p.Room(indent), p.Glyphs.More)...)
}

func (p *Page) write(indent int, l Line) {
	p.lines = append(p.lines, l.Indent(indent).trimRight())
}

// Room returns the number of columns that an indent leaves.
func (p *Page) Room(indent int) int { return max(p.width-indent, minRoom) }

// Place writes lines that fit into Room(indent).
func (p *Page) Place(indent int, lines ...Line) {
	for _, l := range lines {
		p.write(indent, l)
	}
}

// shown returns the line in the characters that the terminal supports.
func (p *Page) shown(l Line) Line {
	if p.ascii {
		return ToASCII(l)
	}
	return l
}
