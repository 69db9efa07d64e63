package explain

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// What the accounting makes of an ended pod, in PodInfo.Counted.
const (
	Counted           = "Counted"
	Recorded          = "Recorded"
	NotCounted        = "NotCounted"
	AwaitsReplacement = "AwaitsReplacement"
)

// podInfos are the pods of the Job: failed ones first, then those that do not start, that
// end, that run, and that succeeded.
func (a *analysis) podInfos() ([]PodInfo, int32) {
	failures := map[types.UID]*failure{}
	for i := range a.failures {
		failures[a.failures[i].pod.UID] = &a.failures[i]
	}
	accounting := a.accounting()
	var shown []*Pod
	for i := range a.Pods {
		if a.inFocus(&a.Pods[i]) {
			shown = append(shown, &a.Pods[i])
		}
	}
	slices.SortFunc(shown, func(x, y *Pod) int {
		return cmp.Or(cmp.Compare(podRank(x), podRank(y)), cmp.Compare(x.Index, y.Index), cmp.Compare(y.Attempt, x.Attempt), y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.Name, y.Name))
	})
	limit := cmp.Or(a.o.MaxPods, DefaultMaxPods)
	if limit < 0 {
		limit = len(shown)
	}
	omitted := max(0, len(shown)-limit)
	out := make([]PodInfo, 0, len(shown)-omitted)
	for _, p := range shown[:len(shown)-omitted] {
		out = append(out, a.podInfo(p, failures[p.UID], accounting))
	}
	return out, int32(omitted)
}

func podRank(p *Pod) int {
	switch {
	case p.Phase == corev1.PodFailed:
		return 0
	case p.Deleting:
		return 2
	case p.Phase == corev1.PodSucceeded:
		return 4
	case p.Phase == corev1.PodRunning && p.waiting(crashLoop...) == nil:
		return 3
	}
	return 1
}

func (a *analysis) podInfo(p *Pod, f *failure, accounting map[types.UID]string) PodInfo {
	info := PodInfo{
		Name: p.Name, Attempt: p.Attempt, Phase: string(p.Phase), State: p.State(), Ready: p.Ready, Node: p.Node,
		Created: timeOf(p.CreatedAt), Restarts: p.Restarts,
	}
	if p.Index >= 0 {
		info.Index = ptr.To(p.Index)
	}
	if p.IsTerminating() && !p.DeletedAt.IsZero() {
		info.GraceEnds = timeOf(p.DeletedAt.Add(p.Grace))
	}
	if p.IsTerminal() {
		info.Ended = timeOf(p.FinishedAt)
		info.Counted = cmp.Or(accounting[p.UID], Counted)
		if p.Finalizer && accounting[p.UID] == "" {
			info.Counted = NotCounted
		}
	}
	if f != nil {
		info.Cause = f.cause.Evidence()
		if f.match != nil && f.match.Rule != failurepolicy.NoRule {
			info.Rule, info.Action = ptr.To(f.match.Rule), string(f.match.Action)
			if f.match.Action == batchv1.PodFailurePolicyActionIgnore {
				info.Counted = NotCounted
			}
		}
	}
	return info
}

// State is the word for what the pod does, as kubectl's printer has it where it can.
func (p *Pod) State() string {
	switch {
	case p.IsTerminating():
		return "Terminating"
	case p.Phase == corev1.PodFailed:
		return p.failedState()
	case p.IsTerminal():
		return string(p.Phase)
	case len(p.Gates) > 0:
		return "SchedulingGated"
	case p.Unschedulable != "" && p.Node == "":
		return "Unschedulable"
	}
	for _, c := range p.Containers {
		if c.Waiting != "" {
			return c.Waiting
		}
	}
	return string(p.Phase)
}

// failedState is the reason of the pod, or that of the first container that failed.
func (p *Pod) failedState() string {
	if p.StatusReason != "" {
		return p.StatusReason
	}
	for _, c := range p.Containers {
		if c.Ended && c.ExitCode != 0 {
			return cmp.Or(c.Reason, "Error")
		}
	}
	return string(corev1.PodFailed)
}

// accounting is where an ended pod stands in the three steps of KEP-2307, for pods that
// have not gone through all of them.
func (a *analysis) accounting() map[types.UID]string {
	out := map[types.UID]string{}
	for i := range a.plan.Findings {
		switch f := &a.plan.Findings[i]; f.Kind {
		case reconcile.FindingRecorded:
			out[f.PodUID] = NotCounted
		case reconcile.FindingDelayed:
			out[f.PodUID] = AwaitsReplacement
		}
	}
	if u := a.job.Status.UncountedTerminatedPods; u != nil {
		for _, uid := range slices.Concat(u.Succeeded, u.Failed) {
			out[uid] = Recorded
		}
	}
	return out
}
