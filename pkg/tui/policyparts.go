package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// meter is a line with a name, a bar, and what the bar means.
type meter struct {
	name        string
	have, total int64
	style       styleOf
	text        layout.Line
}

// The widths of the bars of meters, for narrow and for wide screens.
const (
	narrowBar = 8
	wideBar   = 16
	// wideMeter is from where on bars are wide.
	wideMeter = 72
)

// meters draws them below each other, aligned.
func meters(p *paint, all []meter) []layout.Line {
	names := 0
	for i := range all {
		names = max(names, layout.Width(all[i].name))
	}
	bar := barFor(p, all, names)
	var lines []layout.Line
	for i := range all {
		m := &all[i]
		l := layout.Of(layout.Text(styleMuted, m.name)).Pad(names + 2)
		l = append(l, p.bar(m.have, m.total, bar, m.style)...)
		l = append(append(l, layout.Blank(2)), m.text...)
		lines = append(lines, p.wrap(l, names+2+bar+2)...)
	}
	return lines
}

// barFor is how wide the bars of meters are. They are narrow too where that saves a text from
// being broken.
func barFor(p *paint, all []meter, names int) int {
	if p.width < wideMeter {
		return narrowBar
	}
	for i := range all {
		if room := p.width - names - 4 - all[i].text.Width(); room < wideBar && room >= narrowBar {
			return narrowBar
		}
	}
	return wideBar
}

// successLines are the progress towards each rule of the successPolicy, and towards the
// completions.
func successLines(p *paint, j *jobData) []layout.Line {
	if j.Job.Completions == nil {
		done, _ := j.done()
		return p.wrap(layout.Of(layout.Textf(stylePlain, "A work queue: one pod succeeds, and all others have ended (%d succeeded)", done)), 0)
	}
	return meters(p, successMeters(p, j))
}

// successMeters are nil for a work queue.
func successMeters(p *paint, j *jobData) []meter {
	if j.Job.Completions == nil {
		return nil
	}
	var all []meter
	name := "all "
	if j.SuccessPolicy != nil {
		for i := range j.SuccessPolicy.Rules {
			all = append(all, successMeter(p, &j.SuccessPolicy.Rules[i]))
		}
		name = "or all "
	}
	done, total := j.done()
	if total <= 0 {
		none := layout.Of(layout.Text(stylePlain, "none needed "), layout.Text(styleGood|bold, p.glyphs.Good))
		return append(all, meter{name + "0", 1, 1, styleGood, none})
	}
	text := layout.Of(layout.Textf(stylePlain, "%s succeeded (%s)", thousands(int64(done)), wording.Percent(int64(done), int64(total))))
	if done >= total {
		text = append(text, layout.Text(styleGood|bold, " "+p.glyphs.Good+" met"))
	}
	return append(all, meter{name + thousands(int64(total)), int64(done), int64(total), styleGood, text})
}

func successMeter(p *paint, rule *explain.SuccessRule) meter {
	m := meter{fmt.Sprintf("rule %d", rule.Index), int64(rule.Have), int64(rule.Need), styleGood, layout.Plainly(rule.Text)}
	switch {
	case rule.Met:
		m.text = append(m.text, layout.Text(styleGood|bold, " "+p.glyphs.Good+" met"))
	case rule.Impossible:
		m.style = styleBad
		m.text = append(m.text, layout.Text(styleBad|bold, " "+p.glyphs.Bad+" out of reach"))
	}
	return m
}

