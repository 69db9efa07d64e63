package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
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
	v.page.Title("Pods", "")
	cause := prose("CAUSE")
	cause.Drop = 1
	t := table{columns: []layout.Column{
		{Header: "POD", Min: v.nameWidth(), Middle: true}, {Header: "INDEX", Right: true}, {Header: "ATTEMPT", Right: true, Drop: 3},
		{Header: "STATE"}, {Header: "RAN", Right: true, Drop: 4}, {Header: "RESTARTS", Right: true, Drop: 2},
		{Header: "NODE", Min: 12, Middle: true, Drop: 5}, {Header: "COUNTED", Drop: 6}, cause,
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
	return 36
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
	t.add(
		layout.Plainly(pod.Name), layout.Plainly(index), layout.Plainly(countOrNone(pod.Attempt)),
		cell(stateStyle(pod.State), state), layout.Plainly(v.ran(pod)), layout.Plainly(countOrNone(pod.Restarts)),
		layout.Plainly(pod.Node), layout.Plainly(countedWord(pod.Counted)), layout.Plainly(pod.Cause),
	)
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
