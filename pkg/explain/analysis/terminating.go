package analysis

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// terminatingPods: pods that do not end, and pods that hold a place while they do.
func (a *analysis) terminatingPods() []explain.Problem {
	waits := a.plan.Findings.WaitTerminating > 0
	order := []explain.ProblemKind{explain.ProblemNodeGone, explain.ProblemTerminatingStuck, explain.ProblemTerminatingHolds}
	found := map[explain.ProblemKind]*explain.Problem{}
	for _, pod := range a.terminating {
		kind := a.terminatingKind(pod, waits)
		if kind == "" {
			continue
		}
		p := found[kind]
		if p == nil {
			p = &explain.Problem{Kind: kind, Blocks: true, Holds: a.holds()}
			found[kind] = p
		}
		if kind == explain.ProblemNodeGone {
			p.Node, p.Reason = pod.Node, cmp.Or(a.GoneNodes[pod.Node], "it is lost")
		}
		addPod(p, pod.Name)
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(pod.DeletedAt)
		}
	}
	var out []explain.Problem
	for _, kind := range order {
		if p := found[kind]; p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// terminatingKind is what is wrong with a terminating pod, "" if nothing is: it is in its
// grace period, and no replacement waits for it.
func (a *analysis) terminatingKind(pod *explain.Pod, waits bool) explain.ProblemKind {
	late := a.Now.Sub(pod.DeletedAt.Add(pod.Grace)) > slack
	_, away := a.GoneNodes[pod.Node]
	switch {
	case away && pod.Node != "", late && pod.StatusReason == "NodeLost":
		return explain.ProblemNodeGone
	case late:
		return explain.ProblemTerminatingStuck
	case waits:
		return explain.ProblemTerminatingHolds
	}
	return ""
}

// holds is what waits for terminating pods.
func (a *analysis) holds() explain.Holds {
	switch {
	case a.fate.decided():
		return explain.HoldsEnd
	case a.plan.Findings.WaitTerminating > 0:
		return explain.HoldsReplacement
	}
	return explain.HoldsNothing
}
