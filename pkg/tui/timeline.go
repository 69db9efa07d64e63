package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

//nolint:gochecknoglobals // constants, as those of the key map
var keyWarnings = bind("x", "warnings only/all", "x")

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

func (o *timelinePane) body(p *paint) []canvas.Line {
	j := p.data.job
	var lines []canvas.Line
	shown := 0
	for i := range j.Timeline {
		if m := &j.Timeline[i]; o.wants(m) {
			shown++
			lines = append(lines, momentLines(p, j, m)...)
		}
	}
	head := []canvas.Line{nil}
	if l := o.filter.line(p, shown, len(j.Timeline), "moments"); l != nil {
		head = append(head, l)
	}
	if o.warnings {
		head = append(head, p.cut(canvas.Of(canvas.Text(styleWarn, p.glyphs.warn+" warnings only"), canvas.Text(styleMuted, "  x shows all")), p.width))
	}
	if len(lines) == 0 {
		return append(head, canvas.Of(canvas.Text(styleMuted, "Nothing to tell.")))
	}
	o.scroll.resize(len(lines), p.height-len(head))
	if !o.left {
		o.scroll.move(len(lines))
	}
	first, end := rows(len(lines), o.scroll.top, p.height-len(head))
	return append(head, lines[first:end]...)
}

func (o *timelinePane) wants(m *explain.Moment) bool {
	if o.warnings && !m.Warning {
		return false
	}
	return !o.filter.on() || o.filter.chooses(strings.ToLower(m.What+" "+m.Text))
}

// The columns of the time and of what it is about.
const (
	momentTime = 12
	momentWhat = 11
)

// momentLines are one thing that happened.
func momentLines(p *paint, j *jobData, m *explain.Moment) []canvas.Line {
	at := p.clock(m.Time.Time)
	if !p.absolute {
		at = p.offset(j, m)
	}
	mark, style := canvas.Text(stylePlain, "  "), stylePlain
	if m.Warning {
		mark, style = canvas.Text(styleWarn|bold, p.glyphs.warn+" "), styleWarn
	}
	l := canvas.Of(canvas.Text(styleMuted, at)).Pad(momentTime)
	l = append(append(l, mark), canvas.Text(styleMuted, m.What))
	l = l.Pad(momentTime + 2 + momentWhat)
	l = append(l, canvas.Text(style, m.Text))
	if m.Count > 1 {
		l = append(l, canvas.Text(styleMuted, " ("+strconv.Itoa(int(m.Count))+p.times()+")"))
	}
	return p.wrap(l, min(momentTime+2+momentWhat, p.width/2))
}

// offset is how long after the Job's creation something happened.
func (p *paint) offset(j *jobData, m *explain.Moment) string {
	from := j.Job.Created
	if from.IsZero() {
		from = j.Job.Started
	}
	if from.IsZero() {
		return p.when(&m.Time)
	}
	return "+" + wording.Duration(max(0, m.Time.Sub(from.Time)))
}
