package text

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
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
	kinds, total := int64(len(all)), failures(all)+int64(unknown)
	note := wording.Join(", ", wording.Plural(total, "failure", "failures"), wording.Plural(kinds, "cause", "causes"))
	if kinds == 0 {
		note = wording.Plural(total, "failure", "failures") + ", cause not known"
	}
	p.Title("Causes", note)
	t := table{columns: []layout.Column{{Header: "COUNT", Right: true}, {Header: "SHARE", Drop: 1}, prose("CAUSE")}}
	row := func(count int64, lines ...layout.Line) {
		share := p.share(count, total)
		if kinds == 0 || kinds == 1 && unknown == 0 {
			share = nil // of one cause the share is no news
		}
		t.add(layout.Plainly(fmt.Sprint(count)), share, lines[0])
		t.below(lines[1:]...)
	}
	shown := all
	if !p.opts.Full && len(all) > causesLimit {
		shown = all[:causesLimit]
	}
	for i := range shown {
		row(int64(shown[i].Count), p.causeLines(&shown[i])...)
	}
	if rest := all[len(shown):]; len(rest) > 0 {
		row(failures(rest), cell(layout.Muted, fmt.Sprintf("%d more %s, see --full", len(rest), either(len(rest) == 1, "cause", "causes"))))
	}
	if unknown > 0 {
		row(int64(unknown), cell(layout.Muted, why))
	}
	p.table(indentSection, t)
}

// failures is how many have one of the causes.
func failures(causes []explain.Cause) int64 {
	var n int64
	for i := range causes {
		n += int64(causes[i].Count)
	}
	return n
}

// either is the singular or the plural.
func either(single bool, one, many string) string {
	if single {
		return one
	}
	return many
}

// share is the part of a count in the total, as a bar and in percent.
func (p *page) share(count, total int64) layout.Line {
	return layout.Plainly(p.bar(count, total, shareWidth) + fmt.Sprintf(" %4s", wording.Percent(count, total)))
}

// causeLines are the cause, and what is known of it.
func (p *page) causeLines(c *explain.Cause) []layout.Line {
	lines := []layout.Line{layout.Plainly(wording.Sentence(c.Text))}
	if c.Meaning != "" {
		lines = append(lines, cell(layout.Muted, c.Meaning))
	}
	if c.Message != "" {
		lines = append(lines, layout.Of(layout.Text(layout.Muted, "said: "), plain(c.Message)))
	}
	if c.Consequence {
		lines = append(lines, cell(layout.Muted, "stopped because the Job was ending"))
	}
	if rule := causeRule(c); rule != "" {
		lines = append(lines, cell(layout.Accent, rule))
	}
	if places := p.causePlaces(c); places != "" {
		lines = append(lines, cell(layout.Muted, places))
	}
	return lines
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
	return wording.Join("; ", indexes, jobs, pods, source)
}
