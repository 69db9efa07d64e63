package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Decision is how the Job ends, and why, according to its conditions.
type Decision struct {
	reconcile.Outcome
	// EndedBy follows from the Reason alone: it is neither EndedByRestarts nor EndedByNeverStarting.
	EndedBy explain.EndedBy
	// Reason and Message are from the latest condition; Since is when the outcome was decided.
	Reason, Message string
	Since           time.Time
	// Rule is the rule that failed the Job; failurepolicy.NoRule if none did, or if it is unknown.
	Rule     int32
	RuleName string
	// MatchedPod is the pod that the message of a rule names.
	MatchedPod MatchedPod
}

// MatchedPod is the pod that a rule matched. Its Name is "" if it is unknown.
type MatchedPod struct {
	Name      string
	Container string
	ExitCode  int32
	Condition string
}

// Failure returns how the pod failed.
func (p *MatchedPod) Failure() cause.Failure {
	return cause.Failure{Exit: cause.Exit{Container: p.Container, ExitCode: p.ExitCode}, Condition: corev1.PodConditionType(p.Condition)}
}

// Decided reports whether the Job is complete or failed, or will be.
func (o *Decision) Decided() bool { return o.Outcome != reconcile.OutcomeOpen }

// Failing reports whether the Job failed or will fail.
func (o *Decision) Failing() bool { return o.Fails() }

// HasRule reports whether the rule that failed the Job is known.
func (o *Decision) HasRule() bool { return o.Rule != failurepolicy.NoRule }

// FailedBy returns the rule that failed the Job and its name; the rule is nil if none did or if it is unknown.
func (o *Decision) FailedBy() (rule *int32, name string) {
	if !o.Failing() {
		return nil, ""
	}
	if o.HasRule() {
		rule = ptr.To(o.Rule)
	}
	return rule, o.RuleName
}

// DecisionOf returns the decision according to the conditions, without the rule.
func DecisionOf(job *batchv1.Job) Decision {
	o := Decision{Outcome: reconcile.OutcomeOpen, Rule: failurepolicy.NoRule}
	for _, t := range []struct {
		condition batchv1.JobConditionType
		outcome   reconcile.Outcome
	}{
		{batchv1.JobFailureTarget, reconcile.OutcomeFailing},
		{batchv1.JobSuccessCriteriaMet, reconcile.OutcomeSucceeding},
		{batchv1.JobFailed, reconcile.OutcomeFailed},
		{batchv1.JobComplete, reconcile.OutcomeComplete},
	} {
		c := reconcile.TrueCondition(job, t.condition)
		if c == nil {
			continue
		}
		if o.Since.IsZero() {
			o.Since = c.LastTransitionTime.Time
		}
		o.Outcome, o.Reason, o.Message = t.outcome, c.Reason, c.Message
	}
	if o.Decided() {
		o.EndedBy = endedBy(o.Fails(), o.Reason)
	}
	return o
}

// reasons are the reasons of conditions of the Job, and what they mean.
var reasons = map[string]explain.EndedBy{
	batchv1.JobReasonBackoffLimitExceeded: explain.EndedByBackoffLimit, batchv1.JobReasonDeadlineExceeded: explain.EndedByDeadline,
	batchv1.JobReasonMaxFailedIndexesExceeded: explain.EndedByMaxFailedIndexes, batchv1.JobReasonFailedIndexes: explain.EndedByFailedIndexes,
	batchv1.JobReasonPodFailurePolicy: explain.EndedByRule,
	batchv1.JobReasonSuccessPolicy:    explain.EndedBySuccessPolicy, batchv1.JobReasonCompletionsReached: explain.EndedByCompletions,
}

// endedBy returns what ended a Job, by the reason of its condition.
func endedBy(fails bool, reason string) explain.EndedBy {
	by := reasons[reason]
	switch succeeds := by == explain.EndedBySuccessPolicy || by == explain.EndedByCompletions; {
	case fails && strings.HasPrefix(reason, rulename.ReasonPrefix):
		return explain.EndedByRule
	case by == "" || succeeds == fails:
		return explain.EndedByOther
	}
	return by
}

// ruleMessage matches the message that both controllers write when a rule fails the Job (PFP-10).
var ruleMessage = regexp.MustCompile(`^(?:Container (\S+) for pod ([^/\s]+)/(\S+) failed with exit code (-?\d+)|Pod ([^/\s]+)/(\S+) has condition (\S+)) matching \S+ rule at index (\d+)$`)

// WithRule adds the rule behind the reason PodFailurePolicy, or PodFailurePolicy_{name or index} (KEP-4443). The index
// comes from the message, and the name from the reason: the annotation may have changed since.
func (o Decision) WithRule(job *batchv1.Job, names rulename.Names) Decision {
	if o.EndedBy != explain.EndedByRule {
		return o
	}
	suffix := strings.TrimPrefix(strings.TrimPrefix(o.Reason, batchv1.JobReasonPodFailurePolicy), "_")
	rules := 0
	if job.Spec.PodFailurePolicy != nil {
		rules = len(job.Spec.PodFailurePolicy.Rules)
	}
	if m := ruleMessage.FindStringSubmatch(o.Message); m != nil {
		code, _ := strconv.ParseInt(m[4], 10, 32)
		o.MatchedPod = MatchedPod{Name: m[3] + m[6], Container: m[1], ExitCode: int32(code), Condition: m[7]}
		o.Rule = ruleIndex(m[8], rules)
	}
	if !o.HasRule() && suffix != "" {
		o.Rule = int32(slices.Index(names, suffix)) // NoRule if there is none
	}
	if !o.HasRule() {
		o.Rule = ruleIndex(suffix, rules)
	}
	if o.RuleName = suffix; suffix == "" || suffix == strconv.Itoa(int(o.Rule)) {
		o.RuleName = names.Name(o.Rule)
	}
	return o
}

// ruleIndex parses the index of an existing rule, and returns NoRule for other texts.
func ruleIndex(text string, rules int) int32 {
	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil || i < 0 || int(i) >= rules {
		return failurepolicy.NoRule
	}
	return int32(i)
}
