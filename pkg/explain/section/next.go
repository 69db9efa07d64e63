package section

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Step is a next step; When is empty if its time is unknown.
type Step struct {
	When layout.Line
	Text string
}

// waitStyles are the colors of timers: timers that end something warn.
var waitStyles = map[explain.WaitKind]layout.Style{
	explain.WaitDeadline: layout.Warn, explain.WaitTTL: layout.Warn, explain.WaitGrace: layout.Special,
}

// Steps returns the running timers, the first to end first, and then the steps without a timer.
func Steps(f *Frame, r *explain.Report) []Step {
	var all []Step
	for i := range r.Waits {
		w := &r.Waits[i]
		style := cmp.Or(waitStyles[w.Kind], layout.Info) | layout.Bold
		all = append(all, Step{cell(style, f.deadline(w.Until.Time)), wording.Sentence(w.Text)})
	}
	for i := range r.Next {
		step := &r.Next[i]
		var when layout.Line
		switch {
		case step.IsWait():
			continue
		case step.At != nil:
			when = cell(layout.Info, f.deadline(step.At.Time))
		}
		all = append(all, Step{when, wording.Sentence(step.Text)})
	}
	return all
}

// Next draws the Steps, one per line.
func Next(f *Frame, r *explain.Report) Section {
	s, all, width := Section{Title: "Next"}, Steps(f, r), 0
	for i := range all {
		if len(all[i].When) == 0 {
			all[i].When = cell(layout.Muted, "then")
		}
		width = max(width, all[i].When.Width())
	}
	for _, step := range all {
		l := append(step.When.Pad(width+2), layout.Text(layout.Plain, step.Text))
		s.Lines = append(s.Lines, f.Wrap(l, width+2)...)
	}
	return s
}
