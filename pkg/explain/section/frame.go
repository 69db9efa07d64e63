package section

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Section is a titled part of a Report. A Section without lines is left out.
type Section struct {
	Title, Note string
	Lines       []layout.Line
}

// Frame holds the settings with which sections are drawn.
type Frame struct {
	// Width is the width in columns.
	Width int
	// Now is the time that "3s ago" is relative to.
	Now time.Time
	// Absolute shows times of day instead of "3s ago".
	Absolute bool
	// Printed adds the time of day to countdowns, for text that is read later.
	Printed  bool
	Location *time.Location
	Glyphs   layout.Glyphs
	ASCII    bool
	// Full disables the truncation of long lists.
	Full bool
}

// Cut is Line.Cut with the ellipsis of the glyphs.
func (f *Frame) Cut(l layout.Line, width int) layout.Line { return l.Cut(width, f.Glyphs.Ellipsis) }

// Wrap breaks a line at the width of the frame; parts after the first are indented by hang.
func (f *Frame) Wrap(l layout.Line, hang int) []layout.Line {
	return layout.Wrap(f.shown(l), f.Width, hang)
}

// shown converts the line to the characters that the terminal supports.
func (f *Frame) shown(l layout.Line) layout.Line {
	if f.ASCII {
		return layout.ToASCII(l)
	}
	return l
}

// Crop shortens a list of indexes, see wording.Crop, unless Full is set.
func (f *Frame) Crop(list string, limit int) string {
	if f.Full {
		return list
	}
	return wording.Crop(list, limit, f.Glyphs.Ellipsis)
}

// examples joins the first elements of a list, at most the given number.
func (f *Frame) examples(list []string, most int) string {
	if f.Full || len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + ", " + f.Glyphs.More
}

// Bar draws a progress bar, see wording.Fill.
func (f *Frame) Bar(have, total int64, width int, style layout.Style) layout.Line {
	full := wording.Fill(have, total, width)
	return layout.Of(
		layout.Text(style, strings.Repeat(f.Glyphs.BarFull, full)),
		layout.Text(layout.Muted, strings.Repeat(f.Glyphs.BarEmpty, max(0, width-full))),
	)
}

// Times returns the multiplication sign that follows a count.
func (f *Frame) Times() string {
	if f.ASCII {
		return "x"
	}
	return "×"
}

// Dotted joins the parts in a line, separated by dots.
func (f *Frame) Dotted(parts []layout.Span) layout.Line {
	var l layout.Line
	for i, part := range parts {
		if i > 0 {
			l = append(l, layout.Text(layout.Muted, " "+f.Glyphs.Dot+" "))
		}
		l = append(l, part)
	}
	return l
}

// quote draws quoted lines, such as logs, with a mark before each.
func (f *Frame) quote(indent int, texts []string) []layout.Line {
	mark := layout.Of(layout.Text(layout.Muted, f.Glyphs.Quote+" "))
	var lines []layout.Line
	for _, text := range texts {
		for part := range strings.Lines(text) {
			l := f.shown(layout.Plainly(layout.Readable(strings.TrimRight(part, "\n"))))
			for _, piece := range layout.Wrap(l, f.Width-indent-mark.Width(), 0) {
				lines = append(lines, slices.Concat(mark, piece).Indent(indent))
			}
		}
	}
	return lines
}

// table draws the lines of t.Filled.
func (f *Frame) table(t *layout.Table) []layout.Line {
	if f.ASCII {
		t.ToASCII()
	}
	return t.Filled(f.Width, f.Glyphs.Ellipsis)
}

func cell(style layout.Style, text string) layout.Line { return layout.Of(layout.Text(style, text)) }

// Clock formats a time of day, see wording.Clock.
func (f *Frame) Clock(t time.Time) string { return wording.Clock(t, f.Now, f.Location) }

// When returns "3s ago", or the time of day; "-" for no time.
func (f *Frame) When(t *metav1.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case f.Absolute:
		return f.Clock(t.Time)
	}
	return wording.Age(f.Now.Sub(t.Time)) + " ago"
}

// Countdown returns "in 1m20s", "now", "3s overdue", or the time of day.
func (f *Frame) Countdown(t time.Time) string {
	left := t.Sub(f.Now)
	switch {
	case t.IsZero():
		return "-"
	case f.Absolute:
		return "at " + f.Clock(t)
	case left <= -time.Second:
		return wording.Duration(f.Now.Sub(t)) + " overdue"
	case left < time.Second:
		return "now"
	}
	return "in " + wording.Duration(left)
}

// deadline returns a Countdown, with the time of day if Printed is set.
func (f *Frame) deadline(t time.Time) string {
	if f.Printed && !f.Absolute {
		return f.Countdown(t) + ", at " + f.Clock(t)
	}
	return f.Countdown(t)
}

// Start returns the time that offsets in the life of a Job are relative to, from which its duration is counted.
func Start(r *explain.Report) time.Time {
	for _, t := range []*metav1.Time{r.Job.Started, r.Job.Created} {
		if !t.IsZero() {
			return t.Time
		}
	}
	if len(r.Timeline) > 0 && !r.Timeline[0].Time.IsZero() {
		return r.Timeline[0].Time.Time
	}
	return r.ObservedAt.Time
}

// offset returns the time since the start of the Job, such as +12s or -3s; or the time of day; "-" for no time.
func (f *Frame) offset(r *explain.Report, t time.Time) string {
	after := t.Sub(Start(r))
	switch {
	case t.IsZero():
		return "-"
	case f.Absolute:
		return f.Clock(t)
	case after <= -3*time.Second: // A Job is created up to a second before it starts, in whole seconds.
		return wording.Duration(after)
	}
	return "+" + wording.Age(after)
}
