package checker

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// ending is a write of a status, checked for the conditions that end the Job.
type ending struct {
	*Checker
	h *History
	m sim.Commit
}

// conditions checks S11: a decision about the end of a Job is final. The interim condition comes first, in a write of
// its own and with a valid reason, then the terminal condition with the same reason and message, and then no more
// changes (MGB-09, MGB-11).
func (c ending) conditions() {
	old, next := c.m.OldJob, c.m.NewJob
	if history.IsDecided(next) || history.IsFinished(next) {
		if c.h.EndingSince.IsZero() {
			c.h.EndingSince, c.h.EndingBy = c.world.Now(), c.m.By
			for _, l := range c.h.Order {
				l.Over = c.knownToEnd(l)
			}
		}
	}
	if !c.m.Ours() {
		return
	}
	for _, p := range rules.ConditionProblems(old, next) {
		c.Violate(p.ID, "%s", p.Text)
	}
	if history.Is(next, batchv1.JobFailureTarget) && history.Is(next, batchv1.JobSuccessCriteriaMet) || history.Is(next, batchv1.JobFailed) && history.Is(next, batchv1.JobComplete) {
		c.Violate("S11", "the Job succeeds and fails")
	}
	for _, pair := range rules.Pairs {
		c.becomes(pair.Interim)
	}
	if !history.Is(old, batchv1.JobSuspended) && history.Is(next, batchv1.JobSuspended) && c.runs() {
		c.Violate("S11", "the Job is called suspended, and a pod is active") // JOB-26
	}
}

// runs reports whether a pod is active that the writing process must have seen.
func (c ending) runs() bool {
	return slices.ContainsFunc(c.h.Order, func(l *Life) bool { return l.active() && !c.unseen(l, c.m) })
}

// becomes checks an interim condition: it stays, and its reason is valid.
func (c ending) becomes(interim batchv1.JobConditionType) {
	job, before, now := c.m.NewJob, history.Condition(c.m.OldJob, interim), history.Condition(c.m.NewJob, interim)
	if before != nil && now == nil {
		c.Violate("S11", "%s is gone", interim)
	}
	if before != nil || now == nil {
		return
	}
	known := rules.Known{
		Failures: c.countedFailures(),
		// Includes pods that the status counts as terminating because they are about to be deleted.
		Running:  c.runs(),
		Deadline: rules.DeadlineProblem(job.Spec.ActiveDeadlineSeconds, c.m.OldJob.Status.StartTime, c.world.Now().Add(c.slack())),
		NoReason: rules.When(c.features().SuccessPolicy, "it has no reason"),
		NoRule:   c.ruleProblem(job, now),
	}
	if problem := rules.CauseProblem(job, now, known); problem != "" {
		c.Violate("S11", "%s is %s (%s): %s", interim, now.Reason, now.Message, problem)
	}
}

// countedFailures returns the Checker's own count of failed pods that the writing process may have seen as failed,
// including pods that were rightly recorded as failed before they succeeded.
func (c ending) countedFailures() (n int) {
	for _, l := range c.h.Order {
		if l.lost || c.mayHaveFailed(l, c.possible(c.h)...) && (l.tampered || !c.features().ignored(c.h.Job, l.Pod)) {
			n++
		}
	}
	return n
}

// shown returns the pods of a Job, with their earlier versions if another client changed how they ended and the process
// may have missed that.
func (c ending) shown() (pods []*corev1.Pod) {
	for _, l := range c.h.Order {
		pods = append(pods, l.Pod)
		for _, v := range l.tampers {
			if c.recent(v.until) {
				pods = append(pods, v.pod)
			}
		}
	}
	return pods
}

// ruleProblem checks a Job that a podFailurePolicy rule failed: a pod matched the rule, and reason and message name both
// (PFN-02, PFN-09, PFP-10).
func (c ending) ruleProblem(job *batchv1.Job, condition *batchv1.JobCondition) string {
	for _, pod := range c.shown() {
		action, rule := c.features().ruling(job, pod)
		if action == batchv1.PodFailurePolicyActionFailJob && rules.NamesRule(condition, rule, " "+sim.Namespace+"/"+pod.Name) &&
			slices.Contains(c.ruleReasons(job, rule), condition.Reason) {
			return ""
		}
	}
	return "no pod failed like that"
}

// ruleReasons returns the valid reasons for a rule: with its index, or with its name if it has one.
func (c ending) ruleReasons(job *batchv1.Job, rule int) []string {
	if !c.features().RuleNames {
		return []string{batchv1.JobReasonPodFailurePolicy}
	}
	reasons := []string{fmt.Sprintf("%s_%d", batchv1.JobReasonPodFailurePolicy, rule)}
	for _, entry := range strings.Split(job.Annotations[RuleNamesAnnotation], ";") {
		if place, name, _ := strings.Cut(entry, "="); place == fmt.Sprint(rule) {
			reasons = append(reasons, batchv1.JobReasonPodFailurePolicy+"_"+name)
		}
	}
	return reasons
}

// RuleNamesAnnotation holds the names of podFailurePolicy rules.
const RuleNamesAnnotation = "batchjob.dev/pod-failure-policy-rule-names"
