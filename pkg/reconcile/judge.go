package reconcile

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// judgeFailures asks spec.podFailurePolicy about each pod that has failed and is not
// recorded: only in phase Failed, never while it merely terminates (PFP-01). Failures
// that a rule ignores leave s.failed.
func (s *state) judgeFailures() {
	policy := s.job.Spec.PodFailurePolicy
	if policy == nil {
		return
	}
	s.matches = make(map[types.UID]*failurepolicy.Match, len(s.failed))
	// Each of them may also be delayed, and its index in back-off.
	s.plan.Findings = slices.Grow(s.plan.Findings, 3*len(s.failed))
	counted := make([]*Pod, 0, len(s.failed))
	for _, p := range s.failed {
		if p.Phase != corev1.PodFailed {
			counted = append(counted, p)
			continue
		}
		m := failurepolicy.Evaluate(policy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, s.perIndex)
		s.matches[p.UID] = &m
		f := aboutPod(FindingRule, p)
		f.Match = &m
		s.find(f)
		if m.Action == batchv1.PodFailurePolicyActionIgnore {
			s.ignored = append(s.ignored, p)
		} else {
			counted = append(counted, p)
		}
	}
	s.failed = counted
}

// ignoresRemaining reports whether a rule ignores the failure that a pod counts as which has
// not ended when the Job fails (PRP-16).
func (s *state) ignoresRemaining(p *Pod) bool {
	policy := s.job.Spec.PodFailurePolicy
	if policy == nil {
		return false
	}
	m := failurepolicy.Evaluate(policy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, s.perIndex)
	if m.Action != batchv1.PodFailurePolicyActionIgnore {
		return false // No other rule is asked about a pod that has not failed (PFP-01).
	}
	s.matches[p.UID] = &m
	return true
}

// ignoreRemaining lets go of such a pod once it is deleted for a stored reason: it may
// not run on without the finalizer.
func (s *state) ignoreRemaining(p *Pod) {
	f := aboutPod(FindingNotCounted, p)
	f.Match, f.Message = s.match(p), messageIgnored
	s.find(f)
	if s.fate.stored && p.Deleting {
		s.release(p, ifUnchanged) // It may yet succeed.
	}
}

const messageIgnored = "a rule of the podFailurePolicy ignores the failure"

// action is what the podFailurePolicy asks for after the failure of a pod, or "".
func (s *state) action(p *Pod) batchv1.PodFailurePolicyAction {
	if m := s.matches[p.UID]; m != nil {
		return m.Action
	}
	return ""
}

// failJob looks for a failure that a rule with action FailJob matches. Of several the
// earliest decides, so that the reason does not depend on the order of the cache (PFN-05).
func (s *state) failJob() bool {
	var first *Pod
	for _, p := range s.failed {
		if s.action(p) == batchv1.PodFailurePolicyActionFailJob && (first == nil || compareFailures(p, first) < 0) {
			first = p
		}
	}
	if first == nil {
		return false
	}
	m := s.matches[first.UID]
	s.setFate(fate{condition: batchv1.JobFailureTarget, reason: s.ruleReason(m.Rule), message: m.Message(s.job.Namespace, first.Name)})
	return true
}

func compareFailures(a, b *Pod) int {
	return cmp.Or(a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// ruleReason is the condition reason after a rule has failed the Job (KEP-4443).
func (s *state) ruleReason(rule int32) string {
	if !s.cfg.Features.RuleNames {
		return batchv1.JobReasonPodFailurePolicy
	}
	names, _ := s.ruleNames()
	return rulename.Reason(names.Name(rule), rule)
}

// ruleNames are the names of the rules, and what is wrong with those of the annotation.
func (s *state) ruleNames() (rulename.Names, []rulename.Violation) {
	return rulename.Resolve(s.RuleNames, s.job.Annotations[rulename.Annotation], len(s.job.Spec.PodFailurePolicy.Rules))
}

// noteFeatures leaves a finding for whatever the spec asks for and is not done.
func (s *state) noteFeatures() {
	spec, on := &s.job.Spec, s.cfg.Features
	for _, feature := range []struct {
		name      string
		asked, on bool
	}{
		{"JobBackoffLimitPerIndex", spec.BackoffLimitPerIndex != nil, on.BackoffLimitPerIndex},
		{"JobPodReplacementPolicy", deref(spec.PodReplacementPolicy, "") == batchv1.Failed && spec.PodFailurePolicy == nil, on.PodReplacementPolicy},
		{"JobSuccessPolicy", spec.SuccessPolicy != nil, on.SuccessPolicy},
		{"PodFailurePolicyName", spec.PodFailurePolicy != nil && (s.job.Annotations[rulename.Annotation] != "" || len(s.RuleNames) > 0), on.RuleNames},
	} {
		if feature.asked && !feature.on {
			f := about(FindingDisabled)
			f.Reason = feature.name
			s.find(f)
		}
	}
	if on.RuleNames && spec.PodFailurePolicy != nil {
		s.noteRuleNames()
	}
	if s.perIndex && spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		f := about(FindingRestartsPerIndex)
		f.Explains = ExplainsEvent + "BackoffLimitPerIndexOnFailure"
		f.Message = "backoffLimitPerIndex counts pods that fail; with restartPolicy OnFailure containers are restarted in their pod, and their failures do not count"
		s.find(f)
	}
}

// maxViolations is how many wrong names a message spells out.
const maxViolations = 3

func (s *state) noteRuleNames() {
	_, violations := s.ruleNames()
	if len(violations) == 0 {
		return
	}
	f := about(FindingInvalidRuleNames)
	f.Explains = ExplainsEvent + "InvalidPodFailurePolicyRuleNames"
	f.Count = count32(violations)
	f.Message = "annotation " + rulename.Annotation + " is ignored: "
	for i, v := range violations {
		if i == maxViolations {
			f.Message += fmt.Sprintf("; and %d more", len(violations)-i)
			break
		}
		if i > 0 {
			f.Message += "; "
		}
		f.Message += v.String()
	}
	s.find(f)
}

// releaseIgnored lets go of pods whose failure does not count: no record stands for
// them (PFP-05), unless the next pod of their index has to know of them (BLI-04).
func (s *state) releaseIgnored() {
	for _, p := range s.ignored {
		if s.isDelayed(p) || s.perIndex && s.fate.decided() && !s.fate.stored {
			// Nothing but the pod itself tells of the failure; if the interim condition
			// cannot be stored, its index may go on.
			continue
		}
		f := aboutPod(FindingNotCounted, p)
		f.Match, f.Message = s.match(p), messageIgnored
		s.find(f)
		r := ref(p, unconditional)
		r.Ignored = true
		if p.FinishedAt.After(s.history.LastSuccess) {
			r.IgnoredFailure = p.FinishedAt
		}
		s.releaseRef(r)
	}
}
