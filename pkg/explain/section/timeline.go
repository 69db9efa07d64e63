package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

const (
	// maxWhat is how wide the column of what a moment is about may be, and whatFrom from how
	// many columns on it is there: the texts say most of it.
	maxWhat  = 24
	whatFrom = 72
	// maxTimes is which part of the width times take at most.
	maxTimes = 4
)

// Moments draws things that happened, aligned, each with its lines.
func Moments(f *Frame, r *explain.Report, moments []*explain.Moment) [][]layout.Line {
	times, ends := make([]string, len(moments)), make([]string, len(moments))
	ranges, starts, what := 0, 0, 0
	for i, m := range moments {
		times[i], ends[i] = f.timesOf(r, m)
		ranges, starts = max(ranges, layout.Width(timeRange(times[i], ends[i]))), max(starts, layout.Width(times[i]))
		what = max(what, cell(layout.Muted, m.What).Width())
	}
	if what = min(what, maxWhat); f.Width < whatFrom {
		what = 0
	}
	// Where ranges would take the room of the texts, their ends stand behind these.
	width := starts
	if ranges <= f.Width/maxTimes {
		width = ranges
		for i := range times {
			times[i], ends[i] = timeRange(times[i], ends[i]), ""
		}
	}
	out := make([][]layout.Line, len(moments))
	for i, m := range moments {
		l := layout.Of(layout.Text(layout.Muted, times[i])).Pad(width + 2)
		out[i] = momentLines(f, m, l, what, ends[i])
	}
	return out
}

// timeRange is "+2s to +45s", or "+2s" without an end.
func timeRange(from, to string) string { return wording.Join(" to ", from, to) }

// timesOf are when something happened; to is "" unless several such things did.
func (f *Frame) timesOf(r *explain.Report, m *explain.Moment) (from, to string) {
	from = f.offset(r, m.Time.Time)
	if m.Until.IsZero() || !m.Until.After(m.Time.Time) {
		return from, ""
	}
	if to = f.offset(r, m.Until.Time); to == from {
		return from, ""
	}
	return from, to
}

// momentLines are one thing that happened, behind its time; end is when the last such thing
// did.
func momentLines(f *Frame, m *explain.Moment, l layout.Line, what int, end string) []layout.Line {
	mark, style := layout.Blank(2), layout.Plain
	if m.Warning {
		mark, style = layout.Text(layout.Warn|layout.Bold, f.Glyphs.Warn+" "), layout.Warn
	}
	l = append(l, mark)
	if what > 0 {
		l = append(append(l, cell(layout.Muted, m.What).Fit(what, f.Glyphs.Ellipsis)...), layout.Blank(2))
	}
	hang := l.Width()
	l = append(l, layout.Text(style, wording.Sentence(m.Text)))
	switch {
	case m.Similar:
		l = append(l, layout.Textf(layout.Muted, " (%s similar)", wording.Thousands(m.Count)))
	case m.Count > 1:
		l = append(l, layout.Textf(layout.Muted, " (%s%s)", wording.Thousands(m.Count), f.Times()))
	}
	if end != "" {
		l = append(l, layout.Text(layout.Muted, " (until "+end+")"))
	}
	return f.Wrap(l, min(hang, f.Width/2))
}
