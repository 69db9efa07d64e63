package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// pods are those that say most.
func (v *view) pods() {
	all, omitted := v.report.Pods, int64(v.report.PodsOmitted)
	if len(all) == 0 || v.brief {
		return
	}
	if !v.page.opts.Full && len(all) > rowsLimit {
		omitted += int64(len(all) - rowsLimit)
		all = all[:rowsLimit]
	}
	v.page.title("Pods", "")
	t := table{columns: []tableColumn{
		{header: "POD", least: v.nameWidth()}, {header: "INDEX", right: true}, {header: "ATTEMPT", right: true, drop: 3}, {header: "STATE"},
		{header: "RAN", right: true, drop: 4}, {header: "RESTARTS", right: true, drop: 2}, {header: "NODE", least: 12, drop: 5},
		{header: "COUNTED", drop: 6}, {header: "CAUSE", drop: 1},
	}}
	for i := range all {
		v.podRow(&t, &all[i])
	}
	v.page.table(indentSection, t)
	v.omitted(omitted, "pod", "pods")
}

// nameWidth is how much of the name of a pod must stay: it is what people copy.
func (v *view) nameWidth() int {
	if v.page.opts.Width < 80 {
		return 18
	}
	return 28
}

func (v *view) podRow(t *table, pod *explain.PodInfo) {
	index := ""
	if pod.Index != nil {
		index = fmt.Sprint(*pod.Index)
	}
	state := pod.State
	if pod.Ready && state == "Running" {
		state = "Running, ready"
	}
	t.add(textCell(pod.Name), textCell(index), textCell(countOrNone(pod.Attempt)), styledCell(stateStyle(pod.State), state),
		textCell(v.ran(pod)), textCell(countOrNone(pod.Restarts)), textCell(pod.Node), textCell(countedWord(pod.Counted)), textCell(pod.Cause))
}

// ran is how long the pod has run since its first container started, as the ends of its
// containers tell it; or how long it has been there if that start is not known.
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

func countedWord(counted string) string {
	switch counted {
	case "Counted":
		return "yes"
	case "Recorded":
		return "recorded"
	case "NotCounted":
		return "no"
	case "AwaitsReplacement":
		return "with next pod"
	}
	return counted
}
