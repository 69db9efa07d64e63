package analysis

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// failurePolicy is the table of the rules, nil without a policy.
func (a *analysis) failurePolicy() *explain.FailurePolicy {
	policy := a.spec.PodFailurePolicy
	if policy == nil {
		return nil
	}
	out := &explain.FailurePolicy{}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		out.Rules = append(out.Rules, explain.FailureRule{
			Index: int32(i), Name: a.names.Name(int32(i)), Action: string(rule.Action), Requirement: requirement(rule),
			OnExitCodes: rule.OnExitCodes, OnPodConditions: rule.OnPodConditions,
			Decided: a.outcome.failing() && a.outcome.rule == int32(i),
		})
	}
	for _, v := range a.plan.Findings.Violations {
		out.NameViolations = append(out.NameViolations, v.String())
	}
	if a.PodsRead {
		a.countMatches(out)
	}
	return out
}

// countMatches counts how many of the failed pods each rule matched, and why it passed over others.
func (a *analysis) countMatches(out *explain.FailurePolicy) {
	out.Unmatched = new(int32)
	for i := range out.Rules {
		out.Rules[i].Matched = new(int32)
	}
	whys := make([]map[failurepolicy.Why]int, len(out.Rules))
	for i := range a.failures {
		m := a.failures[i].match
		if m == nil {
			continue
		}
		if m.Matched() {
			*out.Rules[m.Rule].Matched++
		} else {
			*out.Unmatched++
		}
		for _, p := range m.Passed {
			out.Rules[p.Rule].PassedOver++
			if whys[p.Rule] == nil {
				whys[p.Rule] = map[failurepolicy.Why]int{}
			}
			whys[p.Rule][p.Why]++
		}
	}
	for i, counts := range whys {
		out.Rules[i].Why = mostFrequent(counts)
		if out.Rules[i].Decided {
			*out.Rules[i].Matched = max(*out.Rules[i].Matched, 1) // The pod may be gone.
		}
	}
}

func mostFrequent(counts map[failurepolicy.Why]int) string {
	var best failurepolicy.Why
	for why, n := range counts {
		if n > counts[best] || n == counts[best] && why < best {
			best = why
		}
	}
	if best == 0 {
		return ""
	}
	return best.String()
}

// requirement is what a rule asks for, in words.
func requirement(rule *batchv1.PodFailurePolicyRule) string {
	if codes := rule.OnExitCodes; codes != nil {
		who := ptr.Deref(codes.ContainerName, "any container")
		values := make([]string, len(codes.Values))
		for i, v := range codes.Values {
			values[i] = strconv.Itoa(int(v))
		}
		switch codes.Operator {
		case batchv1.PodFailurePolicyOnExitCodesOpIn:
			return fmt.Sprintf("%s exits with %s", who, words.Enumerate(values, "or"))
		case batchv1.PodFailurePolicyOnExitCodesOpNotIn:
			// An exit code of 0 is never looked at (PFP-03).
			values = slices.DeleteFunc(values, func(v string) bool { return v == "0" })
			return fmt.Sprintf("%s exits with a code other than %s", who, words.Enumerate(append([]string{"0"}, values...), "and"))
		}
		return fmt.Sprintf("%s exits with a code %s %s", who, codes.Operator, words.Enumerate(values, "and"))
	}
	var patterns []string
	for _, p := range rule.OnPodConditions {
		text := string(p.Type)
		if p.Status != "" && p.Status != corev1.ConditionTrue {
			text += "=" + string(p.Status)
		}
		patterns = append(patterns, text)
	}
	if len(patterns) == 0 {
		return "nothing"
	}
	return "pod condition " + words.Enumerate(patterns, "or")
}

// successPolicy is the progress of the rules, nil without a policy.
func (a *analysis) successPolicy() *explain.SuccessPolicy {
	policy := a.spec.SuccessPolicy
	if policy == nil {
		return nil
	}
	out := &explain.SuccessPolicy{}
	for i, p := range a.plan.Findings.SuccessRules {
		of := ptr.Deref(policy.Rules[i].SucceededIndexes, "")
		s := explain.SuccessRule{Index: int32(i), Have: p.Have, Need: p.Need, Of: of, Met: p.Met, Impossible: p.Inert || p.OutOfReach}
		switch {
		case p.Inert:
			s.Text = "can never be met: it lists no indexes"
		case of == "":
			s.Text = words.Of(p.Have, p.Need) + " (any indexes)"
		default:
			s.Text = fmt.Sprintf("%s (%s %s)", words.Of(p.Have, p.Need), words.Plural(1+strings.Count(of, ",")+strings.Count(of, "-"), "index", "indexes"), of)
		}
		out.Rules = append(out.Rules, s)
	}
	return out
}

