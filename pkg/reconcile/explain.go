package reconcile

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// explain leaves a finding for every count, time and condition of the status that the
// decisions led to, unless the decision itself did.
func (s *state) explain(next *batchv1.JobStatus) {
	s.explainCount("active", next.Active, s.parallelism, "pods that run, or are about to")
	s.explainCount("ready", deref(next.Ready, 0), next.Active, "active pods that are ready")
	s.explainCount("terminating", deref(next.Terminating, 0), 0, "pods that are being deleted and have not ended")
	s.explainCount("succeeded", next.Succeeded, s.completions, "pods that succeeded and are counted")
	s.explainCount("failed", next.Failed, s.backoffLimit(), s.failureText(next))
	s.explainIndexes("completedIndexes", next.CompletedIndexes, s.completions)
	s.explainIndexes("failedIndexes", deref(next.FailedIndexes, ""), deref(s.job.Spec.MaxFailedIndexes, s.completions))
	if u := next.UncountedTerminatedPods; u != nil {
		s.explainCount("uncountedTerminatedPods", count32(u.Succeeded)+count32(u.Failed), int32(s.cfg.MaxUncounted), "pods that are recorded, and counted once their finalizer is gone")
	}
	s.explainTime("startTime", next.StartTime)
	s.explainTime("completionTime", next.CompletionTime)
	for _, c := range next.Conditions {
		if c.Type != batchv1.JobSuspended {
			continue
		}
		f := about(FindingResumed)
		if c.Status == corev1.ConditionTrue {
			f.Kind = FindingSuspended
		}
		f.Explains, f.Reason, f.Message = string(c.Type), c.Reason, c.Message
		s.find(f)
	}
}

// explainFinished says of a finished Job what its status says.
func (s *state) explainFinished() {
	for _, c := range s.job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			s.setFate(fate{condition: c.Type, reason: c.Reason, message: c.Message, stored: true})
		case batchv1.JobFailed, batchv1.JobComplete:
			s.findFinished(c.Type, c.Reason, c.Message, s.job.Status.Succeeded)
		}
	}
	s.explain(&s.job.Status)
}

func (s *state) findFinished(terminal batchv1.JobConditionType, reason, message string, succeeded int32) {
	f := about(FindingFinished)
	f.Explains, f.Reason, f.Message = string(terminal), reason, message
	s.find(f)
	if terminal == batchv1.JobComplete {
		s.findSurplus(succeeded)
	}
}

// findSurplus tells of a NonIndexed Job that is complete with more successes than it asks
// for (JOB-14): a pod too many ended well before it could be taken away. Only the final
// count is told, so that there is one event.
func (s *state) findSurplus(succeeded int32) {
	if s.indexed || s.noCompletions || succeeded <= s.completions {
		return
	}
	f := about(FindingTooManySucceeded)
	f.Explains = ExplainsEvent + "TooManySucceededPods"
	f.Count, f.Limit = succeeded, s.completions
	f.Message = fmt.Sprintf("%d pods succeeded, and spec.completions asks for %d; the Job is complete all the same", f.Count, f.Limit)
	s.find(f)
}

func (s *state) explainCount(field string, n, limit int32, of string) {
	if n == 0 {
		return
	}
	f := about(FindingCount)
	f.Explains, f.Count, f.Limit, f.Message = field, n, limit, of
	s.find(f)
}

func (s *state) explainIndexes(field, text string, limit int32) {
	if text == "" {
		return
	}
	s.explainCount(field, int32(indexset.CountTolerant(text, 1<<31-1)), limit, text)
}

func (s *state) explainTime(field string, at *metav1.Time) {
	if at == nil {
		return
	}
	f := about(FindingTime)
	f.Explains, f.Until = field, at.Time
	s.find(f)
}

// failureText takes the failures apart that count against backoffLimit.
func (s *state) failureText(next *batchv1.JobStatus) string {
	text := "failed pods that are counted"
	recorded := 0
	if u := next.UncountedTerminatedPods; u != nil {
		recorded = len(u.Failed)
	}
	for _, more := range []struct {
		n  int
		of string
	}{{recorded, "recorded"}, {len(s.predecessors), "waiting for the next pod of their index"}, {len(s.ignored), "ignored by policy"}} {
		if more.n > 0 {
			text += fmt.Sprintf("; %d more %s", more.n, more.of)
		}
	}
	return text
}
