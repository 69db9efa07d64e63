package tui

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Headers of columns of pods that the table can be sorted by.
const (
	columnIndex = "INDEX"
	columnState = "STATE"
	columnWhen  = "WHEN"
)

// podsFacts are what is known of the pods as a whole, derived once for each Report.
type podsFacts struct {
	of *explain.Report
	// failed, waiting, ending, running and succeeded count pods.
	failed, waiting, ending, running, succeeded int

	indexed, attempts, actions     bool
	name, state, cause, rule, node int
	// prefixed says that all names begin with that of the Job: of one that is very long,
	// pods have but the beginning.
	prefixed bool
	// oneContainer says that all causes are of container, which then need not be named.
	oneContainer bool
	container    string
	// when is the width of the longest time, for relative ones and for times of day.
	when [2]int
	// earliest is when the first of them was created.
	earliest time.Time
}

func (f *podsFacts) derive(r *explain.Report, p *paint) {
	if f.of == r {
		return
	}
	*f = podsFacts{of: r, prefixed: true}
	for i := range r.Pods {
		f.add(&r.Pods[i])
		f.notice(&r.Pods[i], r.Job.Name)
	}
	f.rule = ruleWidth(r)
	f.readCauses(r)
	f.when = [2]int{len("59m59s ago"), len("ends at ") + len(p.Clock(p.Now))}
	if !f.earliest.IsZero() {
		f.when[1] = max(f.when[1], len("since ")+len(p.Clock(f.earliest)))
	}
}

func (f *podsFacts) add(pod *explain.PodInfo) {
	switch {
	case pod.State == section.PodTerminating:
		f.ending++
	case pod.Phase == string(corev1.PodFailed):
		f.failed++
	case pod.Phase == string(corev1.PodSucceeded):
		f.succeeded++
	case pod.State == string(corev1.PodRunning):
		f.running++
	default:
		f.waiting++
	}
	f.name = max(f.name, widthOf(pod.Name))
	f.state = max(f.state, widthOf(pod.State)+len("x "))
	if pod.Ready {
		f.state = max(f.state, len("x Running, ready"))
	}
	f.node = max(f.node, widthOf(pod.Node))
	if !pod.Created.IsZero() && (f.earliest.IsZero() || pod.Created.Time.Before(f.earliest)) {
		f.earliest = pod.Created.Time
	}
}

// notice sees which columns there is something for.
func (f *podsFacts) notice(pod *explain.PodInfo, job string) {
	f.indexed = f.indexed || pod.Index != nil
	f.attempts = f.attempts || pod.Attempt > 0
	f.actions = f.actions || pod.Action != ""
	f.prefixed = f.prefixed && strings.HasPrefix(pod.Name, job)
}

// readCauses measures the causes, of which there are few different ones, and sees whether
// all that name a container name the same one.
func (f *podsFacts) readCauses(r *explain.Report) {
	f.oneContainer = true
	seen := map[string]bool{"": true}
	full, brief := 0, 0
	for i := range r.Pods {
		cause := r.Pods[i].Cause
		if seen[cause] {
			continue
		}
		seen[cause] = true
		known := failureText{r.Pods[i].Failure, cause}
		full, brief = max(full, widthOf(known.short())), max(brief, widthOf(known.brief()))
		if container := known.container(); container != "" {
			f.oneContainer = f.oneContainer && (f.container == "" || f.container == container)
			f.container = container
		}
	}
	if f.cause = full; f.oneContainer {
		f.cause = brief
	}
}

// ruleWidth is that of the longest thing that is said of rules; pods that say the same are
// asked once.
func ruleWidth(r *explain.Report) int {
	type said struct {
		rule          int32
		action, phase string
	}
	width, seen := 0, map[said]bool{}
	for i := range r.Pods {
		pod := &r.Pods[i]
		key := said{rule: -1, action: pod.Action, phase: pod.Phase}
		if pod.Rule != nil {
			key.rule = *pod.Rule
		}
		if !seen[key] {
			seen[key] = true
			width = max(width, podRule(r, pod).Width())
		}
	}
	return width
}

// counts are how many pods do what, those that need a look first.
func (f *podsFacts) counts(p *paint) layout.Line {
	var l layout.Line
	add := func(n int, phase corev1.PodPhase, state, what string) {
		if n > 0 {
			mark, style := section.PodMark(&p.Frame, string(phase), state)
			l = append(l, layout.Textf(style, "%s %d %s", mark, n, what))
		}
	}
	add(f.failed, corev1.PodFailed, "", "failed")
	add(f.waiting, corev1.PodPending, "Pending", "pending")
	add(f.ending, corev1.PodRunning, section.PodTerminating, "terminating")
	add(f.running, corev1.PodRunning, string(corev1.PodRunning), "running")
	add(f.succeeded, corev1.PodSucceeded, "", "succeeded")
	return l
}

