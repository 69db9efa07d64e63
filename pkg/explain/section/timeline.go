package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// maxWhat is the maximum width of the column for Moment.What, and whatFrom the screen width from which the column is
	// shown: the texts mostly contain its value.
	maxWhat  = 24
	whatFrom = 72
	// maxTimes is the divisor of the width that gives the maximum width of times.
	maxTimes = 4
)

// Moments draws moments of the timeline, aligned, each with its lines.
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
	// If ranges would take too much room from the texts, their ends follow the texts.
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

// timeRange returns "+2s to +45s", or "+2s" without an end.
func timeRange(from, to string) string { return wording.Join(" to ", from, to) }

// timesOf returns the time of a moment; to is "" unless the moment stands for several occurrences.
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

// momentLines draws one moment after its time; end is the time of the last occurrence.
func momentLines(f *Frame, m *explain.Moment, l layout.Line, what int, end string) []layout.Line {
	mark, style := layout.Blank(2), layout.Plain
	if m.Warning {
		mark, style = layout.Text(layout.Warn|layout.Bold, f.Glyphs.Warn+" "), layout.Warn
	}
	l = append(l, mark)
	if what > 0 {
		l = append(append(l, cell(layout.Muted, m.What).Fit(what, f.Glyphs.Ellipsis)...), layout.Blank(2))
	}
	hang, text := l.Width(), m.Text
	if word := statusWord(m.Condition); word != m.Condition && !f.Full { // the names of conditions are for full explanations
		text = word + wording.InBrackets(m.Reason)
	}
	l = append(l, layout.Text(style, wording.Sentence(text)))
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
