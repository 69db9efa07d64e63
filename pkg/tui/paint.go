package tui

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// paint is what a screen draws with: the size, the moment, what is known, and how things
// look.
type paint struct {
	width, height int
	// now is the moment of the frame.
	now time.Time
	// absolute shows times of day instead of "3s ago".
	absolute bool
	location *time.Location
	glyphs   layout.Glyphs
	ascii    bool
	data     *data
}

// sized is the same paint for a part of the screen.
func (p *paint) sized(width, height int) *paint {
	part := *p
	part.width, part.height = width, height
	return &part
}

// cut is Line.Cut with the ellipsis of the glyphs.
func (p *paint) cut(l layout.Line, width int) layout.Line { return l.Cut(width, p.glyphs.Ellipsis) }

// crop is explain.Crop with the ellipsis of the glyphs.
func (p *paint) crop(list string, limit int) string {
	return explain.CropWith(list, limit, p.glyphs.Ellipsis)
}

// wrap breaks a line at the width of the paint.
func (p *paint) wrap(l layout.Line, hang int) []layout.Line { return layout.Wrap(l, p.width, hang) }

// when is "3s ago", or the time of day; "-" for no time.
func (p *paint) when(t *metav1.Time) string {
	if t.IsZero() {
		return "-"
	}
	if p.absolute {
		return p.clock(t.Time)
	}
	return wording.Duration(max(0, p.now.Sub(t.Time))) + " ago"
}

// clock is a time of day, see wording.Clock.
func (p *paint) clock(t time.Time) string { return wording.Clock(t, p.now, p.location) }

// countdown is "in 1m20s", "now", or "3s overdue"; or the time of day.
func (p *paint) countdown(t time.Time) string {
	left := t.Sub(p.now)
	switch {
	case p.absolute:
		return "at " + p.clock(t)
	case left <= -time.Second:
		return wording.Duration(-left) + " overdue"
	case left < time.Second:
		return "now"
	}
	return "in " + wording.Duration(left)
}

// bar is a progress bar in two styles.
func (p *paint) bar(have, total int64, width int, style styleOf) layout.Line {
	full := wording.Fill(have, total, width)
	return layout.Of(
		layout.Text(style, strings.Repeat(p.glyphs.BarFull, full)),
		layout.Text(styleMuted, strings.Repeat(p.glyphs.BarEmpty, max(0, width-full))),
	)
}

// title is a heading with a rule up to the end of the line; note stands behind it.
func (p *paint) title(title, note string) layout.Line {
	l := layout.Of(layout.Text(bold, title))
	if note != "" {
		l = append(l, layout.Text(styleMuted, "  "+note))
	}
	return p.rule(l)
}

// rule is a heading of styled text, with a line up to the end.
func (p *paint) rule(title layout.Line) layout.Line {
	title = p.cut(title, p.width)
	if missing := p.width - title.Width() - 1; missing > 0 {
		title = append(title, layout.Text(styleMuted, " "+strings.Repeat(p.glyphs.Rule, missing)))
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
