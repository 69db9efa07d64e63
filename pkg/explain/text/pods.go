package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// podTable writes the most informative pods.
func (v *view) podTable() {
	all, omitted := v.report.Pods, int64(v.report.PodsOmitted)
	if len(all) == 0 || v.brief {
		return
	}
	if !v.page.opts.Full && len(all) > rowsLimit {
		omitted += int64(len(all) - rowsLimit)
		all = all[:rowsLimit]
	}
	v.page.Title("Pods", "")
	columns := []layout.Column{
		{Header: "POD", Min: v.nameWidth(), Middle: true}, {Header: "INDEX", Right: true}, {Header: "ATTEMPT", Right: true, Drop: 3},
		{Header: "STATE"}, {Header: "DURATION", Right: true, Drop: 4}, {Header: "RESTARTS", Right: true, Drop: 2},
		{Header: "NODE", Min: 12, Middle: true, Drop: 5}, {Header: "COUNTED", Drop: 6}, {Header: "CAUSE", Wrap: true, Min: 20, Drop: 1},
	}
	var rows [][]layout.Line
	for i := range all {
		rows = append(rows, v.podRow(&all[i]))
	}
	v.page.Table(indentSection, columns, rows)
	v.page.omitted(omitted, "pod", "pods")
}

// nameWidth returns the minimum width of a pod's name, which users copy.
func (v *view) nameWidth() int {
	if v.page.opts.Width < 80 {
		return 18
	}
	return 36
}

func (v *view) podRow(pod *explain.PodInfo) []layout.Line {
	index := ""
	if pod.Index != nil {
		index = fmt.Sprint(*pod.Index)
	}
	return []layout.Line{
		layout.Plainly(pod.Name), layout.Plainly(index), layout.Plainly(section.Number(pod.Attempt)),
		section.PodState(v.frame, pod), layout.Plainly(v.ran(pod)), layout.Plainly(section.Number(pod.Restarts)),
		layout.Plainly(pod.Node), layout.Plainly(section.PodCounted(pod)), layout.Plainly(pod.Cause),
	}
}

// ran returns the run time of the pod since its first container started, or since its creation if that start is unknown.
func (v *view) ran(pod *explain.PodInfo) string {
	start := pod.Started
	if start.IsZero() {
		start = pod.Created
	}
	if start.IsZero() {
		return ""
	}
	end := v.report.ObservedAt
	if !pod.Ended.IsZero() {
		end = *pod.Ended
	}
	return wording.Duration(max(0, end.Sub(start.Time)))
}
