package section

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
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
	for i := range r.FailurePolicy.Rules {
		if r.FailurePolicy.Rules[i].Index == index {
			return r.FailurePolicy.Rules[i].Name
		}
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
	columns := []layout.Column{
		{Header: "RULE", Right: true}, {Header: "NAME", Min: 8, Middle: true}, {Header: "ACTION"},
		{Header: "MATCHED", Right: true}, {Header: "IF", Wrap: !brief, Min: 18},
	}
	var rows [][]layout.Line
	for i := range policy.Rules {
		rule, style := &policy.Rules[i], layout.Plain
		var notes []layout.Line // whether the rule decided, and why it did not match pods
		if rule.Decided {
			style = layout.Bad | layout.Bold
			notes = append(notes, cell(style, f.Glyphs.Decided+" ended the Job"))
		}
		if rule.PassedOver > 0 && !brief {
			passed := "did not match " + wording.Plural(int64(rule.PassedOver), "pod", "pods")
			notes = append(notes, cell(layout.Muted, wording.Join(": ", passed, rule.Why)))
		}
		rows = append(rows, []layout.Line{
			cell(style, fmt.Sprint(rule.Index)), cell(layout.Accent|style&layout.Bold, rule.Name), cell(style, rule.Action),
			matchedCell(rule.Matched, style), cell(style, rule.Requirement),
		})
		rows = append(rows, below(len(columns), notes...)...)
	}
	if !brief || ptr.Deref(policy.Unmatched, 0) > 0 {
		rows = append(rows, []layout.Line{
			nil, cell(layout.Muted, NoRule), layout.Plainly("Count"), matchedCell(policy.Unmatched, layout.Plain),
			cell(layout.Muted, "counts against the limits"),
		})
	}
	s.Lines = f.table(columns, rows)
	for _, violation := range policy.NameViolations {
		l := layout.Of(layout.Text(layout.Warn|layout.Bold, f.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(violation)))
		s.Lines = append(s.Lines, f.Wrap(l, 2)...)
	}
	return s
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
