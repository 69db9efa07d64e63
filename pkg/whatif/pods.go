package whatif

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// exitTerminated is the exit code of a process that ends because of a deletion.
const exitTerminated = 143

// ofPod returns the behavior of a pod.
func (o *observer) ofPod(p *explain.Pod) attempt {
	a := attempt{name: p.Name, created: between(o.begun, p.CreatedAt), known: between(p.CreatedAt, o.in.Now)}
	a.act.TerminateExit = exitTerminated
	for _, c := range p.Conditions {
		a.act.Conditions = append(a.act.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
	}
	if p.Restarts == 0 {
		a.act.Delay = between(p.CreatedAt, p.StartedAt)
	}
	o.addRestarts(&a, p)
	switch {
	case p.Deleting && !p.EndedBeforeDeletion():
		o.addDeletion(&a, p)
	case p.IsTerminal():
		a.known = between(p.CreatedAt, p.FinishedAt)
		o.addEnd(&a, p)
	default:
		a.ending, a.act.Unscheduled = stopped, p.Phase == corev1.PodPending
	}
	return a
}

// addEnd adds how a pod ended on its own.
func (o *observer) addEnd(a *attempt, p *explain.Pod) {
	if p.Disruption != "" {
		a.ending = removed
	}
	a.act.Run = max(time.Millisecond, a.known-a.act.Delay)
	if p.Phase == corev1.PodFailed {
		a.act.Run += failureDelay
		for _, t := range p.Terminated {
			a.act.Ends = append(a.act.Ends, sim.ContainerEnd{Name: t.Name, Exit: t.ExitCode, Reason: t.Reason})
		}
		if !slices.ContainsFunc(a.act.Ends, func(e sim.ContainerEnd) bool { return e.Exit != 0 }) {
			a.act.FailReason, a.act.Ends = cmp.Or(p.StatusReason, unknownReason), nil
		}
	}
}

// failureDelay separates pods that ended within the same second: failures, which may end the Job, came last.
const failureDelay = 300 * time.Millisecond

// actionOf returns the action of the podFailurePolicy for a failed pod, empty if no rule matches.
func (o *observer) actionOf(p *explain.Pod) batchv1.PodFailurePolicyAction {
	policy := o.in.Job.Spec.PodFailurePolicy
	if policy == nil {
		return ""
	}
	return failurepolicy.Evaluate(policy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, true).Action
}

// unknownReason is the reason of a failed pod that reports none.
const unknownReason = "Unknown"

// addDeletion adds the end of a pod by a deletion.
func (o *observer) addDeletion(a *attempt, p *explain.Pod) {
	asked := between(p.CreatedAt, p.DeletedAt)
	a.act.Terminate = min(p.Grace, century) + time.Hour // The kubelet kills it when its grace period is over.
	if p.IsTerminal() {
		a.act.Terminate = between(p.DeletedAt, p.FinishedAt)
		a.act.TerminateExit = 0
		for _, t := range p.Terminated {
			a.act.TerminateExit = max(a.act.TerminateExit, t.ExitCode)
		}
		if p.Phase == corev1.PodFailed && a.act.TerminateExit == 0 {
			a.act.TerminateExit = exitTerminated
		}
	}
	a.known, a.ending = asked, stopped
	if !o.stoppedByController(p.Name, p.DeletedAt) {
		a.remove(asked)
	}
}

// remove makes another client than the controller delete the pod after a time.
func (a *attempt) remove(after time.Duration) {
	a.ending, a.known = removed, after
	a.act.Run, a.act.RemovedAfter = sim.Forever, max(time.Millisecond, after)
}

// addRestarts adds the restarts of containers: their number, and the time of the last.
func (o *observer) addRestarts(a *attempt, p *explain.Pod) {
	a.act.Restarts = p.Restarts
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Before && c.Restarts > 0 {
			a.act.RestartsAfter = max(a.act.RestartsAfter, between(p.CreatedAt, c.EndedAt))
		}
	}
}
