package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// jobsLimit is the maximum number of Jobs for which the advice is not shown by cause.
const jobsLimit = 10

// Explanations writes the states of CronJobs and JobSets, and the problems of the Jobs by cause. With
// Options.Full, it also writes the verdict on each Job, the causes of all failures together, and all advice.
func Explanations(w io.Writer, l explain.ReportList, o Options) error {
	p := newPage(o)
	rest := p.owners(&l)
	if len(l.Items) == 0 {
		return p.writeTo(w)
	}
	if len(p.Lines()) > 0 {
		p.Blank()
	}
	p.Para(0, 0, layout.Text(layout.Bold, wording.Plural(len(l.Items), "Job", "Jobs")), plain(tally(l.Items)))
	if !o.Full {
		p.shortList(&l)
		return p.writeTo(w)
	}
	grouped := isGrouped(&l)
	if grouped {
		p.groups(&l)
	}
	p.Blank()
	p.jobTable(l.Items)
	if log := p.onlyLog(&l); len(log) > 0 {
		p.Blank()
		p.labeled(0, log)
	}
	all := together(l)
	p.section(section.Causes(p.frame(all.ObservedAt.Time), all))
	if !grouped {
		p.advice(rest, len(l.Items))
	}
	p.gaps(share(l.Items, func(r *explain.Report) []shared { return sharedGaps(r.Gaps) }), len(l.Items))
	return p.writeTo(w)
}

// together returns a Report of the failures of all Jobs.
func together(l explain.ReportList) *explain.Report {
	all := &explain.Report{Causes: l.Causes}
	for i := range l.Items {
		r := &l.Items[i]
		all.FailuresWithoutPod += r.FailuresWithoutPod
		all.Gaps = append(all.Gaps, r.Gaps...)
		all.Counts.Failed += r.Counts.Failed
		all.Counts.UncountedFailed += r.Counts.UncountedFailed
		all.Counts.IgnoredFailures += r.Counts.IgnoredFailures
		all.Counts.AwaitReplacement += r.Counts.AwaitReplacement
	}
	return all
}

// tally returns ": 2 Failed, 1 Complete", in the order of appearance.
func tally(items []explain.Report) string {
	var order []string
	counts := map[string]int{}
	for i := range items {
		word := section.StatusWord(&items[i].Verdict)
		if counts[word] == 0 {
			order = append(order, word)
		}
		counts[word]++
	}
	text := ""
	for _, word := range order {
		text = wording.Join(", ", text, wording.Count(counts[word], word))
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

func (p *page) jobTable(items []explain.Report) {
	type report = explain.Report
	p.Table(0, layout.TableOf([]layout.Column[report]{
		{Header: "STATUS", Cell: func(r *report) layout.Line { return layout.Of(section.JobStatus(&p.Glyphs, r)) }},
		{Header: "JOB", Min: 18, Middle: true, Text: func(r *report) string { return section.JobName(&r.Job) }},
		{Header: "DURATION", Right: true, Drop: 1, Text: func(r *report) string {
			if r.Job.DurationSeconds == nil {
				return ""
			}
			return wording.Seconds(*r.Job.DurationSeconds)
		}},
		{
			Header: "VERDICT", Wrap: true, Min: proseWidth, Text: func(r *report) string { return r.Verdict.Sentence },
			Below: func(r *report) (lines []layout.Line) {
				for _, text := range first(otherProblems(r), shortProblems) {
					lines = append(lines, layout.Of(layout.Text(layout.Warn, "Also: "+text)))
				}
				return lines
			},
		},
	}, items))
}

// otherProblems returns the problems of a Job that its verdict does not name.
func otherProblems(r *explain.Report) (texts []string) {
	named := r.Named()
	for i := range r.Problems {
		if p := &r.Problems[i]; p != named {
			texts = append(texts, wording.Sentence(p.Text))
		}
	}
	return texts
}

// shared is an advice or a gap, with its commands for several Jobs.
type shared struct {
	text     string
	whatIf   string
	commands []string
	jobs     int
	job      string // the first of these Jobs
}

// of returns the Job, or the number of Jobs.
func (s *shared) of() string {
	if s.jobs > 1 {
		return wording.Count(s.jobs, "Jobs")
	}
	return s.job
}

// sharedAdvice returns the advice of one report.
func sharedAdvice(all []explain.Advice) (out []shared) {
	for _, a := range all {
		if a.OfShownLog {
			continue
		}
		one := shared{text: a.Text, commands: []string{a.Command}}
		if a.WhatIf != nil {
			one.whatIf = a.WhatIf.Text
		}
		out = append(out, one)
	}
	return out
}

// sharedGaps returns the gaps of one report.
func sharedGaps(all []input.Gap) (out []shared) {
	for _, g := range all {
		out = append(out, shared{text: g.Text, commands: []string{g.Command}})
	}
	return out
}

// share joins the items of several reports by text, in the order of appearance.
func share(reports []explain.Report, of func(*explain.Report) []shared) []shared {
	var all []shared
	place := map[string]int{}
	for i := range reports {
		seen := map[string]bool{}
		for _, one := range of(&reports[i]) {
			at, known := place[one.text]
			if !known {
				at = len(all)
				place[one.text] = at
				all = append(all, shared{text: one.text, job: section.JobName(&reports[i].Job)})
			}
			if !seen[one.text] {
				seen[one.text] = true
				all[at].jobs++
			}
			if !slices.Contains(all[at].commands, one.commands[0]) {
				all[at].commands = append(all[at].commands, one.commands[0])
			}
		}
	}
	return all
}

// advice writes the recommended actions for a number of Jobs, with their commands.
func (p *page) advice(all []shared, jobs int) {
	if len(all) > 0 {
		p.Title("What to do", "")
	}
	for i := range all {
		p.sharedItem(fmt.Sprintf("%d. ", i+1), layout.Plain, &all[i], jobs)
	}
}

// gaps writes which data about a number of Jobs could not be read.
func (p *page) gaps(all []shared, jobs int) {
	if len(all) > 0 {
		p.Title("What could not be read", "")
	}
	for i := range all {
		p.sharedItem(p.Glyphs.Warn+" ", layout.Warn, &all[i], jobs)
	}
}

func (p *page) sharedItem(mark string, style layout.Style, s *shared, jobs int) {
	spans := layout.Of(layout.Text(style, mark), plain(wording.Sentence(s.text)))
	if jobs > 1 {
		spans = append(spans, layout.Text(layout.Muted, " ("+s.of()+")"))
	}
	p.Para(indentSection, indentSection+layout.Width(mark), spans...)
	if s.whatIf != "" {
		p.Para(indentCommand, indentCommand, plain(wording.Sentence(s.whatIf)))
	}
	for _, command := range s.commands {
		p.Command(indentCommand, command)
	}
}

// owners writes the state of CronJobs and JobSets, and the advice on them. It returns the rest of the advice on the Jobs, which a full
// explanation of a single owner contains.
func (p *page) owners(l *explain.ReportList) (rest []shared) {
	rest = share(l.Items, func(r *explain.Report) []shared { return sharedAdvice(notShown(l, r.Advice)) })
	var more []shared
	if p.opts.Full && len(l.CronJobs)+len(l.JobSets) == 1 && !isGrouped(l) {
		more, rest = rest, nil
	}
	for i := range more {
		if len(l.Items) > 1 {
			more[i].text += wording.InBrackets(more[i].of())
		}
	}
	for i := range l.CronJobs {
		r := &l.CronJobs[i]
		var quoted []string
		if r.State == explain.CronJobCreationRefused {
			quoted = r.Details
		}
		p.owner(r.Sentence, r.Notes, quoted, slices.Concat(sharedAdvice(r.Advice), more), r.Gaps)
	}
	for i := range l.JobSets {
		r := &l.JobSets[i]
		p.owner(r.Sentence, r.Notes, r.Details, slices.Concat(sharedAdvice(r.Advice), more), r.Gaps)
	}
	return rest
}

// owner writes the state of one owner; quoted are messages that are more specific than the sentence.
func (p *page) owner(sentence string, notes, quoted []string, advice []shared, gaps []input.Gap) {
	if len(p.Lines()) > 0 {
		p.Blank()
	}
	p.Para(0, 0, layout.Text(layout.Bold, sentence))
	for _, note := range notes {
		p.Para(0, 0, plain(note))
	}
	mark := p.Glyphs.Quote + " "
	for _, message := range quoted {
		p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+message))
	}
	p.advice(advice, 1)
	p.gaps(sharedGaps(gaps), 1)
}

