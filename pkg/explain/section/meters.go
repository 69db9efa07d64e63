package section

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Meter is a line with a name, a bar, and a text for the bar. If Total is 0, it has no bar, as Have is unknown.
type Meter struct {
	Name        string
	Have, Total int64
	Style       layout.Style
	Text        layout.Line
}

// Widths of the bars of meters, on narrow and on wide screens.
const (
	narrowBar = 8
	wideBar   = 16
	// wideMeter is the width in columns from which bars are wide.
	wideMeter = 72
)

// Meters draws meters one per line, aligned.
func Meters(f *Frame, all []Meter) []layout.Line {
	names := 0
	for i := range all {
		names = max(names, layout.Width(all[i].Name))
	}
	// Bars are narrow on narrow screens, and if that keeps a text on one line.
	bar := wideBar
	for i := range all {
		room := f.Width - names - 4 - all[i].Text.Width()
		if f.Width < wideMeter || room < wideBar && room >= narrowBar {
			bar = narrowBar
		}
	}
	var lines []layout.Line
	for i := range all {
		m := &all[i]
		l := layout.Of(layout.Text(layout.Muted, m.Name)).Pad(names + 2)
		if m.Total > 0 {
			l = append(l, f.Bar(m.Have, m.Total, bar, m.Style)...)
		}
		l = append(l.Pad(names+2+bar+2), m.Text...)
		lines = append(lines, f.Wrap(l, names+2+bar+2)...)
	}
	return lines
}

// Success draws the progress towards each rule of the successPolicy, and towards the completions.
func Success(f *Frame, r *explain.Report, pods PodCounts) Section {
	s := Section{Title: "Success"}
	if r.SuccessPolicy != nil {
		s.Note = "the first one met completes the Job"
	}
	if r.Job.Completions == nil {
		text := fmt.Sprintf("A work queue: complete once a pod has succeeded and all have ended (%s)", wording.Count(pods.Succeeded, "succeeded"))
		s.Lines = f.Wrap(layout.Plainly(text), 0)
		return s
	}
	s.Lines = Meters(f, SuccessMeters(f, r, pods))
	return s
}

// SuccessMeters returns the meters of Success; nil for a work queue.
func SuccessMeters(f *Frame, r *explain.Report, pods PodCounts) []Meter {
	if r.Job.Completions == nil {
		return nil
	}
	var all []Meter
	name := "all "
	if r.SuccessPolicy != nil {
		for i := range r.SuccessPolicy.Rules {
			rule := &r.SuccessPolicy.Rules[i]
			m := Meter{fmt.Sprintf("rule %d", rule.Index), int64(rule.Have), int64(rule.Need), layout.Good, layout.Plainly(rule.Text)}
			switch {
			case rule.Met:
				m.Text = append(m.Text, layout.Text(layout.Good|layout.Bold, " "+f.Glyphs.Good+" met"))
			case rule.Impossible:
				m.Style = layout.Bad
				m.Text = append(m.Text, layout.Text(layout.Bad|layout.Bold, " "+f.Glyphs.Bad+" out of reach"))
			}
			all = append(all, m)
		}
		name = "or all "
	}
	done, total := pods.Done(r)
	if total <= 0 {
		none := layout.Of(layout.Text(layout.Plain, "none needed "), layout.Text(layout.Good|layout.Bold, f.Glyphs.Good))
		return append(all, Meter{name + "0", 1, 1, layout.Good, none})
	}
	text := layout.Of(layout.Textf(layout.Plain, "%s succeeded (%s)", wording.Thousands(done), wording.Percent(int64(done), int64(total))))
	if done >= total {
		text = append(text, layout.Text(layout.Good|layout.Bold, " "+f.Glyphs.Good+" met"))
	}
	return append(all, Meter{name + wording.Thousands(total), int64(done), int64(total), layout.Good, text})
}
