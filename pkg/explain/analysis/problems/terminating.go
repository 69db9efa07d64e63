package problems

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// terminatingPods: pods that do not end, and pods that hold a place while they do.
func terminatingPods(in *facts.Facts) []explain.Problem {
	waits := in.Plan.Findings.WaitTerminating > 0
	order := []explain.ProblemKind{explain.ProblemNodeGone, explain.ProblemTerminatingStuck, explain.ProblemTerminatingHolds}
	found := map[explain.ProblemKind]*explain.Problem{}
	for _, pod := range in.Terminating {
		kind := terminatingKind(in, pod, waits)
		if kind == "" {
			continue
		}
		p := found[kind]
		if p == nil {
			p = &explain.Problem{Kind: kind, Blocks: true, Holds: holds(in)}
			found[kind] = p
		}
		if kind == explain.ProblemNodeGone {
			p.Node, p.Reason = pod.Node, cmp.Or(in.GoneNodes[pod.Node], words.NodeLost)
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

// terminatingKind is what is wrong with a terminating pod, "" if nothing is: it is in its grace period, and no replacement
// waits for it.
func terminatingKind(in *facts.Facts, pod *explain.Pod, waits bool) explain.ProblemKind {
	late := in.Now.Sub(pod.DeletedAt.Add(pod.Grace)) > facts.Slack
	_, away := in.GoneNodes[pod.Node]
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
func holds(in *facts.Facts) explain.Holds {
	switch {
	case in.Outcome.Decided():
		return explain.HoldsEnd
	case in.Plan.Findings.WaitTerminating > 0:
		return explain.HoldsReplacement
	}
	return explain.HoldsNothing
}
