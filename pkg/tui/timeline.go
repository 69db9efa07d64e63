package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

//nolint:gochecknoglobals // constants, as those of the key map
var keyWarnings = bind("x", "warnings only", "x")

// timelinePane tells what happened, in order: conditions, pods and events. It begins at
// the end, and stays there until it is scrolled.
type timelinePane struct {
	scroll   scroll
	filter   filter
	warnings bool
	// left says that the user has scrolled away from the end.
	left bool
}

func newTimelinePane() *timelinePane { return &timelinePane{} }

func (o *timelinePane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	if a, known := o.filter.handle(k); known {
		return a, true
	}
	switch {
	case matches(k, keyWarnings):
		o.warnings = !o.warnings
	case o.scroll.handle(k):
		o.left = o.scroll.top+o.scroll.height < o.scroll.n
	default:
		return action{}, false
	}
	return none()
}

func (o *timelinePane) wheel(lines int, _ *data) {
	o.scroll.move(lines)
	o.left = o.scroll.top+o.scroll.height < o.scroll.n
}

func (o *timelinePane) keys() []keyGroup {
	return []keyGroup{{title: "Timeline", bindings: append(o.filter.keys(), keyWarnings)}}
}

func (o *timelinePane) body(p *paint) []layout.Line {
	j := p.data.job
	moments := o.chosen(j)
	lines := timelineLines(p, j, moments)
	head := o.head(p, j, len(moments))
	if len(lines) == 0 {
		return append(head, layout.Of(layout.Text(styleMuted, "Nothing to tell.")))
	}
	rest := p.sized(p.width, p.height-len(head))
	o.scroll.resize(len(lines), rest.height)
	if !o.left {
		o.scroll.move(len(lines))
	}
	return append(head, o.scroll.page(rest, lines)...)
}

// chosen are the moments to be shown.
func (o *timelinePane) chosen(j *jobData) []*explain.Moment {
	var moments []*explain.Moment
	for i := range j.Timeline {
		if m := &j.Timeline[i]; o.wants(m) {
			moments = append(moments, m)
		}
	}
	return moments
}

func (o *timelinePane) wants(m *explain.Moment) bool {
	if o.warnings && !m.Warning {
		return false
	}
	return !o.filter.on() || o.filter.chooses(m.What, m.Text)
}

// head says what is left out.
func (o *timelinePane) head(p *paint, j *jobData, shown int) []layout.Line {
	head := []layout.Line{nil}
	if l := o.filter.line(p, shown, len(j.Timeline), "moments"); l != nil {
		head = append(head, l)
	}
	if o.warnings {
		head = append(head, p.cut(layout.Of(layout.Text(styleWarn, p.glyphs.Warn+" warnings only"), layout.Text(styleMuted, "  x shows all")), p.width))
	}
	return head
}

// timelineLines are moments below each other, aligned.
func timelineLines(p *paint, j *jobData, moments []*explain.Moment) []layout.Line {
	times, ends := make([]string, len(moments)), make([]string, len(moments))
	timeWidth, whatWidth := 0, 0
	for i, m := range moments {
		times[i], ends[i] = p.rangeOf(j, m)
		timeWidth = max(timeWidth, layout.Width(timeRange(times[i], ends[i])))
		whatWidth = max(whatWidth, layout.Of(layout.Text(styleMuted, m.What)).Width())
	}
	whatWidth = min(whatWidth, maxWhat)
	if p.width < whatFrom {
		whatWidth = 0
	}
	// Where ranges would take the room of the texts, their ends stand behind these.
	if timeWidth > p.width/maxTimes {
		timeWidth = 0
		for i := range times {
			timeWidth = max(timeWidth, layout.Width(times[i]))
		}
	} else {
		for i := range times {
			times[i], ends[i] = timeRange(times[i], ends[i]), ""
		}
	}
	var lines []layout.Line
	for i, m := range moments {
		lines = append(lines, momentLines(p, m, [2]string{times[i], ends[i]}, timeWidth, whatWidth)...)
	}
	return lines
}

// timeRange is "+2s to +45s", or "+2s" without an end.
func timeRange(from, to string) string {
	if to == "" {
		return from
	}
	return from + " to " + to
}

// rangeOf is when something happened; to is "" unless several such things did.
func (p *paint) rangeOf(j *jobData, m *explain.Moment) (from, to string) {
	at := func(t metav1.Time) string {
		if p.absolute {
			return p.clock(t.Time)
		}
		return p.offset(j, t)
	}
	from = at(m.Time)
	if m.Until.IsZero() || !m.Until.After(m.Time.Time) {
		return from, ""
	}
	if to = at(*m.Until); to == from {
		return from, ""
	}
	return from, to
}

const (
	// maxWhat is how wide the column of what a moment is about may be.
	maxWhat = 24
	// whatFrom is from how many columns on it is there: the texts say most of it.
	whatFrom = 72
	// maxTimes is which part of the width times take at most.
	maxTimes = 4
)

// momentLines are one thing that happened; at are the times before and behind its text.
func momentLines(p *paint, m *explain.Moment, at [2]string, timeWidth, whatWidth int) []layout.Line {
	mark, style := layout.Blank(2), stylePlain
	if m.Warning {
		mark, style = layout.Text(styleWarn|bold, p.glyphs.Warn+" "), styleWarn
	}
	l := layout.Of(layout.Text(styleMuted, at[0])).Pad(timeWidth + 2)
	l = append(l, mark)
	if whatWidth > 0 {
		l = append(append(l, layout.Of(layout.Text(styleMuted, m.What)).Fit(whatWidth, p.glyphs.Ellipsis)...), layout.Blank(2))
	}
	hang := l.Width()
	l = append(l, layout.Text(style, m.Text))
	if m.Count > 1 {
		l = append(l, layout.Text(styleMuted, " ("+strconv.Itoa(int(m.Count))+p.times()+")"))
	}
	if at[1] != "" {
		l = append(l, layout.Text(styleMuted, " (until "+at[1]+")"))
	}
	return p.wrap(l, min(hang, p.width/2))
}

// offset is how long after the Job's creation something happened.
func (p *paint) offset(j *jobData, t metav1.Time) string {
	from := j.Job.Created
	if from.IsZero() {
		from = j.Job.Started
	}
	if from.IsZero() {
		return p.when(&t)
	}
	return "+" + wording.Duration(max(0, t.Sub(from.Time)))
}
