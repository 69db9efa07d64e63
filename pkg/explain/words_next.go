package explain

import "fmt"

// text is what happens when the clock ends.
func (w *Wait) text() string {
	switch w.Kind {
	case WaitBackoff:
		return fmt.Sprintf("pods are created again, after %s", times(w.Failures, "failure in a row", "failures in a row"))
	case WaitIndexBackoff:
		return w.retryText()
	case WaitDeadline:
		return fmt.Sprintf("the Job fails if it is not finished (activeDeadlineSeconds %d)", w.Seconds)
	case WaitGrace:
		return fmt.Sprintf("the grace period of %s is over", times(w.Count, "terminating pod", "terminating pods"))
	}
	return fmt.Sprintf("the Job and its pods are deleted (ttlSecondsAfterFinished %d)", w.Seconds)
}

// retryText is what happens when the back-off of the first index ends.
func (w *Wait) retryText() string {
	who := "index " + w.Indexes
	if w.Count > 1 {
		who = fmt.Sprintf("the first of %d indexes in back-off", w.Count)
	}
	if w.NoRoom {
		return who + " may get its next pod, when there is room for it"
	}
	return who + " gets its next pod"
}

func (s *Step) text() string {
	switch s.Kind {
	case StepTTL, StepIndexBackoff, StepDeadline:
		return s.Wait.Text
	case StepBackoff:
		return "the back-off ends and " + s.Wait.Text
	case StepGone:
		return "the Job goes away once its pods and finalizers are gone"
	case StepBlocked:
		return "nothing, until that changes"
	case StepTerminated:
		return "the last terminating pod has to have ended by then"
	case StepEnd:
		return fmt.Sprintf("the condition %s follows once every pod has ended and is counted", s.Condition)
	case StepReplace:
		return fmt.Sprintf("replacements follow once %s ended (podReplacementPolicy Failed)", times(s.Count, "terminating pod has", "terminating pods have"))
	}
	if s.Kind.isCreation() {
		return s.creationText()
	}
	return s.limitText()
}

func (k StepKind) isCreation() bool {
	return k == StepRetryCreation || k == StepUnknownBackoff || k == StepCreate || k == StepNextIndexes
}

func (s *Step) creationText() string {
	switch s.Kind {
	case StepRetryCreation:
		return fmt.Sprintf("creating %s is tried again, with growing pauses", times(s.Count, "pod", "pods"))
	case StepUnknownBackoff:
		return "pods are created once the back-off is over, 10 minutes after the last failure at most; the failed pods that would tell are gone"
	case StepCreate:
		return times(s.Count, "pod is", "pods are") + " created"
	}
	return fmt.Sprintf("as pods end, others begin: %s to come", times(s.Count, "index is", "indexes are"))
}

func (s *Step) limitText() string {
	switch s.Kind {
	case StepSuccessRule:
		return fmt.Sprintf("the Job is complete after %s by rule %d of the successPolicy (%s so far)", times(s.Count, "more success", "more successes"), *s.Rule, s.Progress)
	case StepBackoffLimit:
		return fmt.Sprintf("the Job fails after %s (backoffLimit %d)", times(s.Count, "more failure", "more failures"), s.Limit)
	case StepFailedIndexes:
		return "the Job fails (FailedIndexes) once its other indexes have ended, as some have failed"
	}
	return fmt.Sprintf("the Job fails after %s (maxFailedIndexes %d)", times(s.Count, "more failed index", "more failed indexes"), s.Limit)
}
