package explain

import (
	"cmp"
	"fmt"
)

// terminatingPods: pods that do not end, and pods that hold a place while they do.
func (a *analysis) terminatingPods() []Problem {
	waits := a.plan.Findings.WaitTerminating > 0
	order := []ProblemKind{ProblemNodeGone, ProblemTerminatingStuck, ProblemTerminatingHolds}
	found := map[ProblemKind]*Problem{}
	node := ""
	for _, pod := range a.terminating {
		kind := a.terminatingKind(pod, waits)
		if kind == "" {
			continue
		}
		p := found[kind]
		if p == nil {
			p = &Problem{Kind: kind, Blocks: true}
			found[kind] = p
		}
		if kind == ProblemNodeGone {
			node = fmt.Sprintf("node %s, which cannot end %s (%s)", pod.Node, plural(int(p.Count)+1, "it", "them"), cmp.Or(a.GoneNodes[pod.Node], "it is lost"))
		}
		p.add(pod.Name)
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = timeOf(pod.DeletedAt)
		}
	}
	var out []Problem
	for _, kind := range order {
		p := found[kind]
		if p == nil {
			continue
		}
		switch kind {
		case ProblemNodeGone:
			p.Text = fmt.Sprintf("%s terminating on %s", times(p.Count, "pod is", "pods are"), node)
		case ProblemTerminatingStuck:
			p.Text = fmt.Sprintf("%s terminating beyond the grace period", times(p.Count, "pod is", "pods are"))
		default:
			p.Text = times(p.Count, "pod is terminating", "pods are terminating")
		}
		p.Text += ", and " + a.terminatingEffect()
		out = append(out, *p)
	}
	return out
}

// terminatingKind is what is wrong with a terminating pod, "" if nothing is: it is in its
// grace period, and no replacement waits for it.
func (a *analysis) terminatingKind(pod *Pod, waits bool) ProblemKind {
	late := a.Now.Sub(pod.DeletedAt.Add(pod.Grace)) > slack
	_, away := a.GoneNodes[pod.Node]
	switch {
	case away && pod.Node != "", late && pod.StatusReason == "NodeLost":
		return ProblemNodeGone
	case late:
		return ProblemTerminatingStuck
	case waits:
		return ProblemTerminatingHolds
	}
	return ""
}

// terminatingEffect is what waits for terminating pods.
func (a *analysis) terminatingEffect() string {
	switch {
	case a.fate.decided():
		return "the Job does not end before"
	case a.plan.Findings.WaitTerminating > 0:
		return "its replacement is not created before (podReplacementPolicy Failed)"
	}
	return "status.terminating counts it"
}
