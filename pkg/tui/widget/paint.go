package widget

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Paint is the drawing context of a screen: the frame, its height, and more.
type Paint struct {
	section.Frame
	Height int
	// Stale suppresses everything that is only true of the present: Now is the time of the last response.
	Stale bool
	// Namespace is kubectl's current namespace, "" if it is unknown.
	Namespace string
}

// Sized returns the same Paint for a part of the screen.
func (p *Paint) Sized(width, height int) *Paint {
	part := *p
	part.Width, part.Height = width, height
	return &part
}

// Title returns a heading with a rule up to the end of the line; note follows the title.
func (p *Paint) Title(title, note string) layout.Line {
	l := layout.Of(layout.Text(layout.Bold, title))
	if note != "" {
		l = append(l, layout.Text(layout.Muted, "  "+note))
	}
	return p.Rule(l)
}

// Section returns the lines of a section below its title; nil without lines.
func (p *Paint) Section(s section.Section) Block {
	return Titled(p.Title(s.Title, s.Note), s.Lines)
}

// Rule returns a heading of styled text, with a line up to the end.
func (p *Paint) Rule(title layout.Line) layout.Line {
	title = p.Cut(title, p.Width)
	if missing := p.Width - title.Width() - 1; missing > 0 {
		title = append(title, layout.Text(layout.Muted, " "+strings.Repeat(p.Glyphs.Rule, missing)))
	}
	return title
}

// Rows returns the part of n rows from top on that fits into height lines, as the index of its first row and the index after
// its last row. A negative height is treated as 0.
func Rows(n, top, height int) (first, end int) {
	height = max(0, height)
	top = max(0, min(top, n-height))
	return top, min(n, top+height)
}

// Width returns the width of a text after sanitizing.
func Width(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return layout.Of(layout.Text(layout.Plain, text)).Width()
		}
	}
	return len(text)
}

// Block is a part of a screen with a heading.
type Block []layout.Line

// Stack arranges blocks vertically, with an empty line between them if there is room.
func Stack(blocks []Block, height int) []layout.Line {
	n, filled := 0, 0
	for _, b := range blocks {
		if len(b) > 0 {
			n, filled = n+len(b), filled+1
		}
	}
	airy := n+filled-1 <= height
	var lines []layout.Line
	for _, b := range blocks {
		if airy && len(lines) > 0 && len(b) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, b...)
	}
	return lines
}

// Titled returns a block with a heading, nil without lines.
func Titled(heading layout.Line, lines []layout.Line) Block {
	if len(lines) == 0 {
		return nil
	}
	return append(Block{heading}, lines...)
}