// table is the header, and the rows from first up to end.
func (o *podsPane) table(p *paint, r *explain.Report, first, end int) []layout.Line {
	var cells [][]layout.Line
	for row := first; row < end; row++ {
		cells = append(cells, o.cells(p, r, &r.Pods[o.rows.order[row]]))
	}
	header, lines := layout.Table(o.columns(p), cells, p.Width-cursorWidth, p.Glyphs.Ellipsis)
	out := []layout.Line{header.Indent(cursorWidth)}
	for i, l := range lines {
		out = append(out, chosenRow(p, l, first+i == o.list.cursor))
	}
	return out
}

// columns give way in the order of what one looks for: the exit code and the rule stay whole
// while there are others to leave out.
func (o *podsPane) columns(p *paint) []layout.Column {
	f := &o.facts
	head := func(name string) string { return o.sorting.header(p, name) }
	name := f.name
	if o.cutsNames(p) {
		name -= widthOf(o.job.job.Name) - widthOf(p.Glyphs.Ellipsis)
	}
	least := podsLeastOf(p)
	all := []layout.Column{
		{Header: head(columnName), Width: name, Min: least.name, Middle: true},
		{Header: head(columnIndex), Right: true, Drop: 5},
		{Header: "TRY", Right: true, Drop: 7},
		{Header: head(columnState), Width: min(f.state, 28), Min: least.state},
		{Header: "CAUSE", Width: f.cause, Min: min(f.cause, least.cause), Drop: 1},
		{Header: "RULE", Width: f.rule, Min: min(f.rule, least.rule), Drop: 2},
		{Header: "ACTION", Drop: 6},
		{Header: "COUNTED", Drop: 8},
		{Header: head(columnWhen), Width: f.when[boolInt(p.Absolute)], Drop: 3},
		{Header: "NODE", Width: f.node, Min: 12, Drop: 9},
	}
	return present(o, all)
}

// podsLeast is how narrow columns may be cut.
type podsLeast struct{ name, state, cause, rule int }

func podsLeastOf(p *paint) podsLeast {
	switch {
	case p.Width < 80:
		return podsLeast{name: 14, state: 10, cause: 18, rule: 10}
	case p.Width < 120:
		return podsLeast{name: 18, state: 12, cause: 22, rule: 18}
	case p.Width < 160:
		return podsLeast{name: 22, state: 14, cause: 30, rule: 20}
	}
	return podsLeast{name: 32, state: 18, cause: 36, rule: 28}
}

// The columns that may be missing, by their place.
const (
	podIndexColumn  = 1
	podTryColumn    = 2
	podActionColumn = 6
)

// present leaves out the columns, or the cells of a row, that no pod has anything for.
func present[T any](o *podsPane, all []T) []T {
	out := all[:0]
	for i, c := range all {
		switch {
		case i == podIndexColumn && !o.facts.indexed, i == podTryColumn && !o.facts.attempts, i == podActionColumn && !o.facts.actions:
			continue
		}
		out = append(out, c)
	}
	return out
}

// cutsNames says that the name of the Job, with which those of pods begin, is left out.
func (o *podsPane) cutsNames(p *paint) bool {
	return p.Width < 120 && o.facts.prefixed && widthOf(o.job.job.Name) > 12
}

func (o *podsPane) cells(p *paint, r *explain.Report, pod *explain.PodInfo) []layout.Line {
	name := layout.Plainly(pod.Name)
	if o.cutsNames(p) {
		name = layout.Of(layout.Text(layout.Muted, p.Glyphs.Ellipsis), layout.Text(layout.Plain, strings.TrimPrefix(pod.Name, o.job.job.Name)))
	}
	known := failureText{pod.Failure, pod.Cause}
	cause := known.short()
	if o.facts.oneContainer {
		cause = known.brief()
	}
	return present(o, []layout.Line{
		name, layout.Plainly(numberOf(pod.Index)), layout.Plainly(section.Number(pod.Attempt)), podStateCell(p, pod), layout.Plainly(cause), podRule(r, pod),
		layout.Of(layout.Text(section.ActionStyle(pod.Action), pod.Action)), layout.Plainly(section.PodCounted(pod)), podWhen(p, pod), layout.Of(layout.Text(layout.Muted, pod.Node)),
	})
}

// podStateCell is podState, in one word where there is little room.
func podStateCell(p *paint, pod *explain.PodInfo) layout.Line {
	if pod.Ready && pod.State == string(corev1.PodRunning) && p.Width < 160 {
		mark, style := section.PodMark(&p.Frame, pod.Phase, pod.State)
		return layout.Of(layout.Text(style, mark+" Ready"))
	}
	return section.PodState(&p.Frame, pod)
}

// numberOf is a number, or nothing for none.
func numberOf(n *int32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
