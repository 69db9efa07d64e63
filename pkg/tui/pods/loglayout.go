package pods

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// longestLine is the maximum number of bytes shown of a line.
	longestLine = 8 << 10
	// logTime is the format of times; it is as wide as its output.
	logTime = "15:04:05.000"
)

// logPlace is the first line on the screen: its number, including dropped lines, so that it stays the same while lines are
// dropped; and the part of the line, if it is wrapped.
type logPlace struct{ line, part int }

// logLayout lays out lines of a log on demand. Places in it count the lines that match the filter, from 0.
type logLayout struct {
	p      *widget.Paint
	pane   *logsPane
	log    *snapshot.Log
	filter string
	// shown are the lines that match the filter, computed once for each log and filter.
	shown []int32
	// starts are the places of shown at which the lines of another pod begin, and widest is the width of the widest name of a
	// pod, in the logs of failed pods.
	starts []int
	widest int
}

func (o *logsPane) layout(p *widget.Paint, log *snapshot.Log) *logLayout {
	l := &o.laid
	if l.log != log || l.filter != o.filter.Text {
		*l = logLayout{pane: o, log: log, filter: o.filter.Text, shown: make([]int32, 0, len(log.Lines))}
		for i := range log.Lines {
			line := &log.Lines[i]
			l.widest = max(l.widest, len(line.Pod))
			if o.filter.IsSet() && !o.filter.Matches(line.Text) {
				continue
			}
			if line.Pod != "" && (len(l.shown) == 0 || log.Lines[l.shown[len(l.shown)-1]].Pod != line.Pod) {
				l.starts = append(l.starts, len(l.shown))
			}
			l.shown = append(l.shown, int32(i))
		}
	}
	l.p = p
	return l
}

// start returns the place at which the screen starts.
func (l *logLayout) start() logPlace {
	last := l.last()
	if l.pane.follows {
		return last
	}
	line := l.pane.place.line - l.log.Dropped
	at := sort.Search(len(l.shown), func(i int) bool { return int(l.shown[i]) >= line })
	place := logPlace{line: at, part: l.pane.place.part}
	if at == len(l.shown) || int(l.shown[at]) != line {
		place.part = 0
	}
	if last.before(place) {
		return last
	}
	return place
}

func (a logPlace) before(b logPlace) bool {
	return a.line < b.line || a.line == b.line && a.part < b.part
}

// last returns the place at which the screen starts if it ends with the last line.
func (l *logLayout) last() logPlace {
	left := l.p.Height
	for i := len(l.shown) - 1; i >= 0; i-- {
		n := len(l.parts(i))
		if n >= left {
			return logPlace{line: i, part: n - left}
		}
		left -= n
	}
	return logPlace{}
}

// moved returns the place that is the given number of screen lines further down, with its line number in the log.
func (l *logLayout) moved(from logPlace, by int) logPlace {
	for ; by < 0; by++ {
		switch {
		case from.part > 0:
			from.part--
		case from.line > 0:
			from.line--
			from.part = len(l.parts(from.line)) - 1
		}
	}
	for last := l.last(); by > 0 && from.before(last); by-- {
		from.part++
		if from.part >= len(l.parts(from.line)) {
			from = logPlace{line: from.line + 1}
		}
	}
	if from.line < len(l.shown) {
		from.line = int(l.shown[from.line]) + l.log.Dropped
	}
	return from
}

// lines returns the lines on the screen.
func (l *logLayout) lines() []layout.Line {
	at, height := l.start(), l.p.Height
	var out []layout.Line
	for i := at.line; i < len(l.shown) && len(out) < height; i++ {
		parts := l.parts(i)
		if i == at.line {
			parts = parts[min(at.part, len(parts)-1):]
		}
		out = append(out, parts...)
	}
	return out[:min(len(out), height)]
}

// parts returns one line of the log, wrapped or cut; the result is never empty.
func (l *logLayout) parts(i int) []layout.Line {
	line := &l.log.Lines[l.shown[i]]
	text, more := beginning(line.Text)
	text = layout.Readable(strings.TrimRight(text, "\r"))
	var out layout.Line
	hang := 0
	if l.pane.times {
		hang = len(logTime) + 1
		stamp := ""
		if !line.Time.IsZero() {
			stamp = line.Time.In(l.p.Location).Format(logTime)
		}
		out = layout.Of(layout.Text(layout.Muted, stamp)).Pad(hang)
	}
	if line.Pod != "" {
		out = append(out, l.prefix(line.Pod)...)
		hang = out.Width()
	}
	out = append(out, l.pane.filter.Highlight(text, layout.Plain)...)
	if more > 0 {
		out = append(out, layout.Text(layout.Muted, " (and "+wording.Count(more, "more bytes")+")"))
	}
	if !l.pane.wraps {
		return []layout.Line{l.p.Cut(out, l.p.Width)}
	}
	return l.p.Wrap(out, hang)
}

// beginning returns the part of a line that is shown, and the number of bytes omitted.
func beginning(text string) (shown string, more int) {
	if len(text) <= longestLine {
		return text, 0
	}
	end := longestLine
	for end > longestLine-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], len(text) - end
}
