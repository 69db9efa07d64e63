package pods

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// wideFrom is the screen width from which causes are shown in full.
const wideFrom = 180

// columns returns the columns. They are dropped in an order that keeps the exit code and the rule whole while there are other
// columns to drop.
func (o *listPane) columns(p *widget.Paint, r *explain.Report) []layout.Column[explain.PodInfo] {
	type pod = explain.PodInfo
	f := &o.stats
	least := minWidthsFor(p)

	// On narrow screens, the name of the Job at the start of names is omitted.
	name, cutsNames := f.name, p.Width < 120 && f.prefixed && widget.Width(o.job.Name) > 12
	if cutsNames {
		name -= widget.Width(o.job.Name) - widget.Width(p.Glyphs.Ellipsis)
	}
	when, cause := f.when[0], f.cause[0]
	if p.Absolute {
		when = f.when[1]
	}
	if p.Width >= wideFrom {
		cause = f.cause[1]
	}
	return o.table.Marked(p, []layout.Column[pod]{
		{
			Header: "NAME", Width: name, Min: least.name, Middle: true,
			Sort: layout.Sort[pod]{Turn: 1, Name: "name", Compare: func(a, b *pod) int { return cmp.Compare(a.Name, b.Name) }},
			Cell: func(pod *pod) layout.Line {
				if !cutsNames {
					return layout.Plainly(pod.Name)
				}
				rest := strings.TrimPrefix(pod.Name, o.job.Name)
				return layout.Of(layout.Text(layout.Muted, p.Glyphs.Ellipsis), layout.Text(layout.Plain, rest))
			},
		},
		{
			Header: "INDEX", Right: true, Drop: 5, Hidden: !f.indexed,
			Sort: layout.Sort[pod]{Turn: 2, Name: "index and attempt", Compare: func(a, b *pod) int {
				byIndex := cmp.Compare(ptr.Deref(a.Index, -1), ptr.Deref(b.Index, -1))
				return cmp.Or(byIndex, cmp.Compare(a.Attempt, b.Attempt), compareTimes(a.Created, b.Created))
			}},
			Text: section.PodIndex,
		},
		{Header: "ATTEMPT", Right: true, Drop: 7, Hidden: !f.attempts, Text: func(pod *pod) string { return section.Number(pod.Attempt) }},
		{
			Header: "STATE", Width: min(f.state, 28), Min: least.state,
			Sort: layout.Sort[pod]{Turn: 3, Name: "state", Compare: func(a, b *pod) int { return cmp.Compare(a.State, b.State) }},
			Cell: func(pod *pod) layout.Line { return stateCell(p, pod) },
		},
		{
			Header: "CAUSE", Width: cause, Min: min(f.cause[0], least.cause), Drop: 1,
			Text: func(pod *pod) string {
				known := FailureText{pod.Failure, pod.Cause}
				switch {
				case p.Width >= wideFrom:
					return pod.Cause
				case f.oneContainer:
					return known.brief()
				}
				return known.short()
			},
		},
		{
			Header: "RULE", Width: f.rule, Min: min(f.rule, least.rule), Drop: 2, Hidden: f.rule == 0,
			Cell: func(pod *pod) layout.Line { return ruleCell(r, pod) },
		},
		{
			Header: "ACTION", Drop: 6, Hidden: !f.actions,
			Cell: func(pod *pod) layout.Line { return layout.Of(layout.Text(section.ActionStyle(pod.Action), pod.Action)) },
		},
		{Header: "COUNTED", Drop: 8, Text: section.PodCounted},
		{
			Header: "WHEN", Width: when, Drop: 3,
			Sort: layout.Sort[pod]{Turn: 4, Name: "age", Compare: func(a, b *pod) int { return compareTimes(b.Created, a.Created) }},
			Cell: func(pod *pod) layout.Line { return whenCell(p, pod) },
		},
		{Header: "NODE", Width: f.node, Min: 12, Drop: 9, Style: layout.Muted, Text: func(pod *pod) string { return pod.Node }},
	})
}

// minWidths are the minimum widths of columns.
type minWidths struct{ name, state, cause, rule int }

func minWidthsFor(p *widget.Paint) minWidths {
	switch {
	case p.Width < 80:
		return minWidths{name: 14, state: 10, cause: 18, rule: 10}
	case p.Width < 120:
		return minWidths{name: 18, state: 12, cause: 22, rule: 18}
	case p.Width < 160:
		return minWidths{name: 22, state: 14, cause: 30, rule: 20}
	}
	return minWidths{name: 28, state: 18, cause: 36, rule: 28}
}

// stateCell returns section.PodState, or a single word if there is little room.
func stateCell(p *widget.Paint, pod *explain.PodInfo) layout.Line {
	if pod.Ready && pod.State == string(corev1.PodRunning) && p.Width < 160 {
		mark, style := section.PodMark(&p.Frame, pod.Phase, pod.State)
		return layout.Of(layout.Text(style, mark+" Ready"))
	}
	return section.PodState(&p.Frame, pod)
}

// whenCell returns when the pod ended, how long it has existed, or when its grace period ends.
func whenCell(p *widget.Paint, pod *explain.PodInfo) layout.Line {
	switch {
	case !pod.GraceEnds.IsZero() && pod.State == section.PodTerminating:
		return graceLeft(p, pod.GraceEnds.Time)
	case !pod.Ended.IsZero() && p.Absolute:
		return layout.Plainly("ended " + p.When(pod.Ended))
	case !pod.Ended.IsZero():
		return layout.Plainly(p.When(pod.Ended))
	case pod.Created.IsZero():
		return layout.Of(layout.Text(layout.Muted, "-"))
	case p.Absolute:
		return layout.Plainly("since " + p.Clock(pod.Created.Time))
	}
	return layout.Plainly("for " + wording.Age(p.Now.Sub(pod.Created.Time)))
}

// graceLeft returns the time until a terminating pod is killed, in the style of an error if it is overdue.
func graceLeft(p *widget.Paint, ends time.Time) layout.Line {
	overdue := p.Now.Sub(ends) >= time.Second
	switch {
	case overdue && p.Absolute:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, "due "+p.Countdown(ends)))
	case overdue:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, p.Countdown(ends)))
	}
	return layout.Of(layout.Text(layout.Special, "ends "+p.Countdown(ends)))
}