// failurePolicyLines are the rules of the podFailurePolicy in their order, with how many
// failed pods each matched; nil without a policy. brief leaves out why rules were passed
// over, and what does not fit into the line of the rule.
func failurePolicyLines(p *paint, j *jobData, brief bool) []layout.Line {
	policy := j.FailurePolicy
	if policy == nil {
		return nil
	}
	cells := make([][]layout.Line, 0, len(policy.Rules)+1)
	for i := range policy.Rules {
		cells = append(cells, failureRuleCells(p, &policy.Rules[i]))
	}
	if !brief || policy.Unmatched > 0 {
		cells = append(cells, []layout.Line{
			nil, layout.Of(layout.Text(styleMuted, "no rule")), layout.Plainly("Count"), matchedCell(policy.Unmatched, stylePlain), nil,
			layout.Of(layout.Text(styleMuted, "counts against the limits")),
		})
	}
	columns := []layout.Column{
		{Header: "RULE", Right: true}, {Header: "NAME", Min: 8}, {Header: "ACTION"}, {Header: "MATCHED", Right: true}, {}, {Header: "IF", Min: p.width / 3, Drop: 1},
	}
	if !slices.ContainsFunc(policy.Rules, func(r explain.FailureRule) bool { return r.Decided }) {
		const decided = 4
		columns = slices.Delete(columns, decided, decided+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], decided, decided+1)
		}
	}
	header, lines := layout.Table(columns, cells, p.width, p.glyphs.Ellipsis)
	out := []layout.Line{header}
	for i, l := range lines {
		out = append(out, l)
		if !brief && i < len(policy.Rules) {
			out = append(out, failureRuleNotes(p, &policy.Rules[i])...)
		}
	}
	for _, violation := range policy.NameViolations {
		out = append(out, p.wrap(layout.Of(layout.Text(styleWarn|bold, p.glyphs.Warn+" "), layout.Text(stylePlain, wording.Sentence(violation))), 2)...)
	}
	return out
}

func failureRuleCells(p *paint, rule *explain.FailureRule) []layout.Line {
	style, decided := stylePlain, layout.Line(nil)
	if rule.Decided {
		style, decided = styleBad|bold, layout.Of(layout.Text(styleBad|bold, p.glyphs.Decided+" decided"))
	}
	return []layout.Line{
		layout.Of(layout.Text(style, strconv.Itoa(int(rule.Index)))), layout.Of(layout.Text(styleAccent|style&bold, rule.Name)),
		layout.Of(layout.Text(style, rule.Action)), matchedCell(rule.Matched, style), decided,
		layout.Of(layout.Text(style, rule.Requirement)),
	}
}

// matchedCell is a count; that nothing matched matters less.
func matchedCell(n int32, style styleOf) layout.Line {
	if n == 0 {
		style = styleMuted
	}
	return layout.Of(layout.Text(style, strconv.Itoa(int(n))))
}

// failureRuleNotes say why a rule was passed over.
func failureRuleNotes(p *paint, rule *explain.FailureRule) []layout.Line {
	if rule.PassedOver == 0 {
		return nil
	}
	text := "passed over " + wording.Plural(int64(rule.PassedOver), "time", "times")
	if rule.Why != "" {
		text += ": " + rule.Why
	}
	return layout.Wrap(layout.Of(layout.Blank(ruleIndent), layout.Text(styleMuted, text)), p.width, ruleIndent)
}

// ruleIndent is where the names of rules begin.
const ruleIndent = 6

// limitLines are the limits that failures and time stand against: what is used and left.
func limitLines(p *paint, j *jobData) []layout.Line { return meters(p, limitMeters(p, j)) }

func limitMeters(p *paint, j *jobData) []meter {
	var all []meter
	job := &j.Job
	if n := job.BackoffLimit; n != nil && *n < math.MaxInt32 {
		used := int64(j.Counts.Failed) + int64(j.Counts.UncountedFailed)
		m := limitMeter(j, "backoffLimit", used, int64(*n), failures(int32(min(used, math.MaxInt32))))
		if job.RestartPolicy == "OnFailure" {
			m.text = append(m.text, layout.Text(styleMuted, ", restarts count too"))
		}
		all = append(all, m)
	}
	if n := job.BackoffLimitPerIndex; n != nil {
		all = append(all, perIndexMeter(j, *n))
	}
	if n := job.MaxFailedIndexes; n != nil && j.Indexes != nil {
		failed := j.Indexes.FailedCount
		all = append(all, limitMeter(j, "maxFailedIndexes", int64(failed), int64(*n), oneOrMany(failed, "failed index", "failed indexes")))
	}
	if n := job.ActiveDeadlineSeconds; n != nil {
		all = append(all, deadlineMeter(p, j, *n))
	}
	return all
}

