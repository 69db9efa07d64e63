package analysis

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// next is what happens next, if nobody does anything.
func (a *situation) next() []explain.Step {
	steps := a.nextSteps()
	for i := range steps {
		steps[i].Text = words.StepText(&steps[i])
	}
	return steps
}

func (a *situation) nextSteps() []explain.Step {
	switch blocker := a.blocker(); {
	case a.finished():
		return a.nextAt(explain.WaitTTL, explain.StepTTL)
	case a.job.DeletionTimestamp != nil:
		return []explain.Step{{Kind: explain.StepGone}}
	case blocker != nil && holdsWholeJob(blocker):
		return []explain.Step{{Kind: explain.StepBlocked}}
	case a.outcome.decided():
		return a.nextEnd()
	}
	return append(a.nextPods(), a.nextLimits()...)
}

// nextAt is the step that a clock leads to, if it runs.
func (a *situation) nextAt(wait explain.WaitKind, kind explain.StepKind) []explain.Step {
	w := a.wait(wait)
	if w == nil {
		return nil
	}
	return []explain.Step{{Kind: kind, At: &w.Until, Wait: w}}
}

// doomed reports whether the Job can no longer succeed: an index has failed, and no rule of a
// successPolicy can make up for it.
func (a *numbers) doomed() bool {
	if !a.perIndex() || a.indexes.FailedCount == 0 {
		return false
	}
	return !slices.ContainsFunc(rulesOf(a.success), func(r explain.SuccessRule) bool { return !r.Impossible })
}

// wait is the clock of one kind, or nil.
func (a *situation) wait(kind explain.WaitKind) *explain.Wait {
	for i := range a.waits {
		if a.waits[i].Kind == kind {
			return &a.waits[i]
		}
	}
	return nil
}

// nextEnd is what happens to a Job whose end is decided.
func (a *situation) nextEnd() []explain.Step {
	terminal := explain.FateFailed
	if a.outcome.Fate == explain.FateSucceeding {
		terminal = explain.FateComplete
	}
	return append(a.nextAt(explain.WaitGrace, explain.StepTerminated), explain.Step{Kind: explain.StepEnd, Condition: string(terminal)})
}

func (a *situation) nextPods() []explain.Step {
	steps := append(a.nextAt(explain.WaitBackoff, explain.StepBackoff), a.nextAt(explain.WaitIndexBackoff, explain.StepIndexBackoff)...)
	if n := a.plan.Findings.WaitTerminating; n > 0 {
		steps = append(steps, explain.Step{Kind: explain.StepReplace, Count: n})
	}
	steps = append(steps, a.nextCreation()...)
	for _, r := range rulesOf(a.success) {
		if !r.Met && !r.Impossible {
			steps = append(steps, explain.Step{Kind: explain.StepSuccessRule, Rule: &r.Index, Count: r.Need - r.Have, Progress: r.Text})
		}
	}
	return steps
}

// nextCreation is which pods are created, now or when others have ended.
func (a *situation) nextCreation() []explain.Step {
	var steps []explain.Step
	switch n := int32(len(a.plan.Create)); {
	case n > 0 && a.refused():
		steps = append(steps, explain.Step{Kind: explain.StepRetryCreation, Count: n})
	case n > 0 && a.backoffUnknown():
		steps = append(steps, explain.Step{Kind: explain.StepUnknownBackoff, Count: n})
	case n > 0 && a.reconciler.Alive != explain.NotAlive:
		steps = append(steps, explain.Step{Kind: explain.StepCreate, Count: n})
	}
	if a.indexed() {
		if s := a.indexes; s.PendingCount > 0 && s.ActiveCount > 0 {
			steps = append(steps, explain.Step{Kind: explain.StepNextIndexes, Count: s.PendingCount})
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
	return slices.ContainsFunc(a.problems, func(p explain.Problem) bool { return p.Kind == explain.ProblemCreationRefused })
}

// nextLimits is how far the Job is from failing.
func (a *situation) nextLimits() []explain.Step {
	var steps []explain.Step
	if l := a.backoffLimit; l != nil && l.Used > 0 && l.Left > 0 {
		steps = append(steps, explain.Step{Kind: explain.StepBackoffLimit, Count: l.Left, Limit: l.Limit, Unit: l.Unit})
	}
	if a.doomed() {
		steps = append(steps, explain.Step{Kind: explain.StepFailedIndexes})
	}
	if f := a.plan.Findings.MaxFailedIndexes; f != nil && f.Failed > 0 && f.Failed <= f.Limit {
		steps = append(steps, explain.Step{Kind: explain.StepMaxFailedIndexes, Count: f.Limit - f.Failed + 1, Limit: f.Limit})
	}
	return append(steps, a.nextAt(explain.WaitDeadline, explain.StepDeadline)...)
}

// century is longer than anything that is worth a countdown: activeDeadlineSeconds has no upper bound.
const century = 100 * 365 * 24 * time.Hour

// clocks are those that run, the one that ends first first.
func (a *analysis) clocks() []explain.Wait {
	var out []explain.Wait
	add := func(w explain.Wait, until time.Time) {
		if until.After(a.Now) && until.Sub(a.Now) < century {
			w.Until = metav1.NewTime(until)
			w.Text = words.WaitText(&w)
			out = append(out, w)
		}
	}
	suspended := jobspec.IsSuspended(a.spec)
	if f := a.plan.Findings.Backoff; f != nil {
		add(explain.Wait{Kind: explain.WaitBackoff, Failures: f.Failures}, f.Until)
	}
	if until, waiting := a.indexBackoff(); !waiting.IsEmpty() && !suspended {
		add(explain.Wait{Kind: explain.WaitIndexBackoff, Indexes: waiting.String(), Count: int32(waiting.Len()), NoRoom: !a.roomForRetries()}, until)
	}
	if end := a.plan.Findings.Deadline; !end.IsZero() && !a.outcome.decided() && !suspended {
		add(explain.Wait{Kind: explain.WaitDeadline, Seconds: *a.spec.ActiveDeadlineSeconds}, end)
	}
	if last, n := a.lastGrace(); n > 0 {
		add(explain.Wait{Kind: explain.WaitGrace, Count: n}, last)
	}
	if end, ttl := FinishedAt(a.job), a.spec.TTLSecondsAfterFinished; end != nil && ttl != nil && a.job.DeletionTimestamp == nil {
		add(explain.Wait{Kind: explain.WaitTTL, Seconds: int64(*ttl)}, end.Add(time.Duration(*ttl)*time.Second))
	}
	slices.SortStableFunc(out, func(x, y explain.Wait) int { return cmp.Or(x.Until.Compare(y.Until.Time), cmp.Compare(x.Kind, y.Kind)) })
	return out
}

// lastGrace is when the last terminating pod should have ended, and how many there are.
func (a *analysis) lastGrace() (last time.Time, n int32) {
	for _, p := range a.terminating {
		n++
		if end := p.DeletedAt.Add(p.Grace); end.After(last) {
			last = end
		}
	}
	return last, n
}
