package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// conditions checks S11: a decision about the end of a Job stays. The interim condition comes
// first, in a write of its own, with a reason that applies; then the terminal one, with the
// same reason and message; and then nothing (MGB-09, MGB-11).
func (c *Checker) conditions(h *history, m Commit) {
	old, next := view(m.OldJob), view(m.NewJob)
	if isDecided(m.NewJob) || next.finished() {
		if h.endingSince.IsZero() {
			h.endingSince, h.endingBy = c.world.Now(), m.By
			for _, l := range h.order {
				l.over = c.knownToEnd(l)
			}
		}
	}
	if !m.Ours() {
		return
	}
	if old.finished() {
		c.violate("S11", "the status of a finished Job changes")
	}
	if next.failureTarget && next.successCriteriaMet || next.failed && next.complete {
		c.violate("S11", "the Job succeeds and fails")
	}
	c.becomes(h, m, batchv1.JobFailureTarget, batchv1.JobFailed)
	c.becomes(h, m, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	if !old.suspended && next.suspended && c.runs(h, m) {
		c.violate("S11", "the Job is called suspended, and a pod is active") // JOB-26
	}
}

// runs reports whether a pod is active of which the process behind a write must know.
func (c *Checker) runs(h *history, m Commit) bool {
	return slices.ContainsFunc(h.order, func(l *life) bool { return l.active() && !c.unseen(l, m) })
}

// isDecided reports whether the Job has an interim condition.
func isDecided(job *batchv1.Job) bool {
	v := view(job)
	return v.failureTarget || v.successCriteriaMet
}

func trueCondition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// becomes checks one pair of conditions.
func (c *Checker) becomes(h *history, m Commit, interim, terminal batchv1.JobConditionType) {
	before, now, end := trueCondition(m.OldJob, interim), trueCondition(m.NewJob, interim), trueCondition(m.NewJob, terminal)
	switch {
	case before != nil && now == nil:
		c.violate("S11", "%s is gone", interim)
	case before != nil && !sameCause(before, now):
		c.violate("S11", "%s was %s (%s), and is %s (%s)", interim, before.Reason, before.Message, now.Reason, now.Message)
	case end != nil && before == nil:
		c.violate("S11", "%s without %s in an earlier write", terminal, interim)
	case end != nil && !sameCause(now, end):
		c.violate("S11", "%s is %s (%s), and %s is %s (%s)", interim, now.Reason, now.Message, terminal, end.Reason, end.Message)
	case before == nil && now != nil:
		if problem := c.causeProblem(h, m, now); problem != "" {
			c.violate("S11", "%s is %s (%s): %s", interim, now.Reason, now.Message, problem)
		}
	}
}

func sameCause(a, b *batchv1.JobCondition) bool {
	return a.Reason == b.Reason && a.Message == b.Message
}

// causeProblem returns why the reason of an interim condition does not apply, or "".
func (c *Checker) causeProblem(h *history, m Commit, condition *batchv1.JobCondition) string {
	job := m.NewJob
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
	switch condition.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		n := c.countedFailures(h)
		onFailure := job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		return when(n <= *job.Spec.BackoffLimit && !onFailure, fmt.Sprintf("%d failures", n))
	case batchv1.JobReasonDeadlineExceeded:
		return c.deadlineProblem(m)
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		limit := job.Spec.MaxFailedIndexes
		return when(limit == nil || failed.Len() <= int(*limit), "there are not so many")
	case batchv1.JobReasonFailedIndexes:
		return when(failed.IsEmpty() || completed.Union(failed).Len() < int(*job.Spec.Completions), "some may still run, or none failed")
	case batchv1.JobReasonSuccessPolicy:
		rule := metRule(job.Spec.SuccessPolicy, completed)
		return when(rule < 0 || !strings.HasSuffix(condition.Message, fmt.Sprintf("at index %d", rule)), fmt.Sprintf("it is rule %d that is met", rule))
	case batchv1.JobReasonCompletionsReached:
		return c.completionsProblem(h, m, completed)
	case "":
		return when(c.features().SuccessPolicy, "it has no reason") + c.completionsProblem(h, m, completed)
	}
	return c.ruleProblem(h, job, condition)
}

