package rules

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Pairs holds the interim and the terminal condition of each outcome of a Job.
var Pairs = []struct{ Interim, Terminal batchv1.JobConditionType }{
	{batchv1.JobFailureTarget, batchv1.JobFailed}, {batchv1.JobSuccessCriteriaMet, batchv1.JobComplete},
}

// Problem describes a violation, with the id of the requirement or invariant.
type Problem struct{ ID, Text string }

// ConditionProblems checks MGB-09, MGB-11 and S11: first the interim condition, in a write of its own, then the terminal
// condition with the same reason and message, then no more changes.
func ConditionProblems(old, job *batchv1.Job) (problems []Problem) {
	add := func(id, format string, args ...any) {
		problems = append(problems, Problem{id, fmt.Sprintf(format, args...)})
	}
	if history.IsFinished(old) {
		add("MGB-11", "the status of a finished Job changed")
	}
	for _, pair := range Pairs {
		before, now, end := history.Condition(old, pair.Interim), history.Condition(job, pair.Interim), history.Condition(job, pair.Terminal)
		if end != nil && before == nil && history.Condition(old, pair.Terminal) == nil {
			add("MGB-09", "%s without %s in an earlier write", pair.Terminal, pair.Interim)
		}
		if isOtherCause(before, now) {
			add("S11", "%s was %s (%s), and is %s (%s)", pair.Interim, before.Reason, before.Message, now.Reason, now.Message)
		}
		if isOtherCause(end, now) {
			add("S11", "%s is %s (%s), and %s is %s (%s)", pair.Interim, now.Reason, now.Message, pair.Terminal, end.Reason, end.Message)
		}
	}
	return problems
}

// isOtherCause reports whether both conditions exist and differ in reason or message.
func isOtherCause(a, b *batchv1.JobCondition) bool {
	return a != nil && b != nil && (a.Reason != b.Reason || a.Message != b.Message)
}

// Known holds facts about a Job that its stored version does not show, at the write that adds an interim condition.
type Known struct {
	// Failures is the number of failed pods, by the checker's own count.
	Failures int
	// Running reports whether a pod is active, whatever the status contains.
	Running bool
	// Deadline explains why the deadline has not passed, NoReason why the condition must have a reason, and NoRule why no
	// podFailurePolicy rule led to the condition; each is empty if there is no such problem.
	Deadline, NoReason, NoRule string
}

// CauseProblem returns why the reason of an interim condition is wrong, or "".
func CauseProblem(job *batchv1.Job, c *batchv1.JobCondition, known Known) string {
	completed, failed := Completed(&job.Status), Failed(&job.Status)
	switch c.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		restarts := job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		return When(known.Failures <= int(ptr.Deref(job.Spec.BackoffLimit, 6)) && !restarts, fmt.Sprintf("there are %d failures", known.Failures))
	case batchv1.JobReasonDeadlineExceeded:
		return known.Deadline
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		limit := job.Spec.MaxFailedIndexes
		return When(limit == nil || failed.Len() <= int(*limit), "there are not so many")
	case batchv1.JobReasonFailedIndexes:
		return When(failed.IsEmpty() || completed.Union(failed).Len() < int(ptr.Deref(job.Spec.Completions, 0)), "some may still run, or none failed")
	case batchv1.JobReasonSuccessPolicy:
		met := MetRule(job.Spec.SuccessPolicy, completed)
		return When(met < 0 || !strings.HasSuffix(c.Message, fmt.Sprintf("at index %d", met)), fmt.Sprintf("it is rule %d that is met", met))
	case batchv1.JobReasonCompletionsReached:
		return notCompleted(job, known.Running)
	case "": // With the gate JobSuccessPolicy off, completions have no reason.
		return known.NoReason + notCompleted(job, known.Running)
	}
	return known.NoRule
}

// notCompleted returns why a Job's completions are not reached, or "": too few successes, or active pods (JOB-02,
// JOB-03).
func notCompleted(job *batchv1.Job, running bool) string {
	n := int(job.Status.Succeeded) + len(history.UncountedSucceeded(&job.Status))
	if history.IsIndexed(&job.Spec) {
		n = Completed(&job.Status).Len()
	}
	switch {
	case job.Status.Active > 0 || running:
		return "pods are active"
	case job.Spec.Completions == nil:
		return When(n == 0, "nothing has succeeded")
	}
	return When(n < int(*job.Spec.Completions), fmt.Sprintf("%d succeeded", n))
}

// DeadlineProblem returns why a deadline has not passed, or "".
func DeadlineProblem(seconds *int64, start *metav1.Time, now time.Time) string {
	switch {
	case seconds == nil:
		return "there is no deadline"
	case start == nil:
		return When(*seconds > 0, "it has not started")
	}
	return When(now.Before(start.Add(time.Duration(*seconds)*time.Second)), "it has not passed")
}

// NamesRule reports whether the message of a condition names the FailJob rule and a pod that matched it (PFP-10). pod is
// "namespace/name" or a suffix of it.
func NamesRule(c *batchv1.JobCondition, rule int, pod string) bool {
	return strings.HasSuffix(c.Message, fmt.Sprintf("matching FailJob rule at index %d", rule)) && strings.Contains(c.Message, pod+" ")
}

// When returns problem if broken is true, or "".
func When(broken bool, problem string) string {
	if broken {
		return problem
	}
	return ""
}
