package invariants

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// checkConditions checks MGB-09..11 and S11: first the interim condition, in a write of its own, then the terminal
// condition with the same reason, then no more changes. The reason must agree with the stored status and with how the
// pods ended.
func (c *checker) checkConditions(l *ledger, old *batchv1.Job) {
	job := l.job
	for _, p := range rules.ConditionProblems(old, job) {
		c.violate(job, p.ID, "%s", p.Text)
	}
	for _, pair := range rules.Pairs {
		now := history.Condition(job, pair.Interim)
		if now == nil || history.Condition(old, pair.Interim) != nil || isForged(job) {
			continue
		}
		known := rules.Known{
			Failures: l.failures(),
			Deadline: rules.DeadlineProblem(old.Spec.ActiveDeadlineSeconds, old.Status.StartTime, now.LastTransitionTime.Time),
			NoReason: rules.When(now.Type != batchv1.JobSuccessCriteriaMet, "it has none"),
			NoRule:   l.noRule(now),
		}
		if problem := rules.CauseProblem(job, now, known); problem != "" {
			c.violate(job, "S11", "%s has reason %s (%s): %s", pair.Interim, now.Reason, now.Message, problem)
		}
	}
	if history.IsFinished(job) && ptr.Deref(job.Status.Ready, 0) != 0 {
		c.violate(job, "MGB-10", "finished with %d ready pods", *job.Status.Ready)
	}
}

// failures returns the checker's own count of failed pods.
func (l *ledger) failures() (n int) {
	for _, pod := range l.pods {
		if pod.failure(l.job) {
			n++
		}
	}
	return n
}

// noRule checks a Job that a podFailurePolicy rule failed: a pod matched the rule, and reason and message name both
// (PFN-02, PFP-10).
func (l *ledger) noRule(c *batchv1.JobCondition) string {
	for _, pod := range l.pods {
		for _, failure := range pod.failures {
			action, rule := matchedRule(l.job, failure)
			if action == batchv1.PodFailurePolicyActionFailJob && isNamedAfterRule(c) && rules.NamesRule(c, rule, "/"+failure.Name) {
				return ""
			}
		}
	}
	return "no pod failed like that"
}

// isNamedAfterRule reports whether the reason may name a rule. The rule's name may come from the annotation or from the
// rule.
func isNamedAfterRule(c *batchv1.JobCondition) bool {
	return c.Reason == batchv1.JobReasonPodFailurePolicy || strings.HasPrefix(c.Reason, batchv1.JobReasonPodFailurePolicy+"_")
}
