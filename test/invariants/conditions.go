package invariants

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// checkConditions checks MGB-09..11 and S11: first the interim condition, in a write of its
// own, then the terminal one, with the same reason; after that, nothing. The reason must be
// correct, by what is stored and by how the pods ended.
func (c *checker) checkConditions(l *ledger, old *batchv1.Job) {
	job := l.job
	if history.IsFinished(old) {
		c.violate(job, "MGB-11", "the status of a finished Job changed")
	}
	c.checkPair(l, old, batchv1.JobFailureTarget, batchv1.JobFailed)
	c.checkPair(l, old, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	if history.IsFinished(job) && ptr.Deref(job.Status.Ready, 0) != 0 {
		c.violate(job, "MGB-10", "finished with %d ready pods", *job.Status.Ready)
	}
}

// checkPair checks one pair of conditions.
func (c *checker) checkPair(l *ledger, old *batchv1.Job, interim, terminal batchv1.JobConditionType) {
	job := l.job
	before, now, end := history.Condition(old, interim), history.Condition(job, interim), history.Condition(job, terminal)
	if end != nil && before == nil && history.Condition(old, terminal) == nil {
		c.violate(job, "MGB-09", "%s without %s in an earlier write", terminal, interim)
	}
	if isOtherCause(before, now) {
		c.violate(job, "S11", "%s changed its reason from %s to %s", interim, before.Reason, now.Reason)
	}
	if isOtherCause(end, now) {
		c.violate(job, "S11", "%s has reason %s, and %s has %s", terminal, end.Reason, interim, now.Reason)
	}
	if before != nil || now == nil || isForged(job) {
		return
	}
	if problem := l.noCause(old, now); problem != "" {
		c.violate(job, "S11", "%s has reason %s (%s): %s", interim, now.Reason, now.Message, problem)
	}
}

// isOtherCause reports whether two conditions that are there do not say the same.
func isOtherCause(a, b *batchv1.JobCondition) bool {
	return a != nil && b != nil && (a.Reason != b.Reason || a.Message != b.Message)
}

// noCause returns why the reason of an interim condition is wrong, or "".
func (l *ledger) noCause(old *batchv1.Job, c *batchv1.JobCondition) string {
	job := l.job
	completed, failed := completedIndexes(job), failedIndexes(job)
	switch c.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		n := l.failures()
		restarts := job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		return when(n <= int(ptr.Deref(job.Spec.BackoffLimit, 6)) && !restarts, fmt.Sprintf("there are %d failures", n))
	case batchv1.JobReasonDeadlineExceeded:
		return when(!deadlinePassed(old, c.LastTransitionTime.Time), "it has not passed")
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		return when(failed.Len() <= int(ptr.Deref(job.Spec.MaxFailedIndexes, 1<<30)), "there are not so many")
	case batchv1.JobReasonFailedIndexes:
		return when(failed.IsEmpty() || completed.Union(failed).Len() < int(ptr.Deref(job.Spec.Completions, 0)), "some may still run, or none failed")
	case batchv1.JobReasonSuccessPolicy:
		met := metRule(job)
		return when(met < 0 || !strings.HasSuffix(c.Message, fmt.Sprintf("at index %d", met)), fmt.Sprintf("it is rule %d that is met", met))
	case batchv1.JobReasonCompletionsReached:
		return l.notCompleted()
	case "": // With the gate JobSuccessPolicy off, completions have no reason.
		return when(c.Type != batchv1.JobSuccessCriteriaMet, "it has none") + l.notCompleted()
	}
	return l.noRule(c)
}

func when(bad bool, problem string) string {
	if bad {
		return problem
	}
	return ""
}

// failures is the checker's own count of the pods that failed.
func (l *ledger) failures() (n int) {
	for _, pod := range l.pods {
		if pod.failure(l.job) {
			n++
		}
	}
	return n
}

func deadlinePassed(old *batchv1.Job, now time.Time) bool {
	seconds, start := old.Spec.ActiveDeadlineSeconds, old.Status.StartTime
	if seconds == nil || start == nil {
		return seconds != nil && *seconds <= 0
	}
	return !now.Before(start.Add(time.Duration(*seconds) * time.Second))
}

func (l *ledger) notCompleted() string {
	job := l.job
	n := int(job.Status.Succeeded) + len(history.UncountedSucceeded(job))
	if history.IsIndexed(job) {
		n = completedIndexes(job).Len()
	}
	switch {
	case job.Status.Active > 0:
		return "pods are active"
	case job.Spec.Completions == nil:
		return when(n == 0, "nothing has succeeded")
	}
	return when(n < int(*job.Spec.Completions), fmt.Sprintf("%d succeeded", n))
}

// noRule checks a Job that a rule of its podFailurePolicy failed: a pod did match the
// rule, and reason and message report it (PFN-02, PFP-10).
func (l *ledger) noRule(c *batchv1.JobCondition) string {
	for _, pod := range l.pods {
		for _, failure := range pod.failures {
			action, rule := matchedRule(l.job, failure)
			if action == batchv1.PodFailurePolicyActionFailJob && namesRule(c, rule) && strings.Contains(c.Message, "/"+failure.Name+" ") {
				return ""
			}
		}
	}
	return "no pod failed like that"
}

// namesRule reports whether reason and message are those of a rule. Its name may come from the
// annotation, or from the rule itself.
func namesRule(c *batchv1.JobCondition, rule int) bool {
	named := c.Reason == batchv1.JobReasonPodFailurePolicy || strings.HasPrefix(c.Reason, batchv1.JobReasonPodFailurePolicy+"_")
	return named && strings.HasSuffix(c.Message, fmt.Sprintf("matching FailJob rule at index %d", rule))
}
