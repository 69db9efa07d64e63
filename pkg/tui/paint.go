package tui

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// paint is what a screen draws with: the frame and its height.
type paint struct {
	section.Frame
	height int
}

// sized is the same paint for a part of the screen.
func (p *paint) sized(width, height int) *paint {
	part := *p
	part.Width, part.height = width, height
	return &part
}

// title is a heading with a rule up to the end of the line; note stands behind it.
func (p *paint) title(title, note string) layout.Line {
	l := layout.Of(layout.Text(layout.Bold, title))
	if note != "" {
		l = append(l, layout.Text(layout.Muted, "  "+note))
	}
	return p.rule(l)
}

// section is the lines of a section below its title; nil without lines.
func (p *paint) section(s section.Section) block {
	return titled(p.title(s.Title, s.Note), s.Lines)
}

// rule is a heading of styled text, with a line up to the end.
func (p *paint) rule(title layout.Line) layout.Line {
	title = p.Cut(title, p.Width)
	if missing := p.Width - title.Width() - 1; missing > 0 {
		title = append(title, layout.Text(layout.Muted, " "+strings.Repeat(p.Glyphs.Rule, missing)))
	}
	return title
}

// rows is the part of n rows from top on that fits into height lines, as the indexes of
// its first row and of the one behind its last. A height below 0 is that of 0.
func rows(n, top, height int) (first, end int) {
	height = max(0, height)
	top = max(0, min(top, n-height))
	return top, min(n, top+height)
}

// widthOf is that of a text once it is safe.
func widthOf(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return layout.Of(layout.Text(layout.Plain, text)).Width()
		}
	}
	return len(text)
}
