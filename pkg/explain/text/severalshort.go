package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// shortGroups is the number of groups with a command, and shortRows the number of other groups, and of Jobs without
	// problems, with a line each.
	shortGroups = 3
	shortRows   = 8
	// shortNames is the number of names shown of a group.
	shortNames = 3
)

// shortList writes the answer for several Jobs on about one screen: each cause once, with the newest of its Jobs as the
// example, and a line for each of the others.
func (p *page) shortList(l *explain.ReportList) {
	shown := l.Groups
	if len(shown) > shortGroups+1 {
		shown = shown[:shortGroups]
	}
	for i := range shown {
		p.Blank()
		p.shortGroup(l, &shown[i])
	}

	// One line per other group, and per Job that is in no group.
	var rows []layout.Line
	var names []string
	for i := range l.Groups[len(shown):] {
		g := &l.Groups[len(shown)+i]
		rows = append(rows, p.groupRow(l, g))
		names = append(names, g.Jobs...)
	}
	for i := range l.Items {
		r := &l.Items[i]
		isThis := func(name string) bool { return isNamed(&r.Job, name) }
		if !slices.ContainsFunc(l.Groups, func(g explain.JobGroup) bool { return slices.ContainsFunc(g.Jobs, isThis) }) {
			rows = append(rows, (&short{view: newView(r, p.opts)}).headline())
			names = append(names, r.Job.Name)
		}
	}
	if len(rows) > 0 {
		p.Blank()
	}
	for _, row := range first(rows, shortRows) {
		p.Place(0, row.Cut(p.Room(0), p.Glyphs.Ellipsis))
	}
	if rest := len(rows) - shortRows; rest > 0 {
		more := wording.Count(rest, "more") + ": " + strings.Join(names[len(names)-rest:], ", ")
		p.Place(0, layout.Of(layout.Text(layout.Muted, p.Glyphs.More+" "+more)).Cut(p.Room(0), p.Glyphs.Ellipsis))
	}

	// The data that could not be read, and the command for the full explanation.
	var last []labeled
	unread := share(l.Items, func(r *explain.Report) []shared {
		return sharedGaps(slices.DeleteFunc(slices.Clone(r.Gaps), func(g input.Gap) bool { return g.OfLogs() }))
	})
	for _, gap := range first(unread, shortGaps) {
		last = append(last, labelOf("Unread", layout.Warn, fmt.Sprintf("%s (%s)", wording.Sentence(gap.text), gap.of()))...)
	}
	more := layout.Of(layout.Text(layout.Accent, p.again()), plain(": each Job, all causes and all advice"))
	p.Blank()
	p.labeled(0, append(last, labeled{label: "More", text: more}))
}

// groupRow returns the Jobs of a group and their cause in one line. If they do not fit, it omits the times, not the cause.
func (p *page) groupRow(l *explain.ReportList, g *explain.JobGroup) layout.Line {
	cause := plain(": " + groupCause(l, g))
	if row := append(p.groupTitle(l, g, true), cause); row.Width() <= p.Room(0) {
		return row
	}
	return append(p.groupTitle(l, g, false), cause)
}

// shortGroup writes the Jobs of one cause, the cause, the log, and the advice.
func (p *page) shortGroup(l *explain.ReportList, g *explain.JobGroup) {
	r := newestOf(l, g)
	title := p.groupTitle(l, g, true)
	if g.Count == 1 && r.Verdict.Summary != "" {
		title = append(title, plain(": "+r.Verdict.Summary))
	}
	p.Para(0, indentSection, title...)
	p.Para(indentSection, indentSection, plain(wording.Sentence(groupCause(l, g))))
	p.labeled(indentSection, append(p.onlyLog(l), groupSteps(notShown(l, g.Advice))...))
}

// onlyLog returns the end of the newest Job's log if all Jobs with problems have the same cause.
func (p *page) onlyLog(l *explain.ReportList) []labeled {
	if len(l.Groups) != 1 {
		return nil
	}
	r := newestOf(l, &l.Groups[0])
	if v := (&short{view: newView(r, p.opts), own: section.OwnCauses(r)}); v.evidence(explain.EvidenceLogs) != nil {
		return v.log()
	}
	return nil
}

// groupTitle returns "✗ 14 Jobs failed: report-13, report-12, report-11, and 11 more", or "✗ train failed after 3m4s (17m
// ago)", or without the times.
func (p *page) groupTitle(l *explain.ReportList, g *explain.JobGroup, times bool) layout.Line {
	r := newestOf(l, g)
	mark, style := section.JobMark(&p.Glyphs, r.Verdict.Outcome, r.Verdict.Stalled, r.Job.Suspend)
	title := layout.Of(layout.Text(style|layout.Bold, mark+" "))
	if g.Count == 1 {
		title = append(title, layout.Text(layout.Bold, someNames(g.Jobs, 1)), plain(" "), layout.Text(style|layout.Bold, r.Verdict.State))
		if times {
			title = append(title, plain((&short{view: newView(r, p.opts)}).time()))
		}
		return title
	}
	return append(title, layout.Text(style|layout.Bold, groupWords(g)), plain(": "+someNames(g.Jobs, shortNames)))
}

