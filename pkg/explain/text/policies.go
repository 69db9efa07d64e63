package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// ruleLabel is `rule 1 "OutOfMemory"`.
func ruleLabel(index *int32, name string) string {
	switch {
	case index == nil:
		return fmt.Sprintf("rule %q", name)
	case name == "":
		return fmt.Sprintf("rule %d", *index)
	}
	return fmt.Sprintf("rule %d %q", *index, name)
}

// failurePolicy is the table of the rules, in their order: the first that matches decides.
func (v *view) failurePolicy() {
	policy := v.report.FailurePolicy
	if policy == nil || v.brief {
		return
	}
	v.page.Title("Failure policy", "the first rule that matches a failed pod decides")
	t := table{columns: []layout.Column{
		{Header: "RULE", Right: true}, {Header: "NAME", Min: 10, Middle: true}, {Header: "ACTION"},
		{Header: "MATCHED", Right: true}, {Header: "IF", Wrap: true, Min: 18},
	}}
	for i := range policy.Rules {
		v.failureRule(&t, &policy.Rules[i])
	}
	t.add(nil, nil, layout.Plainly("Count"), layout.Plainly(fmt.Sprint(policy.Unmatched)),
		layout.Plainly("no rule matches: it counts against the limit"))
	v.page.table(indentSection, t)
	for _, violation := range policy.NameViolations {
		v.page.Para(indentSection, indentSection+2, layout.Text(layout.Warn, v.page.Glyphs.Warn+" "), plain(wording.Sentence(violation)))
	}
}

func (v *view) failureRule(t *table, rule *explain.FailureRule) {
	style := layout.Plain
	if rule.Decided {
		style = layout.Bad | layout.Bold
	}
	t.add(cell(style, fmt.Sprint(rule.Index)), cell(style, rule.Name), cell(style, rule.Action),
		cell(style, fmt.Sprint(rule.Matched)), cell(style, rule.Requirement))
	if rule.Decided {
		t.below(cell(layout.Bad, v.page.Glyphs.Decided+" decided the Job's fate"))
	}
	if rule.PassedOver > 0 {
		passed := "passed over " + wording.Plural(int64(rule.PassedOver), "time", "times")
		t.below(cell(layout.Muted, wording.Join(": ", passed, rule.Why)))
	}
}

const successWidth = 20

// successPolicy is the progress towards each rule, or towards completions.
func (v *view) successPolicy() {
	bars := v.successBars()
	if len(bars) == 0 {
		return
	}
	v.page.Title("Success criteria", "")
	t := table{columns: []layout.Column{{}, {Drop: 1}, prose("")}}
	for _, b := range bars {
		t.add(b[0], b[1], b[2])
	}
	v.page.table(indentSection, t)
}

// successBars are the name, the bar and the text of each criterion.
func (v *view) successBars() [][3]layout.Line {
	var bars [][3]layout.Line
	job, counts := &v.report.Job, &v.report.Counts
	have := int64(counts.Succeeded) + int64(counts.UncountedSucceeded)
	hopeless := have == 0 && v.report.Verdict.Fate == explain.FateFailed
	if job.Completions != nil && !v.brief && !hopeless {
		need := int64(*job.Completions)
		bars = append(bars, [3]layout.Line{
			layout.Plainly("completions"), v.progress(have, need, false),
			layout.Plainly(fmt.Sprintf("%d of %d (%s)", have, need, wording.Percent(have, need))),
		})
	}
	if v.report.SuccessPolicy == nil {
		return bars
	}
	for _, rule := range v.report.SuccessPolicy.Rules {
		text := layout.Plainly(rule.Text)
		switch {
		case rule.Met:
			text = append(text, plain(" "), layout.Text(layout.Good|layout.Bold, v.page.Glyphs.Good+" met"))
		case rule.Impossible:
			text = append(text, plain(" "), layout.Text(layout.Bad|layout.Bold, v.page.Glyphs.Bad+" out of reach"))
		}
		bars = append(bars, [3]layout.Line{
			layout.Plainly(fmt.Sprintf("rule %d", rule.Index)), v.progress(int64(rule.Have), int64(rule.Need), rule.Impossible), text,
		})
	}
	return bars
}

func (v *view) progress(have, need int64, bad bool) layout.Line {
	style := layout.Good
	if bad {
		style = layout.Bad
	}
	return cell(style, v.page.bar(have, need, successWidth))
}
