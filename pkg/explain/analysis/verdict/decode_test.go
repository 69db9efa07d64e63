package verdict_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

const exitMessage = "Container main for pod ns/train-x failed with exit code 2 matching FailJob rule at index 1"

// CLI-04, KEP-4443: the rule behind a reason, by its name, its index, and the index in the message.
func TestReasonLeadsToItsRule(t *testing.T) {
	for _, tc := range []struct {
		name            string
		reason, message string
		annotation      string
		native          []string
		noPolicy        bool
		rule            *int32
		ruleName        string
		sentence        []string
	}{
		{name: "no suffix", reason: "PodFailurePolicy", message: exitMessage, rule: ptr.To[int32](1), sentence: []string{"rule 1 of its podFailurePolicy", "pod train-x: its container main exited with code 2"}},
		{name: "no suffix, but an annotation", reason: "PodFailurePolicy", message: exitMessage, annotation: "1=Corrupt", rule: ptr.To[int32](1), ruleName: "Corrupt"},
		{name: "index", reason: "PodFailurePolicy_1", message: exitMessage, rule: ptr.To[int32](1), sentence: []string{"rule 1 of its"}},
		{name: "index without a message", reason: "PodFailurePolicy_2", rule: ptr.To[int32](2), sentence: []string{"rule 2 of its podFailurePolicy matched"}},
		{name: "name", reason: "PodFailurePolicy_Corrupt", message: exitMessage, annotation: "1=Corrupt", rule: ptr.To[int32](1), ruleName: "Corrupt", sentence: []string{`rule 1 "Corrupt" of its`}},
		{name: "name without a message", reason: "PodFailurePolicy_Corrupt", annotation: "1=Corrupt", rule: ptr.To[int32](1), ruleName: "Corrupt"},
		{name: "name that the annotation has no more", reason: "PodFailurePolicy_Corrupt", message: exitMessage, rule: ptr.To[int32](1), ruleName: "Corrupt", sentence: []string{`rule 1 "Corrupt" of its`}},
		{name: "name that nothing knows", reason: "PodFailurePolicy_Corrupt", ruleName: "Corrupt", sentence: []string{`rule "Corrupt" of its podFailurePolicy matched`}},
		{name: "native names", reason: "PodFailurePolicy_Native", message: exitMessage, native: []string{"", "Native", ""}, annotation: "1=Other", rule: ptr.To[int32](1), ruleName: "Native"},
		{name: "native name without a message", reason: "PodFailurePolicy_Native", native: []string{"", "", "Native"}, rule: ptr.To[int32](2), ruleName: "Native"},
		{name: "illegal annotation", reason: "PodFailurePolicy_1", message: exitMessage, annotation: "1=a b", rule: ptr.To[int32](1)},
		{name: "a condition", reason: "PodFailurePolicy_0", message: "Pod ns/train-x has condition DisruptionTarget matching FailJob rule at index 0", rule: ptr.To[int32](0), sentence: []string{"pod train-x: it has condition DisruptionTarget"}},
		{name: "message cut short", reason: "PodFailurePolicy_1", message: "Container main for pod ns/train-x failed with exit", rule: ptr.To[int32](1), sentence: []string{"rule 1 of its podFailurePolicy matched"}},
		{name: "message of something else", reason: "PodFailurePolicy", message: "because", sentence: []string{"a rule of its podFailurePolicy matched"}},
		{name: "index that does not exist", reason: "PodFailurePolicy_7", message: strings.Replace(exitMessage, "index 1", "index 7", 1), ruleName: "7", sentence: []string{`rule "7" of its podFailurePolicy`}},
		{name: "index beyond all numbers", reason: "PodFailurePolicy_99999999999999999999", message: strings.Replace(exitMessage, "index 1", "index 99999999999999999999", 1), ruleName: "99999999999999999999"},
		{name: "pod names with odd characters", reason: "PodFailurePolicy_1", message: strings.Replace(exitMessage, "ns/train-x", "ns/tr.a%i-ñ", 1), rule: ptr.To[int32](1), sentence: []string{"pod tr.a%i-ñ"}},
		{name: "a policy that is gone", reason: "PodFailurePolicy_Corrupt", message: exitMessage, noPolicy: true, ruleName: "Corrupt"},
		{name: "an exit code beyond all numbers", reason: "PodFailurePolicy_1", message: strings.Replace(exitMessage, "code 2", "code 99999999999", 1), rule: ptr.To[int32](1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			job := explaintest.JobWith(func(j *batchv1.Job) {
				if !tc.noPolicy {
					j.Spec.PodFailurePolicy = explaintest.Rules(3)
				}
				if tc.annotation != "" {
					j.Annotations = map[string]string{rulename.Annotation: tc.annotation}
				}
				j.Status.Failed = 1
				explaintest.FailJob(j, tc.reason, tc.message)
			})
			f := explaintest.InputOf(job)
			f.RuleNames = tc.native
			v := explaintest.Report(f).Verdict
			if !ptr.Equal(v.Rule, tc.rule) || v.RuleName != tc.ruleName {
				t.Errorf("rule %v %q, want %v %q", ptr.Deref(v.Rule, -1), v.RuleName, ptr.Deref(tc.rule, -1), tc.ruleName)
			}
			for _, part := range tc.sentence {
				assert.Contains(t, v.Sentence, part)
			}
		})
	}
}

