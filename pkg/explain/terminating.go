package explain

import (
	"cmp"
)

// terminatingPods: pods that do not end, and pods that hold a place while they do.
func (a *analysis) terminatingPods() []Problem {
	waits := a.plan.Findings.WaitTerminating > 0
	order := []ProblemKind{ProblemNodeGone, ProblemTerminatingStuck, ProblemTerminatingHolds}
	found := map[ProblemKind]*Problem{}
	for _, pod := range a.terminating {
		kind := a.terminatingKind(pod, waits)
		if kind == "" {
			continue
		}
		p := found[kind]
		if p == nil {
			p = &Problem{Kind: kind, Blocks: true, Holds: a.holds()}
			found[kind] = p
		}
		if kind == ProblemNodeGone {
			p.Node, p.Reason = pod.Node, cmp.Or(a.GoneNodes[pod.Node], "it is lost")
		}
		p.add(pod.Name)
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = timeOf(pod.DeletedAt)
		}
	}
	var out []Problem
	for _, kind := range order {
		if p := found[kind]; p != nil {
			out = append(out, *p)
		}
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

// holds is what waits for terminating pods.
func (a *analysis) holds() Holds {
	switch {
	case a.fate.decided():
		return HoldsEnd
	case a.plan.Findings.WaitTerminating > 0:
		return HoldsReplacement
	}
	return HoldsNothing
}
