package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// claimPods adopts strays that the Job's selector matches, and disowns pods that it no longer matches (KEP-2307,
// TRK-25). A Job that is being deleted does neither (JOB-37). It returns the other pods of the Job, and whether any
// pods are still to be adopted or disowned.
func claimPods(job *jobView, o *Observation, plan *planner) (selected []*Pod, claiming bool) {
	if job.deleting {
		return o.Pods, false
	}
	for _, p := range o.Strays {
		if !mayBeCounted(job, p) {
			claiming = true
			plan.adopt(p)
		}
	}
	if !slices.ContainsFunc(o.Pods, func(p *Pod) bool { return p.Unselected }) {
		return o.Pods, claiming
	}
	selected = make([]*Pod, 0, len(o.Pods))
	var unselected []*Pod
	for _, p := range o.Pods {
		if p.Unselected {
			unselected = append(unselected, p)
		} else {
			selected = append(selected, p)
		}
	}
	slices.SortFunc(unselected, compareFailures)
	for _, p := range unselected {
		plan.disown(p)
	}
	return selected, true
}

// mayBeCounted reports whether a stray may have been counted before it lost the finalizer (TRK-12). A Job that fails
// counts its running pods (PRP-16), but not running pods that a Job controller did not create.
func mayBeCounted(job *jobView, p *Pod) bool {
	return !p.Finalizer && (p.IsTerminal() || p.Made && job.stored.failing())
}

// holdersOf returns the recorded pods that still have the finalizer. A pod that the Job does not control at the moment
// also keeps its record: it may come back, and must not be counted twice.
func holdersOf(job *jobView, o *Observation) map[types.UID]bool {
	held := map[types.UID]bool{}
	for uid := range o.Held {
		held[uid] = true
	}
	if len(job.uncounted) == 0 {
		return held
	}
	for _, list := range [][]*Pod{o.Strays, o.Pods} {
		for _, p := range list {
			if !p.Finalizer {
				continue
			}
			if _, recorded := job.uncounted[p.UID]; recorded {
				held[p.UID] = true
			}
		}
	}
	return held
}
