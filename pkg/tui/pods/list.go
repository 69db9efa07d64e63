package pods

import (
	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// listPane lists the pods of the Job.
type listPane struct {
	job   types.NamespacedName
	table widget.Table[explain.PodInfo]
	// stats are computed once for each Report.
	stats stats
}

// NewList returns a pane that lists the pods of a Job.
func NewList(job types.NamespacedName) screen.Pane {
	o := &listPane{job: job}
	// At first, the pods keep the order of the Report: the most informative pods first.
	o.table = widget.NewTable(func(pod *explain.PodInfo) string { return pod.Name }, o.columns(&widget.Paint{}, nil),
		layout.Sort[explain.PodInfo]{Name: "problems", Descending: true})
	return o
}

func (o *listPane) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if q, known := o.table.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	pod := o.chosen(d)
	if pod == nil {
		return screen.Action{}, false
	}
	switch {
	case widget.Matches(k, widget.KeyOpen):
		return screen.Action{Open: NewScreen(o.job, pod.Name, pod.Index)}, true
	case widget.Matches(k, widget.KeyLogs):
		s := newScreen(o.job, pod.Name, pod.Index)
		s.tabs.Current = tabLogs
		return screen.Action{Open: s}, true
	case widget.Matches(k, widget.KeyCopy):
		return screen.Action{Copy: pod.Name}, true
	}
	return screen.Action{}, false
}

func (o *listPane) Wheel(lines int, _ *screen.Data) { o.table.Wheel(lines) }

func (o *listPane) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "Pods", Bindings: o.table.Keys(widget.KeyOpen, widget.KeyLogs)}}
}

// chosen returns the pod under the cursor, or nil if there is none.
func (o *listPane) chosen(d *screen.Data) *explain.PodInfo {
	if d.Job == nil {
		return nil
	}
	o.arrange(d.Job.Report)
	return o.table.Chosen()
}

// ChosenPod returns the name of the pod under the cursor, "" if there is none.
func (o *listPane) ChosenPod(d *screen.Data) string {
	if pod := o.chosen(d); pod != nil {
		return pod.Name
	}
	return ""
}

func (o *listPane) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	r := d.Job.Report
	o.stats.derive(r, p)
	o.arrange(r)
	lines := o.above(p, r)
	if o.table.Len() == 0 {
		return append(lines, p.Wrap(layout.Plainly(noPods(r)), 0)...)
	}
	return append(lines, o.table.Lines(p.Sized(p.Width, p.Height-len(lines)), o.columns(p, r))...)
}

// above returns the number of pods, the gaps, and the filter.
func (o *listPane) above(p *widget.Paint, r *explain.Report) []layout.Line {
	title := layout.Of(layout.Text(layout.Bold, wording.Plural(len(r.Pods), "pod", "pods")))
	if len(r.Pods) == 0 {
		title = layout.Of(layout.Text(layout.Bold, "No pods"))
	}
	if r.PodsOmitted > 0 {
		title = append(title, layout.Text(layout.Warn, ", and "+wording.Count(r.PodsOmitted, "more not shown")))
	}
	lines := o.table.Title(p, title, "  ", o.stats.counts(p))
	for i, l := range screen.Gaps(p, podGaps(r)) {
		if i < 3 {
			lines = append(lines, l)
		}
	}
	if l := o.table.Filter.Line(p, o.table.Len(), len(r.Pods), "pods"); l != nil {
		lines = append(lines, l)
	}
	return lines
}

// podGaps returns the gaps about pods.
func podGaps(r *explain.Report) []input.Gap {
	var out []input.Gap
	for i := range r.Gaps {
		if r.Gaps[i].What == "pods" {
			out = append(out, r.Gaps[i])
		}
	}
	return out
}

// noPods says why the list is empty.
func noPods(r *explain.Report) string {
	switch {
	case len(r.Pods) > 0:
		return "No pod has these words in its name, state, cause, rule or node."
	case len(podGaps(r)) > 0:
		return "No pods could be read."
	case r.Counts.Failed+r.Counts.Succeeded > 0:
		return "The pods of the Job no longer exist. What failed is under Failures."
	}
	return "The Job has no pods yet."
}
