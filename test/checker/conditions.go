package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/rules"
)

// conditions checks S11: a decision about the end of a Job stays. The interim condition comes
// first, in a write of its own, with a reason that applies; then the terminal one, with the
// same reason and message; and then nothing (MGB-09, MGB-11).
func (c *Checker) conditions(h *History, m sim.Commit) {
	old, next := m.OldJob, m.NewJob
	if history.IsDecided(next) || history.IsFinished(next) {
		if h.EndingSince.IsZero() {
			h.EndingSince, h.EndingBy = c.world.Now(), m.By
			for _, l := range h.Order {
				l.Over = c.knownToEnd(l) && !c.isHidden(h, l.Pod)
			}
		}
	}
	if !m.Ours() {
		return
	}
	if history.IsFinished(old) {
		c.Violate("S11", "the status of a finished Job changes")
	}
	if history.Is(next, batchv1.JobFailureTarget) && history.Is(next, batchv1.JobSuccessCriteriaMet) || history.Is(next, batchv1.JobFailed) && history.Is(next, batchv1.JobComplete) {
		c.Violate("S11", "the Job succeeds and fails")
	}
	c.becomes(h, m, batchv1.JobFailureTarget, batchv1.JobFailed)
	c.becomes(h, m, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	if !history.Is(old, batchv1.JobSuspended) && history.Is(next, batchv1.JobSuspended) && c.runs(h, m) {
		c.Violate("S11", "the Job is called suspended, and a pod is active") // JOB-26
	}
}

// runs reports whether a pod is active of which the process behind a write must know.
func (c *Checker) runs(h *History, m sim.Commit) bool {
	return slices.ContainsFunc(h.Order, func(l *Life) bool { return l.active() && !c.unseen(l, m) && !c.isHidden(h, l.Pod) })
}

// becomes checks one pair of conditions.
func (c *Checker) becomes(h *History, m sim.Commit, interim, terminal batchv1.JobConditionType) {
	before, now, end := history.Condition(m.OldJob, interim), history.Condition(m.NewJob, interim), history.Condition(m.NewJob, terminal)
	switch {
	case before != nil && now == nil:
		c.Violate("S11", "%s is gone", interim)
	case before != nil && !sameCause(before, now):
		c.Violate("S11", "%s was %s (%s), and is %s (%s)", interim, before.Reason, before.Message, now.Reason, now.Message)
	case end != nil && before == nil:
		c.Violate("S11", "%s without %s in an earlier write", terminal, interim)
	case end != nil && !sameCause(now, end):
		c.Violate("S11", "%s is %s (%s), and %s is %s (%s)", interim, now.Reason, now.Message, terminal, end.Reason, end.Message)
	case before == nil && now != nil:
		if problem := c.causeProblem(h, m, now); problem != "" {
			c.Violate("S11", "%s is %s (%s): %s", interim, now.Reason, now.Message, problem)
		}
	}
}

func sameCause(a, b *batchv1.JobCondition) bool {
	return a.Reason == b.Reason && a.Message == b.Message
}

// causeProblem returns why the reason of an interim condition does not apply, or "".
func (c *Checker) causeProblem(h *History, m sim.Commit, condition *batchv1.JobCondition) string {
	job := m.NewJob
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	switch condition.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		n := c.countedFailures(h)
		onFailure := job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		return rules.When(n <= *job.Spec.BackoffLimit && !onFailure, fmt.Sprintf("%d failures", n))
	case batchv1.JobReasonDeadlineExceeded:
		return c.deadlineProblem(m)
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		limit := job.Spec.MaxFailedIndexes
		return rules.When(limit == nil || failed.Len() <= int(*limit), "there are not so many")
	case batchv1.JobReasonFailedIndexes:
		return rules.When(failed.IsEmpty() || completed.Union(failed).Len() < int(*job.Spec.Completions), "some may still run, or none failed")
	case batchv1.JobReasonSuccessPolicy:
		rule := rules.MetRule(job.Spec.SuccessPolicy, completed)
		return rules.When(rule < 0 || !strings.HasSuffix(condition.Message, fmt.Sprintf("at index %d", rule)), fmt.Sprintf("it is rule %d that is met", rule))
	case batchv1.JobReasonCompletionsReached:
		return c.completionsProblem(h, m, completed)
	case "":
		return rules.When(c.features().SuccessPolicy, "it has no reason") + c.completionsProblem(h, m, completed)
	}
	return c.ruleProblem(h, job, condition)
}

// countedFailures returns the Checker's own count of the pods that failed, as far as the process behind the present write
// knew, or were rightly recorded as failed before they succeeded.
func (c *Checker) countedFailures(h *History) (n int32) {
	for _, l := range h.Order {
		if l.lost || c.mayHaveFailed(l, c.possible(h)...) && (l.tampered || !c.ignored(h.Job, l.Pod)) {
			n++
		}
	}
	return n
}

func (c *Checker) deadlineProblem(m sim.Commit) string {
	seconds, start := m.NewJob.Spec.ActiveDeadlineSeconds, m.OldJob.Status.StartTime
	switch {
	case seconds == nil:
		return "there is no deadline"
	case start == nil:
		return rules.When(*seconds > 0, "it has not started")
	}
	return rules.When(c.world.Now().Before(start.Add(time.Duration(*seconds)*time.Second-c.slack())), "it has not passed")
}

// completionsProblem returns why a Job is not complete by its completions, or "": too little succeeded,
// or a pod is active (JOB-02, JOB-03), also one that the status calls terminating because it is about
// to be deleted.
func (c *Checker) completionsProblem(h *History, m sim.Commit, completed indexset.Set) string {
	job := m.NewJob
	succeeded := int(job.Status.Succeeded) + len(history.UncountedSucceeded(job))
	if rules.IsIndexed(&job.Spec) {
		succeeded = completed.Len()
	}
	switch {
	case job.Status.Active > 0, c.runs(h, m):
		return "pods are active"
	case job.Spec.Completions == nil:
		return rules.When(succeeded == 0, "nothing succeeded")
	}
	return rules.When(succeeded < int(*job.Spec.Completions), fmt.Sprintf("%d succeeded", succeeded))
}

// shown returns the pods of a Job, also as they were until somebody changed how they had ended, if a process may not know that.
func (c *Checker) shown(h *History) (pods []*corev1.Pod) {
	for _, l := range h.Order {
		pods = append(pods, l.Pod)
		for _, v := range l.tampers {
			if c.recent(v.until) {
				pods = append(pods, v.pod)
			}
		}
	}
	return pods
}

// ruleProblem checks a Job that a rule of its podFailurePolicy failed: a pod did match
// the rule, and reason and message report it (PFN-02, PFN-09, PFP-10).
func (c *Checker) ruleProblem(h *History, job *batchv1.Job, condition *batchv1.JobCondition) string {
	for _, pod := range c.shown(h) {
		action, rule := c.ruling(job, pod)
		if action != batchv1.PodFailurePolicyActionFailJob || !strings.HasSuffix(condition.Message, fmt.Sprintf("matching FailJob rule at index %d", rule)) ||
			!strings.Contains(condition.Message, " "+sim.Namespace+"/"+pod.Name+" ") {
			continue
		}
		if slices.Contains(c.ruleReasons(job, rule), condition.Reason) {
			return ""
		}
	}
	return "no pod failed like that"
}

// ruleReasons returns the reasons that a rule may lead to: with its name, if it has a valid
// one, or with its index.
func (c *Checker) ruleReasons(job *batchv1.Job, rule int) []string {
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

const RuleNamesAnnotation = "batchjob.dev/pod-failure-policy-rule-names"
