package tui

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
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

	indexed, attempts              bool
	name, state, cause, rule, node int
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
	*f = podsFacts{of: r}
	for i := range r.Pods {
		f.add(&r.Pods[i])
	}
	f.rule = ruleWidth(r)
	f.readCauses(r)
	f.when = [2]int{len("59m59s ago"), len("ends at ") + len(p.clock(p.now))}
	if !f.earliest.IsZero() {
		f.when[1] = max(f.when[1], len("since ")+len(p.clock(f.earliest)))
	}
}

func (f *podsFacts) add(pod *explain.PodInfo) {
	switch {
	case pod.State == statePodTerminating:
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
	f.indexed = f.indexed || pod.Index != nil
	f.attempts = f.attempts || pod.Attempt > 0
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

// readCauses measures the causes, of which there are few different ones, and sees whether
// they are all of one container.
func (f *podsFacts) readCauses(r *explain.Report) {
	f.oneContainer = true
	seen := map[string]bool{"": true}
	for i := range r.Pods {
		cause := r.Pods[i].Cause
		if seen[cause] {
			continue
		}
		seen[cause] = true
		f.cause = max(f.cause, widthOf(shortCause(cause)))
		container, _, is := containerOf(cause)
		f.oneContainer = f.oneContainer && is && (f.container == "" || f.container == container)
		f.container = container
	}
	if f.oneContainer && f.container != "" {
		f.cause -= widthOf(f.container + ": ")
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
func (f *podsFacts) counts(p *paint) canvas.Line {
	var l canvas.Line
	add := func(n int, phase corev1.PodPhase, state, what string) {
		if n > 0 {
			mark, style := podLook(p, string(phase), state)
			l = append(l, canvas.Textf(style, "%s %d %s", mark, n, what))
		}
	}
	add(f.failed, corev1.PodFailed, "", "failed")
	add(f.waiting, corev1.PodPending, "Pending", "pending")
	add(f.ending, corev1.PodRunning, statePodTerminating, "terminating")
	add(f.running, corev1.PodRunning, string(corev1.PodRunning), "running")
	add(f.succeeded, corev1.PodSucceeded, "", "succeeded")
	return l
}

// table is the header, and the rows from first up to end.
func (o *podsPane) table(p *paint, r *explain.Report, first, end int) []canvas.Line {
	var cells [][]canvas.Line
	for row := first; row < end; row++ {
		cells = append(cells, o.cells(p, r, &r.Pods[o.rows.order[row]]))
	}
	header, lines := canvas.Table(o.columns(p), cells, p.width-cursorWidth, p.glyphs.ellipsis)
	out := []canvas.Line{header.Indent(cursorWidth)}
	for i, l := range lines {
		out = append(out, chosenRow(p, l, first+i == o.list.cursor))
	}
	return out
}

func (o *podsPane) columns(p *paint) []canvas.Column {
	f := &o.facts
	head := func(name string) string { return o.sorting.header(p, name) }
	name := f.name
	if o.cutsNames(p) {
		name -= widthOf(o.job.job.Name) - widthOf(p.glyphs.ellipsis)
	}
	leastState := 18
	if p.width < 80 {
		leastState = 12
	}
	all := []canvas.Column{
		{Header: head(columnName), Width: name, Min: leastName(p)},
		{Header: head(columnState), Width: min(f.state, 28), Min: leastState},
		{Header: "CAUSE", Width: f.cause, Min: 10, Drop: 1},
		{Header: "RULE", Width: f.rule, Min: 12, Drop: 3},
		{Header: "COUNTED", Drop: 5},
		{Header: head(columnWhen), Width: f.when[boolInt(p.absolute)], Drop: 2},
		{Header: "NODE", Width: f.node, Min: 12, Drop: 6},
	}
	if f.attempts {
		all = append([]canvas.Column{all[0], {Header: "TRY", Right: true, Drop: 4}}, all[1:]...)
	}
	if f.indexed {
		all = append([]canvas.Column{all[0], {Header: head(columnIndex), Right: true}}, all[1:]...)
	}
	return all
}

// cutsNames says that the name of the Job, with which those of pods begin, is left out.
func (o *podsPane) cutsNames(p *paint) bool {
	return p.width < 120 && widthOf(o.job.job.Name) > 12
}

func (o *podsPane) cells(p *paint, r *explain.Report, pod *explain.PodInfo) []canvas.Line {
	name := canvas.Plainly(pod.Name)
	if rest, is := strings.CutPrefix(pod.Name, o.job.job.Name); is && o.cutsNames(p) {
		name = canvas.Of(canvas.Text(styleMuted, p.glyphs.ellipsis), canvas.Text(stylePlain, rest))
	}
	cause := shortCause(pod.Cause)
	if o.facts.oneContainer {
		_, cause, _ = containerOf(pod.Cause)
	}
	all := []canvas.Line{
		name, podState(p, pod), canvas.Plainly(cause), podRule(r, pod),
		canvas.Plainly(podCounted(pod)), podWhen(p, pod), canvas.Of(canvas.Text(styleMuted, pod.Node)),
	}
	if o.facts.attempts {
		all = append([]canvas.Line{all[0], canvas.Plainly(tryOf(pod))}, all[1:]...)
	}
	if o.facts.indexed {
		all = append([]canvas.Line{all[0], canvas.Plainly(numberOf(pod.Index))}, all[1:]...)
	}
	return all
}

// tryOf is the number of the attempt, which not every controller tells.
func tryOf(pod *explain.PodInfo) string {
	if pod.Attempt <= 0 {
		return ""
	}
	return fmt.Sprint(pod.Attempt)
}
