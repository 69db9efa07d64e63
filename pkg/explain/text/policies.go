package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
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
	v.page.title("Failure policy", "the first rule that matches a failed pod decides")
	t := table{columns: []tableColumn{
		{header: "RULE", right: true}, {header: "NAME", least: 10}, {header: "ACTION"}, {header: "MATCHED", right: true}, {header: "IF", least: 18},
	}}
	for i := range policy.Rules {
		v.failureRule(&t, &policy.Rules[i])
	}
	t.add(nil, nil, textCell("Count"), textCell(fmt.Sprint(policy.Unmatched)), textCell("no rule matches: it counts against the limit"))
	v.page.table(indentSection, t)
	for _, violation := range policy.NameViolations {
		v.page.para(indentSection, indentSection+2, styled(Warn, v.page.glyphs.Warn+" "), plain(wording.Sentence(violation)))
	}
}

func (v *view) failureRule(t *table, rule *explain.FailureRule) {
	style := Plain
	if rule.Decided {
		style = BadStrong
	}
	condition := cell{{plain(rule.Requirement)}}
	if rule.Decided {
		condition = cell{{styled(style, rule.Requirement)}}
		condition = condition.and(Bad, v.page.glyphs.Decided+" decided the Job's fate")
	}
	if rule.PassedOver > 0 {
		condition = condition.and(Faint, list(": ", fmt.Sprintf("passed over %s", wording.Plural(int64(rule.PassedOver), "time", "times")), rule.Why))
	}
	t.add(styledCell(style, fmt.Sprint(rule.Index)), styledCell(style, rule.Name), styledCell(style, rule.Action),
		styledCell(style, fmt.Sprint(rule.Matched)), condition)
}

const successWidth = 20

// successPolicy is the progress towards each rule, or towards completions.
func (v *view) successPolicy() {
	bars := v.successBars()
	if len(bars) == 0 {
		return
	}
	v.page.title("Success criteria", "")
	t := table{bare: true, columns: []tableColumn{{}, {drop: 1}, {}}}
	for _, b := range bars {
		t.add(b[0], b[1], b[2])
	}
	v.page.table(indentSection, t)
}

// successBars are the name, the bar and the text of each criterion.
func (v *view) successBars() [][3]cell {
	var bars [][3]cell
	job, counts := &v.report.Job, &v.report.Counts
	have := int64(counts.Succeeded) + int64(counts.UncountedSucceeded)
	hopeless := have == 0 && v.report.Verdict.Fate == explain.FateFailed
	if job.Completions != nil && !v.brief && !hopeless {
		need := int64(*job.Completions)
		bars = append(bars, [3]cell{textCell("completions"), v.progress(have, need, false),
			textCell(fmt.Sprintf("%d of %d (%s)", have, need, wording.Percent(have, need)))})
	}
	if v.report.SuccessPolicy == nil {
		return bars
	}
	for _, rule := range v.report.SuccessPolicy.Rules {
		text := cell{{plain(rule.Text)}}
		switch {
		case rule.Met:
			text = cell{{plain(rule.Text + " "), styled(GoodStrong, v.page.glyphs.Good+" met")}}
		case rule.Impossible:
			text = cell{{plain(rule.Text + " "), styled(BadStrong, v.page.glyphs.Bad+" out of reach")}}
		}
		bars = append(bars, [3]cell{textCell(fmt.Sprintf("rule %d", rule.Index)), v.progress(int64(rule.Have), int64(rule.Need), rule.Impossible), text})
	}
	return bars
}

func (v *view) progress(have, need int64, bad bool) cell {
	style := Good
	if bad {
		style = Bad
	}
	return styledCell(style, v.page.bar(have, need, successWidth))
}
