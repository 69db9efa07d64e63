package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// podsPane lists the pods of the Job.
type podsPane struct {
	job     *jobScreen
	list    list
	filter  filter
	sorting sorting
	// facts are derived once for each Report, and rows for each Report, filter and order.
	facts podsFacts
	rows  podsRows
}

func newPodsPane(job *jobScreen) *podsPane {
	return &podsPane{job: job, sorting: sorting{by: podOrders()}}
}

func (o *podsPane) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if q, known := o.filter.handle(k); known {
		return action{ask: q}, true
	}
	if o.sorting.rowKeys(k, &o.list) {
		return none()
	}
	pod := o.chosen(d)
	if pod == nil {
		return action{}, false
	}
	switch {
	case matches(k, keyOpen):
		return action{open: newPodScreen(o.job.job, pod.Name, pod.Index)}, true
	case matches(k, keyLogs):
		s := newPodScreen(o.job.job, pod.Name, pod.Index)
		s.tabs.at = tabLogs
		return action{open: s}, true
	case matches(k, keyCopy):
		return action{copy: pod.Name}, true
	}
	return action{}, false
}

func (o *podsPane) wheel(lines int, _ *data) { o.sorting.wheel(lines, &o.list) }

func (o *podsPane) keys() []keyGroup {
	return []keyGroup{{title: "Pods", bindings: append([]binding{keyOpen, keyLogs}, append(o.filter.keys(), keySort, keyReverse, keyCopy)...)}}
}

// chosen is the pod under the cursor, nil if there is none.
func (o *podsPane) chosen(d *data) *explain.PodInfo {
	if d.job == nil {
		return nil
	}
	o.rows.derive(o, d.job.Report)
	if o.list.cursor >= len(o.rows.order) {
		return nil
	}
	return &d.job.Pods[o.rows.order[o.list.cursor]]
}

func (o *podsPane) body(p *paint, d *data) []layout.Line {
	r := d.job.Report
	o.facts.derive(r, p)
	o.rows.derive(o, r)
	lines := o.above(p, r)
	if len(o.rows.order) == 0 {
		return append(lines, p.Wrap(layout.Plainly(noPods(r)), 0)...)
	}
	key := func(row int) string { return r.Pods[o.rows.order[row]].Name }
	o.list.resize(len(o.rows.order), p.height-len(lines)-1, key)
	first, end := rows(len(o.rows.order), o.list.top, o.list.height)
	return append(lines, o.table(p, r, first, end)...)
}

// above is how many there are, what could not be read, and the filter.
func (o *podsPane) above(p *paint, r *explain.Report) []layout.Line {
	title := layout.Of(layout.Text(layout.Bold, wording.Plural(int64(len(r.Pods)), "pod", "pods")))
	if len(r.Pods) == 0 {
		title = layout.Of(layout.Text(layout.Bold, "No pods"))
	}
	if r.PodsOmitted > 0 {
		title = append(title, layout.Textf(layout.Warn, ", and %d more that are left out", r.PodsOmitted))
	}
	lines := o.sorting.titled(p, title, "  ", o.facts.counts(p))
	for i, l := range gapLines(p, podGaps(r)) {
		if i < 3 {
			lines = append(lines, l)
		}
	}
	if l := o.filter.line(p, len(o.rows.order), len(r.Pods), "pods"); l != nil {
		lines = append(lines, l)
	}
	return lines
}

// podGaps are those about pods: the other ones are told where they matter.
func podGaps(r *explain.Report) []explain.Gap {
	var out []explain.Gap
	for i := range r.Gaps {
		if r.Gaps[i].What == "pods" {
			out = append(out, r.Gaps[i])
		}
	}
	return out
}

// noPods says why nothing is listed.
func noPods(r *explain.Report) string {
	switch {
	case len(r.Pods) > 0:
		return "No pod has these words in its name, state, cause, rule or node."
	case len(podGaps(r)) > 0:
		return "No pods could be read."
	case r.Counts.Failed+r.Counts.Succeeded > 0:
		return "No pod of the Job is there any more. What failed is under Failures."
	}
	return "The Job has no pods yet."
}
