package pods

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// eventsText shows the events of the chosen pod.
func (s *podScreen) eventsText(p *widget.Paint, d *screen.Data) []layout.Line {
	pod := s.detail(d)
	switch {
	case s.pod == "":
		return s.noPod(p, s.report(d))
	case pod == nil:
		return d.Waiting(p, "Reading the events of pod "+s.pod)
	}
	lines := screen.Gaps(p, pod.Gaps)
	if len(pod.Events) == 0 {
		return append(lines, nil, layout.Of(layout.Text(layout.Muted, "The cluster has no events of this pod. By default, it keeps events for an hour.")))
	}
	when, reason := 0, 0
	for i := range pod.Events {
		when = max(when, len(p.When(&pod.Events[i].Last)))
		reason = min(24, max(reason, widget.Width(pod.Events[i].Reason)))
	}
	for i := range pod.Events {
		lines = append(lines, eventLines(p, &pod.Events[i], when, reason)...)
	}
	return lines
}

func eventLines(p *widget.Paint, e *explain.PodEvent, when, reason int) []layout.Line {
	mark, style := p.Glyphs.Dot, layout.Plain
	if e.Warning {
		mark, style = p.Glyphs.Warn, layout.Warn
	}
	l := layout.Of(layout.Text(layout.Muted, p.When(&e.Last))).Pad(when + 2)
	l = append(l, layout.Text(style, mark+" "))
	l = append(l, layout.Of(layout.Text(style, e.Reason)).Pad(reason+2)...)
	hang := when + reason + 6
	if p.Width < 100 {
		hang = when + 4
	}
	if e.Count > 1 {
		l = append(l, layout.Text(layout.Bold, wording.Count(e.Count, "times: ")))
	}
	l = append(l, layout.Text(layout.Plain, strings.Join(strings.Fields(e.Message), " ")))
	if e.Source != "" {
		l = append(l, layout.Text(layout.Muted, "  "+e.Source))
	}
	return p.Wrap(l, hang)
}