// groupFrom is the number of Jobs with one cause from which a short list of Jobs is grouped.
const groupFrom = 4

// isGrouped reports whether the advice is shown by cause: for many Jobs, or for some with the same cause.
func isGrouped(l *explain.ReportList) bool {
	alike := slices.ContainsFunc(l.Groups, func(g explain.JobGroup) bool { return g.Count >= groupFrom })
	return len(l.Groups) > 0 && (alike || len(l.Items) > jobsLimit)
}

// groups writes the problems and the advice, the most important first.
func (p *page) groups(l *explain.ReportList) {
	p.Title("What to do", "by cause, the most important first")
	for i := range l.Groups {
		g := &l.Groups[i]
		number := fmt.Sprintf("%d. ", i+1)
		hang := indentSection + layout.Width(number)
		p.Para(indentSection, hang, plain(number), layout.Text(layout.Bold, groupWords(g)), plain(wording.Join("", ": ", g.Text)))
		p.Para(hang, hang, layout.Text(layout.Muted, strings.Join(g.Jobs, ", ")))
		for _, a := range g.Advice {
			p.Para(hang, hang+2, plain("- "+wording.Sentence(a.Text)))
			if a.Command != "" {
				p.Command(hang+2, a.Command)
			}
		}
	}
	p.Blank()
	p.Para(0, 0, plain("For one Job in full:"))
	p.Command(0, "kubectl batchjob why NAME -n NAMESPACE")
}

// groupWords returns "14 Jobs failed".
func groupWords(g *explain.JobGroup) string {
	words := map[explain.GroupState][2]string{
		explain.GroupFailed: {"failed", "failed"}, explain.GroupStalled: {"is stalled", "are stalled"},
		explain.GroupSuspended: {"is suspended", "are suspended"}, explain.GroupRunning: {"is running with failures", "are running with failures"},
	}[g.State]
	return wording.Plural(g.Count, "Job "+words[0], "Jobs "+words[1])
}

// someNames returns at most the given number of names, and the number of the rest.
func someNames(names []string, most int) string {
	rest := len(names) - most
	if rest <= 1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), rest)
}
