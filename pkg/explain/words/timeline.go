package words

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// MomentAbout returns Job, Pod, Condition or Event.
func MomentAbout(m *explain.Moment) string {
	switch m.Kind {
	case explain.MomentPodsCreated, explain.MomentPodsSucceeded, explain.MomentPodsFailed:
		return "Pod"
	case explain.MomentCondition:
		return "Condition"
	case explain.MomentEvent, explain.MomentOmitted:
		return "Event"
	}
	return "Job"
}

// MomentText describes the moment, without a full stop.
func MomentText(m *explain.Moment) string {
	switch m.Kind {
	case explain.MomentCreated:
		return "the Job was created"
	case explain.MomentStarted:
		return "the Job started"
	case explain.MomentDeletionRequested:
		return "its deletion was requested"
	case explain.MomentCondition:
		return conditionText(m)
	case explain.MomentPodsCreated:
		return momentPods(m) + wording.Form(m.PodCount, " was created", " were created")
	case explain.MomentPodsSucceeded:
		return momentPods(m) + " succeeded"
	case explain.MomentPodsFailed:
		return momentPods(m) + " failed: " + LowerFirst(m.Cause)
	case explain.MomentOmitted:
		return wording.Count(m.Count, "more")
	}
	return m.Reason + ": " + m.Message
}

// momentPods returns "pod a-x7" or "3 pods".
func momentPods(m *explain.Moment) string {
	if m.Pod != "" {
		return "pod " + m.Pod
	}
	return wording.Plural(m.PodCount, "pod", "pods")
}

func conditionText(m *explain.Moment) string {
	text := "condition " + m.Condition
	if m.Status != string(corev1.ConditionTrue) {
		text += " is " + m.Status
	}
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	return text
}

// waitText describes what happens when the wait ends.
func waitText(w *explain.Wait) string {
	switch w.Kind {
	case explain.WaitBackoff:
		return fmt.Sprintf("pods are created again after %s", wording.Plural(w.Failures, "failure in a row", "failures in a row"))
	case explain.WaitIndexBackoff:
		return retryText(w)
	case explain.WaitDeadline:
		return fmt.Sprintf("the Job fails if it has not finished (activeDeadlineSeconds %d)", w.Seconds)
	case explain.WaitGrace:
		return fmt.Sprintf("the grace period of %s ends", wording.Plural(w.Count, "terminating pod", "terminating pods"))
	}
	return fmt.Sprintf("the Job and its pods are deleted (ttlSecondsAfterFinished %d)", w.Seconds)
}

// retryText describes what happens when the back-off of the first index ends.
func retryText(w *explain.Wait) string {
	who := "index " + w.Indexes
	if w.Count > 1 {
		who = fmt.Sprintf("the first of %s in back-off", wording.Count(w.Count, "indexes"))
	}
	if w.NoRoom {
		return who + " may get its next pod, if parallelism allows it"
	}
	return who + " gets its next pod"
}

// StepText describes the next step, without a full stop.
func StepText(s *explain.Step) string {
	switch s.Kind {
	case explain.StepTTL, explain.StepIndexBackoff, explain.StepDeadline:
		return s.Wait.Text
	case explain.StepBackoff:
		return "the back-off ends and " + s.Wait.Text
	case explain.StepGone:
		return "the Job is removed once its pods and finalizers are gone"
	case explain.StepBlocked:
		return "nothing happens until this changes"
	case explain.StepRequeue:
		return "Kueue tries again to admit the Job"
	case explain.StepRoom:
		return "Kueue starts the Job once there is room for it"
	case explain.StepTerminated:
		return "the last terminating pod must have ended by then"
	case explain.StepEnd:
		return fmt.Sprintf("the condition %s is set once all pods have ended and are in the status", s.Condition)
	case explain.StepReplace:
		return fmt.Sprintf("replacements are created once %s ended (podReplacementPolicy Failed)", wording.Plural(s.Count, "terminating pod has", "terminating pods have"))
	case explain.StepRetryCreation, explain.StepUnknownBackoff, explain.StepCreate, explain.StepNextIndexes:
		return creationText(s)
	}
	return limitText(s)
}

func creationText(s *explain.Step) string {
	switch s.Kind {
	case explain.StepRetryCreation:
		return fmt.Sprintf("creating %s is retried with increasing delays", wording.Plural(s.Count, "pod", "pods"))
	case explain.StepUnknownBackoff:
		if s.At != nil {
			return "the back-off has ended by then, and " + wording.Plural(s.Count, "pod is", "pods are") + " created"
		}
		return "pods are created when the back-off ends, at most 10 minutes after the last failure; the exact time is unknown because the failed pods are gone"
	case explain.StepCreate:
		return wording.Plural(s.Count, "pod is", "pods are") + " created"
	}
	return fmt.Sprintf("as pods end, others start: %s pending", wording.Plural(s.Count, "index is", "indexes are"))
}

func limitText(s *explain.Step) string {
	switch s.Kind {
	case explain.StepSuccessRule:
		return fmt.Sprintf("the Job is complete after %s by rule %d of the successPolicy; so far %s", wording.Plural(s.Count, "more success", "more successes"), *s.Rule, s.Progress)
	case explain.StepBackoffLimit:
		more := wording.Plural(s.Count, "more failure", "more failures")
		if s.Unit == explain.LimitRestarts {
			more = wording.Plural(s.Count, "more restart", "more restarts")
		}
		return fmt.Sprintf("the Job fails after %s (backoffLimit %d)", more, s.Limit)
	case explain.StepQueueEnds:
		return fmt.Sprintf("the Job is complete when its %s ended", wording.Plural(s.Count, "active pod has", "active pods have"))
	case explain.StepFailedIndexes:
		return "the Job fails (FailedIndexes) once its other indexes have ended, because some have failed"
	}
	return fmt.Sprintf("the Job fails after %s (maxFailedIndexes %d)", wording.Plural(s.Count, "more failed index", "more failed indexes"), s.Limit)
}
