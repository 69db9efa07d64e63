package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
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
	if q, known := o.filter.handle(k); known {
		return action{ask: q}, true
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

func (o *timelinePane) body(p *paint, d *data) []layout.Line {
	j := d.job
	moments := o.chosen(j)
	lines := slices.Concat(section.Moments(&p.Frame, j.Report, moments)...)
	head := o.head(p, j, len(moments))
	if len(lines) == 0 {
		return append(head, layout.Of(layout.Text(layout.Muted, "Nothing to tell.")))
	}
	rest := p.sized(p.Width, p.height-len(head))
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
		head = append(head, p.Cut(layout.Of(layout.Text(layout.Warn, p.Glyphs.Warn+" warnings only"), layout.Text(layout.Muted, "  x shows all")), p.Width))
	}
	return head
}
