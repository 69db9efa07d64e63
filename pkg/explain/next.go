package explain

import (
	"slices"
)

// next is what happens next, if nobody does anything.
func (a *situation) next() []Step {
	steps := a.nextSteps()
	for i := range steps {
		steps[i].Text = steps[i].text()
	}
	return steps
}

func (a *situation) nextSteps() []Step {
	switch blocker := a.blocker(); {
	case a.finished():
		return a.nextAt(WaitTTL, StepTTL)
	case a.job.DeletionTimestamp != nil:
		return []Step{{Kind: StepGone}}
	case blocker != nil && blocker.wholeJob():
		return []Step{{Kind: StepBlocked}}
	case a.fate.decided():
		return a.nextEnd()
	}
	return append(a.nextPods(), a.nextLimits()...)
}

// nextAt is the step that a clock leads to, if it runs.
func (a *situation) nextAt(wait WaitKind, kind StepKind) []Step {
	w := a.wait(wait)
	if w == nil {
		return nil
	}
	return []Step{{Kind: kind, At: &w.Until, Wait: w}}
}

// doomed reports whether the Job cannot succeed any more: an index has failed, and no rule of a
// successPolicy can make up for it.
func (a *numbers) doomed() bool {
	if !a.perIndex() || a.indexes.FailedCount == 0 {
		return false
	}
	return !slices.ContainsFunc(a.success.orNone(), func(r SuccessRule) bool { return !r.Impossible })
}

// wait is the clock of one kind, or nil.
func (a *situation) wait(kind WaitKind) *Wait {
	for i := range a.waits {
		if a.waits[i].Kind == kind {
			return &a.waits[i]
		}
	}
	return nil
}

// nextEnd is what happens to a Job whose end is decided.
func (a *situation) nextEnd() []Step {
	terminal := FateFailed
	if a.fate.Fate == FateSucceeding {
		terminal = FateComplete
	}
	return append(a.nextAt(WaitGrace, StepTerminated), Step{Kind: StepEnd, Condition: string(terminal)})
}

func (a *situation) nextPods() []Step {
	steps := append(a.nextAt(WaitBackoff, StepBackoff), a.nextAt(WaitIndexBackoff, StepIndexBackoff)...)
	if n := a.plan.Findings.WaitTerminating; n > 0 {
		steps = append(steps, Step{Kind: StepReplace, Count: n})
	}
	steps = append(steps, a.nextCreation()...)
	for _, r := range a.success.orNone() {
		if !r.Met && !r.Impossible {
			steps = append(steps, Step{Kind: StepSuccessRule, Rule: &r.Index, Count: r.Need - r.Have, Progress: r.Text})
		}
	}
	return steps
}

// nextCreation is which pods are created, now or when others have ended.
func (a *situation) nextCreation() []Step {
	var steps []Step
	switch n := int32(len(a.plan.Create)); {
	case n > 0 && a.refused():
		steps = append(steps, Step{Kind: StepRetryCreation, Count: n})
	case n > 0 && a.backoffUnknown():
		steps = append(steps, Step{Kind: StepUnknownBackoff, Count: n})
	case n > 0 && a.reconciler.Alive != NotAlive:
		steps = append(steps, Step{Kind: StepCreate, Count: n})
	}
	if a.indexed() {
		if s := a.indexes; s.PendingCount > 0 && s.ActiveCount > 0 {
			steps = append(steps, Step{Kind: StepNextIndexes, Count: s.PendingCount})
		}
	}
	return steps
}

// backoffUnknown reports whether the pods whose ends a back-off counts from are gone.
func (a *analysis) backoffUnknown() bool {
	return a.job.Status.Active == 0 && a.job.Status.Failed > 0 && len(a.failures) == 0
}

// refused reports whether the API server takes no pod of the Job.
func (a *situation) refused() bool {
	return slices.ContainsFunc(a.problems, func(p Problem) bool { return p.Kind == ProblemCreationRefused })
}

// nextLimits is how far the Job is from failing.
func (a *situation) nextLimits() []Step {
	var steps []Step
	if f := a.plan.Findings.BackoffLimit; f != nil && a.spec.BackoffLimit != nil && !a.perIndex() && f.Failures > 0 && f.Failures <= f.Limit {
		steps = append(steps, Step{Kind: StepBackoffLimit, Count: f.Limit - f.Failures + 1, Limit: f.Limit})
	}
	if a.doomed() {
		steps = append(steps, Step{Kind: StepFailedIndexes})
	}
	if f := a.plan.Findings.MaxFailedIndexes; f != nil && f.Failed > 0 && f.Failed <= f.Limit {
		steps = append(steps, Step{Kind: StepMaxFailedIndexes, Count: f.Limit - f.Failed + 1, Limit: f.Limit})
	}
	return append(steps, a.nextAt(WaitDeadline, StepDeadline)...)
}