// The reason and the message are from the moment when the rule matched: later changes of rule names do not affect them.
// Requirements: CLI-04
func TestLaterNamesDoNotChangeTheRule(t *testing.T) {
	for name, annotation := range map[string]string{"another name": "1=Later", "names swapped": "0=Corrupt;1=Later"} {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.PodFailurePolicy = explaintest.Rules(3)
			j.Annotations = map[string]string{rulename.Annotation: annotation}
			explaintest.FailJob(j, "PodFailurePolicy_Corrupt", exitMessage)
		})
		if v := explaintest.Report(explaintest.InputOf(job)).Verdict; !ptr.Equal(v.Rule, ptr.To[int32](1)) || v.RuleName != "Corrupt" {
			t.Errorf("%s: rule %v %q, want 1 Corrupt; %s", name, ptr.Deref(v.Rule, -1), v.RuleName, v.Sentence)
		}
	}
}

// CLI-04: an unknown reason of a future controller is shown verbatim, with its message.
func TestUnknownReasonIsShownAsItIs(t *testing.T) {
	for _, reason := range []string{"FutureReason", "PodFailurePolicies"} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, reason, "the stars\nwere wrong") })))
		if s := explaintest.Verdict(r); !strings.Contains(s, reason) || !strings.Contains(s, "the stars") {
			t.Errorf("%s: %q", reason, s)
		}
		if r.Verdict.Rule != nil || r.Verdict.Reason != reason || r.Verdict.Message != "the stars\nwere wrong" {
			t.Errorf("%s: %+v", reason, r.Verdict)
		}
	}
}

// A rule that failed the Job is shown with its pod if it still exists, the pod's container and its last words.
// Requirements: CLI-04
func TestRuleIsShownWithItsPod(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Status.Failed = explaintest.Rules(3), 1
		j.Annotations = map[string]string{rulename.Annotation: "1=Corrupt"}
		explaintest.FailJob(j, "PodFailurePolicy_Corrupt", exitMessage)
	})
	r := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("train-x", func(p *corev1.Pod) {
		explaintest.Exits(2, "Error", 10*1e9)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Message = "no such table\n"
	})))
	var kinds []string
	for _, e := range r.Evidence {
		kinds = append(kinds, string(e.Kind))
	}
	assert.Equal(t, strings.Join(kinds, " "), "Condition Rule Pod Container", "the chain")
	last := r.Evidence[len(r.Evidence)-1]
	if last.Container != "main" || *last.ExitCode != 2 || len(last.Lines) != 1 || last.Lines[0] != "no such table" {
		t.Errorf("%+v", last)
	}
	if p := r.FailurePolicy; !p.Rules[1].Decided || *p.Rules[1].Matched != 1 || p.Rules[0].PassedOver != 1 || p.Rules[0].Why == "" {
		t.Errorf("%+v", p.Rules)
	}
}
