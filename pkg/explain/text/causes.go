package text

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

const (
	shareWidth = 10
	// causesLimit is how many causes are shown without Full.
	causesLimit = 10
)

// causesSection says how often what made pods fail.
func (v *view) causesSection() {
	v.page.causes(v.report.Causes, v.report.FailuresWithoutPod, whyUnknown(v.report.Gaps))
}

// whyUnknown is why nobody can tell the cause of some failures.
func whyUnknown(gaps []explain.Gap) string {
	for _, gap := range gaps {
		if gap.What == "pods" {
			return "Not known: pods could not be read"
		}
	}
	return "Not known: the pods are gone, and no event tells of them"
}

// causes draws failures by cause; unknown more failures have none, for the reason why.
func (p *page) causes(all []explain.Cause, unknown int32, why string) {
	if len(all) == 0 && unknown == 0 {
		return
	}
	total := int64(unknown)
	kinds := int64(len(all))
	for i := range all {
		total += int64(all[i].Count)
	}
	note := list(", ", wording.Plural(total, "failure", "failures"), wording.Plural(kinds, "cause", "causes"))
	if kinds == 0 {
		note = wording.Plural(total, "failure", "failures") + ", cause not known"
	}
	p.title("Causes", note)
	t := table{columns: []tableColumn{{header: "COUNT", right: true}, {header: "SHARE", drop: 1}, {header: "CAUSE"}}}
	shown := all
	if !p.opts.Full && len(all) > causesLimit {
		shown = all[:causesLimit]
	}
	for i := range shown {
		p.causeRow(&t, &shown[i], total)
	}
	if rest := all[len(shown):]; len(rest) > 0 {
		var count int64
		for i := range rest {
			count += int64(rest[i].Count)
		}
		t.add(p.share(count, total)[0], p.share(count, total)[1],
			styledCell(Faint, fmt.Sprintf("%d more %s, see --full", len(rest), either(len(rest) == 1, "cause", "causes"))))
	}
	if unknown > 0 {
		cells := p.share(int64(unknown), total)
		t.add(cells[0], cells[1], styledCell(Faint, why))
	}
	if len(t.rows) == 1 {
		t.rows[0][1] = nil // of one cause the share is no news
	}
	p.table(indentSection, t)
}

// either is the singular or the plural.
func either(single bool, one, many string) string {
	if single {
		return one
	}
	return many
}

// share are the cells of a count and of its part in the total.
func (p *page) share(count, total int64) [2]cell {
	bar := line{plain(p.bar(count, total, shareWidth)), plain(fmt.Sprintf(" %4s", wording.Percent(count, total)))}
	return [2]cell{textCell(fmt.Sprint(count)), {bar}}
}

func (p *page) causeRow(t *table, c *explain.Cause, total int64) {
	text := cell{{plain(wording.Sentence(c.Text))}}
	if c.Meaning != "" {
		text = text.and(Faint, c.Meaning)
	}
	if c.Message != "" {
		text = append(text, line{styled(Faint, "said: "), plain(c.Message)})
	}
	if c.Consequence {
		text = text.and(Faint, "stopped because the Job was ending")
	}
	if rule := causeRule(c); rule != "" {
		text = append(text, line{styled(Accent, rule)})
	}
	if places := p.causePlaces(c); places != "" {
		text = text.and(Faint, places)
	}
	share := p.share(int64(c.Count), total)
	t.add(share[0], share[1], text)
}

// causeRule says what the podFailurePolicy made of it.
func causeRule(c *explain.Cause) string {
	if c.Rule == nil && c.RuleName == "" {
		return ""
	}
	if c.Action == "" {
		return ruleLabel(c.Rule, c.RuleName)
	}
	return ruleLabel(c.Rule, c.RuleName) + ": " + c.Action
}

// causePlaces are where it happened.
func (p *page) causePlaces(c *explain.Cause) string {
	indexes, jobs, pods, source := "", "", "", ""
	if c.Indexes != "" {
		indexes = either(!strings.ContainsAny(c.Indexes, ",-"), "index ", "indexes ") + p.indexes(c.Indexes)
	}
	if len(c.Jobs) > 0 {
		jobs = either(len(c.Jobs) == 1, "job ", "jobs ") + p.examples(c.Jobs, 3)
	}
	if len(c.Pods) > 0 {
		pods = either(len(c.Pods) == 1, "pod ", "pods ") + p.examples(c.Pods, 2)
	}
	switch c.Source {
	case explain.SourceEvents:
		source = "known from events"
	case explain.SourceCondition:
		source = "known from the Job's condition"
	}
	return list("; ", indexes, jobs, pods, source)
}