// limitMeter is "2 of 6, 4 left", or "exceeded: 3 failures, 2 allowed". what is the word for
// that which is limited.
func limitMeter(j *jobData, name string, used, limit int64, what string) meter {
	m := meter{name: name, have: used, total: limit, style: limitStyle(used, limit)}
	if limit == 0 {
		m.total = 1 // None is allowed: the first fills the bar.
	}
	switch {
	case used > limit:
		m.text = layout.Of(layout.Text(styleBad|bold, "exceeded"), layout.Textf(stylePlain, ": %d %s, %d allowed", used, what, limit))
	case isDecided(j):
		// What would have been left is of no use any more: something else decided.
		m.style = styleInfo
		m.text = layout.Of(layout.Textf(stylePlain, "%d of %d, ", used, limit), layout.Text(styleMuted, notAbove(used, limit)))
	default:
		m.text = layout.Of(layout.Textf(stylePlain, "%d of %d, ", used, limit), layout.Textf(m.style&^bold, "%d left", limit-used))
	}
	return m
}

// isDecided says that the Job has ended or will end, whatever its pods do.
func isDecided(j *jobData) bool {
	return !j.Job.Finished.IsZero() || (j.Verdict.Fate != explain.FateOpen && j.Verdict.Fate != "")
}

// notAbove says how far from a limit a Job has ended.
func notAbove(used, limit int64) string {
	if used == limit {
		return "not exceeded" // A Job may reach its limit.
	}
	return "not reached"
}

func limitStyle(used, limit int64) styleOf {
	switch {
	case used > limit:
		return styleBad
	case 4*used >= 3*limit && used > 0:
		return styleWarn
	}
	return styleInfo
}

// perIndexMeter is how far the index that has failed most often is.
func perIndexMeter(j *jobData, limit int32) meter {
	most, index, n := int32(0), int32(0), 0
	for i := range detailsOf(j) {
		switch info := &j.Indexes.Details[i]; {
		case info.Failures > most:
			most, index, n = info.Failures, info.Index, 1
		case info.Failures == most:
			n++
		}
	}
	if most == 0 {
		m := limitMeter(j, "backoffLimitPerIndex", 0, int64(limit), "")
		m.text = append(m.text, layout.Text(styleMuted, " for each index"))
		return m
	}
	whose := fmt.Sprintf(" (index %d)", index)
	if n > 1 {
		whose = fmt.Sprintf(" (%d indexes)", n)
	}
	m := limitMeter(j, "backoffLimitPerIndex", int64(most), int64(limit), failures(most))
	m.text = append(m.text, layout.Text(styleMuted, whose))
	return m
}

// deadlineMeter is how much of activeDeadlineSeconds has passed.
func deadlineMeter(p *paint, j *jobData, limit int64) meter {
	const name = "deadline"
	end := p.now
	if !j.Job.Finished.IsZero() {
		end = j.Job.Finished.Time
	}
	if j.Job.Started.IsZero() {
		return meter{name, 0, 1, styleInfo, layout.Of(layout.Text(stylePlain, wording.Seconds(limit)+" from its start"))}
	}
	used := max(0, int64(end.Sub(j.Job.Started.Time)/time.Second))
	m := meter{name: name, have: used, total: limit, style: limitStyle(used, limit)}
	m.text = layout.Of(layout.Textf(stylePlain, "%s of %s", wording.Seconds(used), wording.Seconds(limit)))
	switch {
	case used >= limit:
		m.style = styleBad
		m.text = append(m.text, layout.Text(styleBad|bold, ", exceeded"))
	case !j.Job.Finished.IsZero():
		m.style = styleInfo
		m.text = append(m.text, layout.Text(styleMuted, ", not reached"))
	default:
		m.text = append(m.text, layout.Textf(m.style, ", %s left", wording.Seconds(limit-used)))
	}
	return m
}

// detailsOf are the indexes that are told of one by one.
func detailsOf(j *jobData) []explain.IndexInfo {
	if j.Indexes == nil {
		return nil
	}
	return j.Indexes.Details
}
