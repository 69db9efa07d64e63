package timeline

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/policies"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Values are the inputs of the next steps besides the facts and the failures.
type Values struct {
	// Blocker is the problem in Problems that holds up the Job, nil if there is none.
	Blocker      *explain.Problem
	Problems     []explain.Problem
	Waits        []explain.Wait
	Reconciler   *explain.Reconciler
	Success      *explain.SuccessPolicy
	Indexes      *explain.Indexes
	BackoffLimit *explain.BackoffLimit
}

// NextSteps returns what happens next without any intervention.
func NextSteps(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Step {
	var steps []explain.Step
	switch {
	case in.Finished():
		steps = nextAt(v, explain.WaitTTL, explain.StepTTL)
	case in.Job.DeletionTimestamp != nil:
		steps = []explain.Step{{Kind: explain.StepGone}}
	case v.Blocker != nil && v.Blocker.HoldsJob:
		steps = nextHeld(in, v.Blocker)
	case in.Decision.Decided():
		terminal := reconcile.OutcomeFailed
		if in.Decision.Outcome == reconcile.OutcomeSucceeding {
			terminal = reconcile.OutcomeComplete
		}
		steps = append(nextAt(v, explain.WaitGrace, explain.StepTerminated), explain.Step{Kind: explain.StepEnd, Condition: string(terminal)})
	default:
		steps = append(nextPods(in, failed, v), nextLimits(in, v)...)
	}
	for i := range steps {
		steps[i].Text = words.StepText(&steps[i])
	}
	return steps
}

// nextHeld returns what happens to a Job that is held: Kueue queues it again after an admission check failed or an eviction, and starts it
// when it has room for it.
func nextHeld(in *facts.Facts, p *explain.Problem) []explain.Step {
	h := p.Suspension.Hold
	switch {
	case h == nil:
	case h.Passes():
		return []explain.Step{{Kind: explain.StepRoom}}
	case h.Requeues():
		step := explain.Step{Kind: explain.StepRequeue}
		if h.RequeueAt != nil && h.RequeueAt.After(in.Now) {
			step.At = h.RequeueAt
		}
		return []explain.Step{step}
	}
	return []explain.Step{{Kind: explain.StepBlocked}}
}

// nextAt returns the step at the end of a clock, if it runs.
func nextAt(v *Values, wait explain.WaitKind, kind explain.StepKind) []explain.Step {
	for i := range v.Waits {
		if w := &v.Waits[i]; w.Kind == wait {
			return []explain.Step{{Kind: kind, At: &w.Until, Wait: w}}
		}
	}
	return nil
}

func nextPods(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Step {
	steps := append(nextAt(v, explain.WaitBackoff, explain.StepBackoff), nextAt(v, explain.WaitIndexBackoff, explain.StepIndexBackoff)...)
	if n := in.Plan.Findings.WaitTerminating; n > 0 {
		steps = append(steps, explain.Step{Kind: explain.StepReplace, Count: n})
	}
	steps = append(steps, nextCreation(in, failed, v)...)
	if v.Success == nil {
		return steps
	}
	for _, r := range v.Success.Rules {
		if !r.Met && !r.Impossible {
			steps = append(steps, explain.Step{Kind: explain.StepSuccessRule, Rule: &r.Index, Count: r.Need - r.Have, Progress: r.Text})
		}
	}
	return steps
}

// nextCreation returns the creation of pods, now or after others have ended.
func nextCreation(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Step {
	var steps []explain.Step
	isRefusal := func(p explain.Problem) bool { return p.Kind == explain.ProblemCreationRefused }
	// The failed pods that start the back-off may no longer exist.
	backoffUnknown := in.Job.Status.Active == 0 && len(failed.All) == 0 && (in.Job.Status.Failed > 0 || len(in.Lost()) > 0)
	switch n := int32(len(in.Plan.Create)); {
	case n > 0 && slices.ContainsFunc(v.Problems, isRefusal):
		steps = append(steps, explain.Step{Kind: explain.StepRetryCreation, Count: n})
	case n > 0 && backoffUnknown:
		steps = append(steps, explain.Step{Kind: explain.StepUnknownBackoff, Count: n, At: explain.TimeOf(facts.BackoffOfLost(in))})
	case n > 0 && v.Reconciler.Alive != explain.NotAlive:
		steps = append(steps, explain.Step{Kind: explain.StepCreate, Count: n})
	}
	if s := v.Indexes; s != nil && s.PendingCount > 0 && s.ActiveCount > 0 && !slices.ContainsFunc(v.Problems, isRefusal) {
		steps = append(steps, explain.Step{Kind: explain.StepNextIndexes, Count: s.PendingCount})
	}
	return steps
}

// nextLimits returns how far the Job is from failing.
func nextLimits(in *facts.Facts, v *Values) []explain.Step {
	var steps []explain.Step
	l := v.BackoffLimit
	if l != nil && l.NoRetries && len(in.Active) > 0 {
		steps = append(steps, explain.Step{Kind: explain.StepQueueEnds, Count: int32(len(in.Active))})
	}
	// The containers of a pod that blocks the Job may run, or have ended for good, while its limit counts restarts.
	restartsNone := v.Blocker != nil && v.Blocker.Kind == explain.ProblemContainerEnded && v.Blocker.Stopping.Killed == nil
	if l != nil && (l.Unit != explain.LimitRestarts || !restartsNone) && l.Used > 0 && l.Left > 0 && (!l.NoRetries || l.Left <= int32(len(in.Active))) { // Failed pods that nothing replaces reach no limit.
		steps = append(steps, explain.Step{Kind: explain.StepBackoffLimit, Count: l.Left, Limit: l.Limit, Unit: l.Unit})
	}
	if policies.WillFail(in, v.Success) {
		steps = append(steps, explain.Step{Kind: explain.StepFailedIndexes})
	}
	if f := in.Plan.Findings.MaxFailedIndexes; f != nil && f.Failed > 0 && f.Failed <= f.Limit {
		steps = append(steps, explain.Step{Kind: explain.StepMaxFailedIndexes, Count: f.Limit - f.Failed + 1, Limit: f.Limit})
	}
	return append(steps, nextAt(v, explain.WaitDeadline, explain.StepDeadline)...)
}
