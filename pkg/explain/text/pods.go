package text

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// podTable writes the most informative pods.
func (v *view) podTable() {
	if len(v.report.Pods) == 0 {
		return
	}
	v.page.Title("Pods", "")
	type pod = explain.PodInfo
	nameWidth := 36 // users copy names
	if v.page.opts.Width < 80 {
		nameWidth = 18
	}
	v.page.Table(indentSection, layout.TableOf([]layout.Column[pod]{
		{Header: "POD", Min: nameWidth, Middle: true, Text: func(p *pod) string { return p.Name }},
		{Header: "INDEX", Right: true, Text: section.PodIndex},
		{Header: "ATTEMPT", Right: true, Drop: 3, Text: func(p *pod) string { return section.Number(p.Attempt) }},
		{Header: "STATE", Cell: func(p *pod) layout.Line { return section.PodState(v.frame, p) }},
		{Header: "DURATION", Right: true, Drop: 4, Text: v.ran},
		{Header: "RESTARTS", Right: true, Drop: 2, Text: func(p *pod) string { return section.Number(p.Restarts) }},
		{Header: "NODE", Min: 12, Middle: true, Drop: 5, Text: func(p *pod) string { return p.Node }},
		{Header: "COUNTED", Drop: 6, Text: section.PodCounted},
		{Header: "CAUSE", Wrap: true, Min: 20, Drop: 1, Text: func(p *pod) string { return p.Cause }},
	}, v.report.Pods))
	v.page.omitted(int64(v.report.PodsOmitted), "pod", "pods")
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
	return wording.Age(end.Sub(start.Time))
}