// ruleLabel is `rule 1 "OutOfMemory"`.
func ruleLabel(index int32, name string) string {
	if name == "" {
		return fmt.Sprintf("rule %d", index)
	}
	return fmt.Sprintf("rule %d %q", index, name)
}

// hasRule reports whether the index is one of a rule of the podFailurePolicy.
func (a *analysis) hasRule(index int32) bool {
	return index >= 0 && a.spec.PodFailurePolicy != nil && int(index) < len(a.spec.PodFailurePolicy.Rules)
}

// backoffLimitUse is how far the Job is from its backoffLimit, nil if it has none: with
// backoffLimitPerIndex the default is the largest number there is.
func (a *analysis) backoffLimitUse() *explain.BackoffLimit {
	if a.spec.BackoffLimit == nil || *a.spec.BackoffLimit == math.MaxInt32 {
		return nil
	}
	f := a.plan.Findings.BackoffLimit
	if f == nil {
		f = a.storedBackoffLimit()
	}
	u := &explain.BackoffLimit{Unit: explain.LimitFailures, Used: f.Failures, Limit: f.Limit, Left: max(f.FailuresLeft(), 0)}
	if f.OnFailure && f.RestartsLeft() <= f.FailuresLeft() {
		u.Unit, u.Used, u.Left = explain.LimitRestarts, f.Restarts, max(f.RestartsLeft(), 0)
	}
	return u
}

// storedBackoffLimit is what the status shows if the decision core found nothing: the end of
// the Job is decided, or its pods could not be read.
func (a *analysis) storedBackoffLimit() *reconcile.BackoffLimit {
	f := &reconcile.BackoffLimit{Failures: a.job.Status.Failed + int32(a.uncountedFailed()), Limit: jobspec.BackoffLimit(a.spec)}
	if a.PodsRead && !a.finished() && a.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		f.OnFailure, f.Restarts = true, a.restarts()
	}
	if a.restartsFailedIt() {
		// The pods may be gone, but their restarts reached the limit.
		f.OnFailure, f.Restarts = true, max(f.Restarts, f.Limit, 1)
	}
	return f
}

// propose is advice on policies, with the command that shows what they would have changed if the Job has finished.
func (a *situation) propose(text string, p *explain.Policies) explain.Advice {
	if p == nil || !a.finished() {
		return advise(text, "")
	}
	field, value := "podFailurePolicy", any(p.PodFailurePolicy)
	if p.ActiveDeadlineSeconds != nil {
		field, value = "activeDeadlineSeconds", *p.ActiveDeadlineSeconds
	}
	data, _ := json.Marshal(value) // It holds nothing that has no JSON.
	command := a.kubectl("batchjob what-if %s --set %s", a.jobWord(), shellWord(field+"="+string(data)))
	return explain.Advice{Text: text, Command: command, Policies: p}
}

// takesFailurePolicy reports whether the Job may have a podFailurePolicy: the API server takes that of no other.
func (a *analysis) takesFailurePolicy() bool {
	return a.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
}

// failingAtOnce fails the Job for the exit code of a failure.
func (a *situation) failingAtOnce(f *failure) *explain.Policies {
	c := f.container()
	if c == nil || c.ExitCode == 0 {
		return nil
	}
	return a.withRule(batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: &c.Name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{c.ExitCode},
		},
	})
}

// ignoringDisruptions does not count disrupted pods.
func (a *situation) ignoringDisruptions() *explain.Policies {
	disrupted := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}
	return a.withRule(batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{disrupted},
	})
}

// withRule is the podFailurePolicy with another rule, which takes precedence. Those with names cannot be written as
// the API has them.
func (a *situation) withRule(rule batchv1.PodFailurePolicyRule) *explain.Policies {
	if !a.takesFailurePolicy() || len(a.names) > 0 {
		return nil
	}
	rules := ptr.Deref(a.spec.PodFailurePolicy, batchv1.PodFailurePolicy{}).Rules
	return &explain.Policies{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: slices.Concat([]batchv1.PodFailurePolicyRule{rule}, rules)}}
}

// longerDeadline is twice as long.
func (a *situation) longerDeadline() *explain.Policies {
	if a.spec.ActiveDeadlineSeconds == nil {
		return nil
	}
	return &explain.Policies{ActiveDeadlineSeconds: ptr.To(2 * *a.spec.ActiveDeadlineSeconds)}
}