// groupCause returns the cause that the Jobs of a group share, with the words of the Jobs if all use the same.
func groupCause(l *explain.ReportList, g *explain.JobGroup) string {
	newest := newestOf(l, g)
	text := jobCause(g, newest)
	isOther := func(r explain.Report) bool {
		isIn := slices.ContainsFunc(g.Jobs, func(name string) bool { return isNamed(&r.Job, name) })
		return isIn && jobCause(g, &r) != text
	}
	own := section.OwnCauses(newest)
	switch {
	case !slices.ContainsFunc(l.Items, isOther):
		return text
	case g.Problem != nil:
		return g.Text
	case len(own) == 0 && newest.FailuresWithoutPod > 0:
		return words.PodsGone
	case len(own) == 0:
		return cmp.Or(words.EndBriefly(newest.Verdict.EndedBy), g.Text)
	case len(own) == 1:
		return own[0].Text
	}
	return own[0].Text + "; also " + words.LowerFirst(own[1].Text)
}

// jobCause returns the problem of a Job, or its causes.
func jobCause(g *explain.JobGroup, r *explain.Report) string {
	own := section.OwnCauses(r)
	switch named := r.Named(); {
	case g.Problem != nil && named != nil:
		return named.Text
	case g.Problem != nil:
		return g.Text
	case len(own) == 0:
		return cmp.Or(words.Mechanism(r), words.EndHeadline(&r.Verdict), g.Text)
	}
	at := slices.IndexFunc(own, func(c explain.Cause) bool { return g.Failure != nil && c.Failure != nil && *c.Failure == *g.Failure })
	c := &own[max(0, at)]
	sentence := words.CauseSentence(c)
	if rule := section.CauseRule(c); rule != "" {
		sentence += " (" + rule + ")"
	}
	if at := slices.IndexFunc(own, func(other explain.Cause) bool { return other.Text != c.Text }); at >= 0 {
		sentence += "; also " + words.CauseBriefly(&own[at])
	}
	return wording.Join(". ", strings.TrimRight(words.EndHeadline(&r.Verdict), "."), sentence)
}

// notShown returns the advice that the answers about the owners do not contain.
func notShown(l *explain.ReportList, advice []explain.Advice) (rest []explain.Advice) {
	shown := map[string]bool{}
	for i := range l.CronJobs {
		for _, a := range l.CronJobs[i].Advice {
			shown[a.Text+a.Command] = true
			shown[a.Text] = shown[a.Text] || a.OfOwner // It may have got a command.
		}
	}
	for i := range l.JobSets {
		for _, a := range l.JobSets[i].Advice {
			shown[a.Text+a.Command] = true
		}
	}
	for _, a := range advice {
		ofCronJob := a.OfOwner || a.Kind == explain.AdviceRerun // A CronJob runs again by itself.
		if !shown[a.Text+a.Command] && (!ofCronJob || len(l.CronJobs) == 0) && (!a.OfSource || len(l.JobSets) == 0) {
			rest = append(rest, a)
		}
	}
	return rest
}

// groupSteps returns the fix and one command, and the command for the log if there is one.
func groupSteps(advice []explain.Advice) []labeled {
	var steps []labeled
	hasCommand := false
	isFix := func(a *explain.Advice) bool { return a.Kind == explain.AdviceFix || a.Kind == "" && a.Command == "" }
	if fix := lists.First(advice, isFix); fix != nil {
		steps = append(steps, step(fix))
		hasCommand = fix.Command != ""
	}
	isRead := func(a *explain.Advice) bool {
		return a.Command != "" && a.Kind != explain.AdvicePolicy && (!hasCommand || a.Kind == explain.AdviceLogs)
	}
	if read := lists.First(advice, isRead); read != nil {
		steps = append(steps, step(read))
	}
	return steps
}

// newestOf returns the report on the newest Job of a group.
func newestOf(l *explain.ReportList, g *explain.JobGroup) *explain.Report {
	newest := lists.First(l.Items, func(r *explain.Report) bool { return len(g.Jobs) > 0 && isNamed(&r.Job, g.Jobs[0]) })
	return cmp.Or(newest, &explain.Report{}) // A caller may have left out the report.
}

// isNamed reports whether a name in a group is the Job's: the name includes the namespace if the list has several.
func isNamed(j *explain.Job, name string) bool {
	return name == j.Name || name == j.Namespace+"/"+j.Name
}
