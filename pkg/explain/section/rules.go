package section

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// NoRule is the label for failures that matched no rule of the podFailurePolicy.
const NoRule = "no rule"

// RuleLabel returns `rule 1 "OutOfMemory"`, or "" for no rule.
func RuleLabel(index *int32, name string) string {
	switch {
	case index == nil && name == "":
		return ""
	case index == nil:
		return fmt.Sprintf("rule %q", name)
	}
	return words.RuleLabel(*index, name)
}

// RuleName returns the name of a rule of the podFailurePolicy, "" if it has none.
func RuleName(r *explain.Report, index int32) string {
	if r.FailurePolicy == nil {
		return ""
	}
	if rule := lists.First(r.FailurePolicy.Rules, func(r *explain.FailureRule) bool { return r.Index == index }); rule != nil {
		return rule.Name
	}
	return ""
}

// ActionStyle returns the style for the action of a rule.
func ActionStyle(action string) layout.Style {
	switch batchv1.PodFailurePolicyAction(action) {
	case batchv1.PodFailurePolicyActionCount, "":
		return layout.Plain
	case batchv1.PodFailurePolicyActionIgnore:
		return layout.Muted
	}
	return layout.Bad
}

// FailurePolicy draws the rules of the podFailurePolicy in their order, with the number of failed pods that each matched.
// brief leaves out why rules did not match, and cuts long rules.
func FailurePolicy(f *Frame, policy *explain.FailurePolicy, brief bool) Section {
	s := Section{Title: "Failure policy", Note: "the first matching rule decides"}
	if policy == nil {
		return s
	}
	type rule = explain.FailureRule
	// The last row has the failures that match no rule.
	rules, isRule := policy.Rules, func(r *rule) bool { return r.Index >= 0 }
	if !brief || ptr.Deref(policy.Unmatched, 0) > 0 {
		rules = append(slices.Clone(rules), rule{
			Index: -1, Name: NoRule, Action: string(batchv1.PodFailurePolicyActionCount),
			Matched: policy.Unmatched, Requirement: "counts against the limits",
		})
	}
	style := func(r *rule) layout.Style {
		if r.Decided {
			return layout.Bad | layout.Bold
		}
		return layout.Plain
	}
	s.Lines = f.table(layout.TableOf([]layout.Column[rule]{
		{Header: "RULE", Right: true, Cell: func(r *rule) layout.Line {
			if !isRule(r) {
				return nil
			}
			return cell(style(r), fmt.Sprint(r.Index))
		}},
		{Header: "NAME", Min: 8, Middle: true, Cell: func(r *rule) layout.Line {
			if !isRule(r) {
				return cell(layout.Muted, r.Name)
			}
			return cell(layout.Accent|style(r)&layout.Bold, r.Name)
		}},
		{Header: "ACTION", Cell: func(r *rule) layout.Line { return cell(style(r), r.Action) }},
		{Header: "MATCHED", Right: true, Cell: func(r *rule) layout.Line { return matchedCell(r.Matched, style(r)) }},
		{Header: "IF", Wrap: !brief, Min: 18, Cell: func(r *rule) layout.Line {
			if !isRule(r) {
				return cell(layout.Muted, r.Requirement)
			}
			return cell(style(r), r.Requirement)
		}, Below: func(r *rule) []layout.Line { return failureRuleNotes(f, r, brief) }},
	}, rules))
	for _, violation := range policy.NameViolations {
		l := layout.Of(layout.Text(layout.Warn|layout.Bold, f.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(violation)))
		s.Lines = append(s.Lines, f.Wrap(l, 2)...)
	}
	return s
}

// failureRuleNotes draws whether the rule decided, and why it did not match pods.
func failureRuleNotes(f *Frame, rule *explain.FailureRule, brief bool) []layout.Line {
	var notes []layout.Line
	if rule.Decided {
		notes = append(notes, cell(layout.Bad|layout.Bold, f.Glyphs.Decided+" ended the Job"))
	}
	if rule.PassedOver > 0 && !brief {
		passed := "did not match " + wording.Plural(rule.PassedOver, "pod", "pods")
		notes = append(notes, cell(layout.Muted, wording.Join(": ", passed, rule.Why)))
	}
	return notes
}

// matchedCell draws a count, "-" if it is unknown; 0 is muted.
func matchedCell(n *int32, style layout.Style) layout.Line {
	switch {
	case n == nil:
		return cell(layout.Muted, "-")
	case *n == 0:
		style = layout.Muted
	}
	return cell(style, wording.Thousands(*n))
}
