package explain

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func seconds(n int64) string { return age(time.Duration(n) * time.Second) }

// next is what happens next, if nobody does anything.
func (a *analysis) next() []Step {
	var steps []Step
	say := func(at *metav1.Time, format string, args ...any) {
		steps = append(steps, Step{At: at, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case a.finished():
		if w := a.wait(WaitTTL); w != nil {
			say(&w.Until, "%s", w.Text)
		}
		return steps
	case a.job.DeletionTimestamp != nil:
		say(nil, "the Job goes away once its pods and finalizers are gone")
		return steps
	case a.blocker() != nil && a.blocker().wholeJob():
		say(nil, "nothing, until that changes")
		return steps
	case a.fate.decided():
		a.nextEnd(say)
		return steps
	}
	a.nextPods(say)
	a.nextLimits(say)
	return steps
}

// doomed says that the Job cannot succeed any more: an index has failed, and no rule of a
// successPolicy can make up for it.
func (a *analysis) doomed() bool {
	if !a.perIndex() || a.r.Indexes.FailedCount == 0 {
		return false
	}
	return !slices.ContainsFunc(a.r.SuccessPolicy.orNone(), func(r SuccessRule) bool { return !r.Impossible })
}

// wait is the clock of one kind, or nil.
func (a *analysis) wait(kind WaitKind) *Wait {
	for i := range a.r.Waits {
		if a.r.Waits[i].Kind == kind {
			return &a.r.Waits[i]
		}
	}
	return nil
}

// nextEnd is what happens to a Job whose end is decided.
func (a *analysis) nextEnd(say func(*metav1.Time, string, ...any)) {
	terminal := "Failed"
	if a.fate.Fate == FateSucceeding {
		terminal = "Complete"
	}
	if w := a.wait(WaitGrace); w != nil {
		say(&w.Until, "the last terminating pod has to have ended by then")
	}
	say(nil, "the condition %s follows once every pod has ended and is counted", terminal)
}

func (a *analysis) nextPods(say func(*metav1.Time, string, ...any)) {
	if w := a.wait(WaitBackoff); w != nil {
		say(&w.Until, "the back-off ends and %s", w.Text)
	}
	if w := a.wait(WaitIndexBackoff); w != nil {
		say(&w.Until, "%s", w.Text)
	}
	if n := a.plan.Findings.WaitTerminating; n > 0 {
		say(nil, "replacements follow once %s ended (podReplacementPolicy Failed)", times(n, "terminating pod has", "terminating pods have"))
	}
	a.nextCreation(say)
	for _, r := range a.r.SuccessPolicy.orNone() {
		if !r.Met && !r.Impossible {
			say(nil, "the Job is complete after %s by rule %d of the successPolicy (%s so far)", times(r.Need-r.Have, "more success", "more successes"), r.Index, r.Text)
		}
	}
}

// nextCreation is which pods are created, now or when others have ended.
func (a *analysis) nextCreation(say func(*metav1.Time, string, ...any)) {
	switch n := int32(len(a.plan.Create)); {
	case n > 0 && a.refused():
		say(nil, "creating %s is tried again, with growing pauses", times(n, "pod", "pods"))
	case n > 0 && a.backoffUnknown():
		say(nil, "pods are created once the back-off is over, 10 minutes after the last failure at most; the failed pods that would tell are gone")
	case n > 0 && a.r.Reconciler.Alive != NotAlive:
		say(nil, "%s created", times(n, "pod is", "pods are"))
	}
	if a.indexed() {
		if s := a.r.Indexes; s.PendingCount > 0 && s.ActiveCount > 0 {
			say(nil, "as pods end, others begin: %s to come", times(s.PendingCount, "index is", "indexes are"))
		}
	}
}

// backoffUnknown says that the pods whose ends a back-off counts from are gone.
func (a *analysis) backoffUnknown() bool {
	return a.job.Status.Active == 0 && a.job.Status.Failed > 0 && len(a.failures) == 0
}

// refused says that the API server takes no pod of the Job.
func (a *analysis) refused() bool {
	return slices.ContainsFunc(a.r.Problems, func(p Problem) bool { return p.Kind == ProblemCreationRefused })
}

// nextLimits is how far the Job is from failing.
func (a *analysis) nextLimits(say func(*metav1.Time, string, ...any)) {
	if f := a.plan.Findings.BackoffLimit; f != nil && a.spec.BackoffLimit != nil && !a.perIndex() && f.Failures > 0 {
		if left := f.Limit - f.Failures; left >= 0 {
			say(nil, "the Job fails after %s (backoffLimit %d)", times(left+1, "more failure", "more failures"), f.Limit)
		}
	}
	if a.doomed() {
		say(nil, "the Job fails (FailedIndexes) once its other indexes have ended, as some have failed")
	}
	if f := a.plan.Findings.MaxFailedIndexes; f != nil && f.Failed > 0 && f.Failed <= f.Limit {
		say(nil, "the Job fails after %s (maxFailedIndexes %d)", times(f.Limit-f.Failed+1, "more failed index", "more failed indexes"), f.Limit)
	}
	if w := a.wait(WaitDeadline); w != nil {
		say(&w.Until, "%s", w.Text)
	}
}