// countedFailures returns the Checker's own count of the pods that failed, as far as the process behind the present write
// knew, or were rightly recorded as failed before they succeeded.
func (c *Checker) countedFailures(h *history) (n int32) {
	for _, l := range h.order {
		if l.lost || c.mayHaveFailed(l, c.possible(h)...) && (l.tampered || !c.ignored(h.job, l.pod)) {
			n++
		}
	}
	return n
}

func (c *Checker) deadlineProblem(m Commit) string {
	seconds, start := m.NewJob.Spec.ActiveDeadlineSeconds, m.OldJob.Status.StartTime
	switch {
	case seconds == nil:
		return "there is no deadline"
	case start == nil:
		return when(*seconds > 0, "it has not started")
	}
	return when(c.world.Now().Before(start.Add(time.Duration(*seconds)*time.Second-c.slack())), "it has not passed")
}

// metRule returns the first rule of a successPolicy that the completed indexes meet, or -1
// (KEP-3998).
func metRule(policy *batchv1.SuccessPolicy, completed indexset.Set) int {
	if policy == nil || completed.IsEmpty() {
		return -1
	}
	return slices.IndexFunc(policy.Rules, func(r batchv1.SuccessPolicyRule) bool {
		counting, need := completed, int32(0)
		if r.SucceededIndexes != nil {
			listed, err := indexset.Parse(*r.SucceededIndexes)
			if err != nil || listed.IsEmpty() {
				return false
			}
			counting, need = completed.Intersection(listed), int32(listed.Len())
		}
		if r.SucceededCount != nil {
			need = *r.SucceededCount
		}
		return counting.Len() >= int(need)
	})
}

// completionsProblem returns why a Job is not complete by its completions, or "": too little succeeded,
// or a pod is active (JOB-02, JOB-03), also one that the status calls terminating because it is about
// to be deleted.
func (c *Checker) completionsProblem(h *history, m Commit, completed indexset.Set) string {
	job := m.NewJob
	succeeded := int(job.Status.Succeeded) + len(succeededUIDs(&job.Status))
	if isIndexed(&job.Spec) {
		succeeded = completed.Len()
	}
	switch {
	case job.Status.Active > 0, c.runs(h, m):
		return "pods are active"
	case job.Spec.Completions == nil:
		return when(succeeded == 0, "nothing succeeded")
	}
	return when(succeeded < int(*job.Spec.Completions), fmt.Sprintf("%d succeeded", succeeded))
}

// shown returns the pods of a Job, also as they were until somebody changed how they had ended, if a process may not know that.
func (c *Checker) shown(h *history) (pods []*corev1.Pod) {
	for _, l := range h.order {
		pods = append(pods, l.pod)
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
func (c *Checker) ruleProblem(h *history, job *batchv1.Job, condition *batchv1.JobCondition) string {
	for _, pod := range c.shown(h) {
		action, rule := c.ruling(job, pod)
		if action != batchv1.PodFailurePolicyActionFailJob || !strings.HasSuffix(condition.Message, fmt.Sprintf("matching FailJob rule at index %d", rule)) ||
			!strings.Contains(condition.Message, " "+Namespace+"/"+pod.Name+" ") {
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
	for _, entry := range strings.Split(job.Annotations[ruleNamesAnnotation], ";") {
		if place, name, _ := strings.Cut(entry, "="); place == fmt.Sprint(rule) {
			reasons = append(reasons, batchv1.JobReasonPodFailurePolicy+"_"+name)
		}
	}
	return reasons
}

const ruleNamesAnnotation = "batchjob.dev/pod-failure-policy-rule-names"

// when returns the problem if there is one, or "".
func when(broken bool, problem string) string {
	if broken {
		return problem
	}
	return ""
}
