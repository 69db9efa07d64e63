package pods

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Headers of the columns by which the table can be sorted.
const (
	columnName  = "NAME"
	columnIndex = "INDEX"
	columnState = "STATE"
	columnWhen  = "WHEN"
)

// wideFrom is the screen width from which causes are shown in full.
const wideFrom = 180

// columns returns the columns. They are dropped in an order that keeps the exit code and the rule whole while there are other
// columns to drop.
func (o *listPane) columns(p *widget.Paint) []layout.Column {
	f := &o.stats
	head := func(name string) string { return o.table.Sorting.Header(p, name) }
	name := f.name
	if o.cutsNames(p) {
		name -= widget.Width(o.job.Name) - widget.Width(p.Glyphs.Ellipsis)
	}
	least := minWidthsFor(p)
	all := []layout.Column{
		{Header: head(columnName), Width: name, Min: least.name, Middle: true},
		{Header: head(columnIndex), Right: true, Drop: 5},
		{Header: "ATTEMPT", Right: true, Drop: 7},
		{Header: head(columnState), Width: min(f.state, 28), Min: least.state},
		{Header: "CAUSE", Width: f.cause[boolInt(p.Width >= wideFrom)], Min: min(f.cause[0], least.cause), Drop: 1},
		{Header: "RULE", Width: f.rule, Min: min(f.rule, least.rule), Drop: 2},
		{Header: "ACTION", Drop: 6},
		{Header: "COUNTED", Drop: 8},
		{Header: head(columnWhen), Width: f.when[boolInt(p.Absolute)], Drop: 3},
		{Header: "NODE", Width: f.node, Min: 12, Drop: 9},
	}
	return widget.Present(all, o.hasColumn)
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

// Positions of the columns that may be missing.
const (
	podIndexColumn  = 1
	podTryColumn    = 2
	podRuleColumn   = 5
	podActionColumn = 6
)

// hasColumn reports whether any pod has a value for a column.
func (o *listPane) hasColumn(i int) bool {
	switch i {
	case podIndexColumn:
		return o.stats.indexed
	case podTryColumn:
		return o.stats.attempts
	case podRuleColumn:
		return o.stats.rule > 0
	case podActionColumn:
		return o.stats.actions
	}
	return true
}

// cutsNames reports whether to omit the name of the Job at the start of the names of pods.
func (o *listPane) cutsNames(p *widget.Paint) bool {
	return p.Width < 120 && o.stats.prefixed && widget.Width(o.job.Name) > 12
}

func (o *listPane) cells(p *widget.Paint, r *explain.Report, pod *explain.PodInfo) []layout.Line {
	name := layout.Plainly(pod.Name)
	if o.cutsNames(p) {
		name = layout.Of(layout.Text(layout.Muted, p.Glyphs.Ellipsis), layout.Text(layout.Plain, strings.TrimPrefix(pod.Name, o.job.Name)))
	}
	known := FailureText{pod.Failure, pod.Cause}
	cause := known.short()
	switch {
	case p.Width >= wideFrom:
		cause = pod.Cause
	case o.stats.oneContainer:
		cause = known.brief()
	}
	return widget.Present([]layout.Line{
		name, layout.Plainly(numberOf(pod.Index)), layout.Plainly(section.Number(pod.Attempt)), stateCell(p, pod), layout.Plainly(cause), ruleCell(r, pod),
		layout.Of(layout.Text(section.ActionStyle(pod.Action), pod.Action)), layout.Plainly(section.PodCounted(pod)), whenCell(p, pod), layout.Of(layout.Text(layout.Muted, pod.Node)),
	}, o.hasColumn)
}

// stateCell returns section.PodState, or a single word if there is little room.
func stateCell(p *widget.Paint, pod *explain.PodInfo) layout.Line {
	if pod.Ready && pod.State == string(corev1.PodRunning) && p.Width < 160 {
		mark, style := section.PodMark(&p.Frame, pod.Phase, pod.State)
		return layout.Of(layout.Text(style, mark+" Ready"))
	}
	return section.PodState(&p.Frame, pod)
}

// numberOf formats a number, or returns "" for nil.
func numberOf(n *int32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
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
	return layout.Plainly("for " + wording.Duration(max(0, p.Now.Sub(pod.Created.Time))))
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
