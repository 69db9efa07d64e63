package job

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

var keyWarnings = widget.Bind("x", "warnings only", "x")

// timelinePane shows conditions, pods and events in order of time. It starts at the end, and stays there until the user
// scrolls.
type timelinePane struct {
	scroll   widget.Scroll
	filter   widget.Filter
	warnings bool
	// left is set when the user has scrolled away from the end.
	left bool
}

func (o *timelinePane) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	if q, known := o.filter.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	switch {
	case widget.Matches(k, keyWarnings):
		o.warnings = !o.warnings
	case o.scroll.Key(k):
		o.left = o.scroll.Top+o.scroll.Height < o.scroll.Len
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

func (o *timelinePane) Wheel(lines int, _ *screen.Data) {
	o.scroll.Move(lines)
	o.left = o.scroll.Top+o.scroll.Height < o.scroll.Len
}

func (o *timelinePane) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "Timeline", Bindings: append(o.filter.Keys(), keyWarnings)}}
}

func (o *timelinePane) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	moments := o.chosen(j)
	lines := slices.Concat(section.Moments(&p.Frame, j.Report, moments)...)
	head := o.head(p, j, len(moments))
	if len(lines) == 0 {
		return append(head, layout.Of(layout.Text(layout.Muted, "Nothing to show.")))
	}
	rest := p.Sized(p.Width, p.Height-len(head))
	o.scroll.Resize(len(lines), rest.Height)
	if !o.left {
		o.scroll.Move(len(lines))
	}
	return append(head, o.scroll.Page(rest, lines)...)
}

// chosen returns the moments to show.
func (o *timelinePane) chosen(j *screen.Job) []*explain.Moment {
	var moments []*explain.Moment
	for i := range j.Timeline {
		m := &j.Timeline[i]
		if (!o.warnings || m.Warning) && (!o.filter.IsSet() || o.filter.Matches(m.What, m.Text)) {
			moments = append(moments, m)
		}
	}
	return moments
}

// head returns the lines about the filter.
func (o *timelinePane) head(p *widget.Paint, j *screen.Job, shown int) []layout.Line {
	head := []layout.Line{nil}
	if l := o.filter.Line(p, shown, len(j.Timeline), "moments"); l != nil {
		head = append(head, l)
	}
	if o.warnings {
		head = append(head, p.Cut(layout.Of(layout.Text(layout.Warn, p.Glyphs.Warn+" warnings only"), layout.Text(layout.Muted, "  x shows all")), p.Width))
	}
	return head
}
