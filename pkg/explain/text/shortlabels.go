package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// labeled is a label with a text, with quoted lines, or with a command, which is never wrapped.
type labeled struct {
	label   string
	text    layout.Line
	quote   []string
	command string
}

// labeled writes labeled texts one per line, after a blank line.
func (v *short) labeled(indent int, all []labeled) {
	if len(all) > 0 {
		v.page.Blank()
	}
	v.page.labeled(indent, all)
}

// labeled writes labeled texts one per line.
func (p *page) labeled(indent int, all []labeled) {
	width := 0
	for i := range all {
		width = max(width, layout.Width(all[i].label))
	}
	hang := indent + width + 2
	last := ""
	for i := range all {
		one := &all[i]
		name := one.label
		if name == last && indent > 0 { // Each step has its own label.
			name = ""
		}
		last = one.label
		label := layout.Of(layout.Text(layout.Muted, fmt.Sprintf("%-*s  ", width, name)))
		switch {
		case len(one.quote) > 0:
			p.quote(indent, hang, label, one.quote)
		case len(one.text) > 0:
			p.Para(indent, hang, append(label, one.text...)...)
			if one.command != "" {
				p.Command(hang, one.command)
			}
		default:
			p.Place(indent, append(label, layout.Text(layout.Accent, p.opts.Local(one.command))))
		}
	}
}

// quote writes quoted lines after a label, each on one line.
func (p *page) quote(indent, hang int, label layout.Line, lines []string) {
	mark := layout.Text(layout.Muted, p.Glyphs.Quote+" ")
	for i, text := range lines {
		at := indent
		if i > 0 {
			at, label = hang, nil
		}
		room := p.Room(hang) - layout.Width(p.Glyphs.Quote+" ")
		l := layout.Plainly(layout.Readable(text)).Cut(room, p.Glyphs.Ellipsis)
		p.Place(at, slices.Concat(label, layout.Of(mark), l))
	}
}

func labelOf(label string, style layout.Style, text string) []labeled {
	if text == "" {
		return nil
	}
	return []labeled{{label: label, text: layout.Of(layout.Text(style, text))}}
}

// why returns the limit or the rule behind the end of the Job.
func (v *short) why() []labeled {
	return labelOf("Why", layout.Plain, words.Mechanism(v.report))
}

// failedIndexes returns the failed indexes if there is a single cause; other causes have their own.
func (v *short) failedIndexes() []labeled {
	if !v.isSingle() || v.own[0].FailedIndexCount < 2 {
		return nil
	}
	return labelOf("Indexes", layout.Plain, v.frame.Crop(v.own[0].FailedIndexes, section.IndexesLimit))
}

// lostSeconds is the pod time that makes disruptions worth a line.
const lostSeconds = 600

// disrupted returns who took pods of a Job that is not complete, if the causes do not show all of them, or if that cost much time.
func (v *short) disrupted() []labeled {
	d, shown := v.report.Disruptions, int32(0)
	for i := range v.own {
		if c := &v.own[i]; c.Ending != nil && c.Ending.TookPod(c.Message) {
			shown += c.Count
		}
	}
	if d == nil || v.report.Verdict.Outcome == reconcile.OutcomeComplete || d.Pods <= shown && (d.Pods < 2 || d.LostSeconds < lostSeconds) {
		return nil
	}
	return labelOf("Taken", layout.Plain, words.DisruptionsText(d))
}

// pod returns the pod that failed last if there is a single cause, or an example of the pods with the problem.
func (v *short) pod() []labeled {
	if link := v.evidence(explain.EvidencePod); link != nil && v.isSingle() {
		attempts := int32(0)
		if x := v.report.Indexes; x != nil && link.Index != nil {
			if d := lists.First(x.Details, func(d *explain.IndexInfo) bool { return d.Index == *link.Index }); d != nil {
				attempts = d.Attempts
			}
		}
		return labelOf("Pod", layout.Plain, words.PodPlace(v.podInfo(link.Pod), link.Attempt, attempts))
	}
	if note := v.evidence(explain.EvidenceNote); note != nil && len(v.own) > 0 && !v.namesCause(note.Text) {
		return labelOf("Pods", layout.Plain, wording.Sentence(note.Text))
	}
	p := v.report.Named()
	if p == nil || len(p.Pods) == 0 {
		return nil
	}
	text := words.PodPlace(v.podInfo(p.Pods[0]), 0, 0)
	if p.Count > 1 {
		text += fmt.Sprintf(", and %s more", wording.Thousands(p.Count-1))
	}
	return labelOf("Pod", layout.Plain, text)
}

// namesCause reports whether a note repeats the message of a cause.
func (v *short) namesCause(note string) bool {
	return slices.ContainsFunc(v.own, func(c explain.Cause) bool { return c.Message != "" && strings.Contains(note, c.Message) })
}

// podInfo returns the pod of that name, or a PodInfo with only a name.
func (v *short) podInfo(name string) *explain.PodInfo {
	return cmp.Or(v.report.Pod(name), &explain.PodInfo{Name: name})
}

func (v *short) evidence(kind explain.EvidenceKind) *explain.Evidence {
	return lists.First(v.report.Evidence, func(e *explain.Evidence) bool { return e.Kind == kind })
}

// log returns the last lines of the log of that pod, or why they could not be read.
func (v *short) log() []labeled {
	if link := v.evidence(explain.EvidenceLogs); link != nil {
		if len(v.own) > 0 && !v.isSingle() {
			return nil
		}
		lines := shortLog(link)
		if len(v.report.Problems) == 0 && !v.report.Verdict.Outcome.Fails() && len(v.own) == 0 { // It is no evidence.
			lines = lines[max(0, len(lines)-1):]
		}
		return []labeled{{label: "Log", quote: lines}}
	}
	if g := lists.First(v.report.Gaps, (*input.Gap).OfLogs); g != nil {
		return labelOf("Log", layout.Warn, wording.Sentence(g.Text))
	}
	return nil
}

// shortLog returns the lines of the log that say why, with what follows or leads to them.
func shortLog(link *explain.Evidence) []string {
	if at := link.ErrorLine; at != nil && int(*at) < len(link.Lines)-shortLines {
		return first(meaning.WithoutFrames(link.Lines[*at:]), shortLines)
	}
	lines, _ := meaning.Tail(meaning.WithoutFrames(link.Lines), shortLines)
	return lines
}

// details returns the beginning and the end of the cluster's messages about the problem that the verdict names, unless its
// text quotes or explains them.
func (v *short) details() []labeled {
	p := v.report.Named()
	if p == nil {
		return nil
	}
	const lines, label, loss = 2, 8, 12
	quoted := words.OneLine(p.Details)
	if p.Kind == explain.ProblemUnschedulable { // Each is of another component.
		quoted = strings.Join(p.Details, "; ")
	}
	if link := v.evidence(explain.EvidenceLogs); link != nil && slices.ContainsFunc(meaning.WithoutMarks(p.Details), func(line string) bool { return slices.Contains(link.Lines, line) }) {
		return nil // The log that the answer shows has them.
	}
	isUnderstood := p.Start.Reason == explain.InvalidImageName || p.Kind == explain.ProblemContainerConfig && p.Start.Error != nil || p.Refusal != nil || p.Start.Trouble != nil || p.Suspension.Hold != nil || len(p.Scheduling.Unfit) > 0
	if quoted == "" || p.Quoted || isUnderstood && !p.Shortened { // Details that the text explains would only repeat it.
		return nil
	}
	text := layout.Plainly(quoted)
	if v.page.opts.Width > 0 { // A line is shorter if the next word does not fit.
		text = text.CutMiddle(lines*(v.page.Room(label)-loss), v.page.Glyphs.Ellipsis)
	}
	return []labeled{{label: "Says", text: text}}
}

// others returns the problems that the answer does not name.
func (v *short) others() (out []labeled) {
	all := otherProblems(v.report)
	for _, text := range first(all, shortProblems) {
		out = append(out, labelOf("Also", layout.Warn, text)...)
	}
	if rest := len(all) - len(out); rest > 0 {
		out = append(out, labelOf("Also", layout.Muted, wording.Plural(rest, "other problem", "other problems"))...)
	}
	return out
}

// waits returns the condition that the Job waits for, or the next steps.
func (v *short) waits() (out []labeled) {
	r := v.report
	if w := r.Verdict.WaitsFor; w != nil {
		return labelOf("Waits", layout.Plain, "for "+words.WaitsForText(w))
	}
	for _, step := range first(v.steps(), shortSteps) {
		out = append(out, labeled{label: "Next", text: step})
	}
	return out
}

// steps returns the next steps, without the ones that the blocking problem covers: that nothing happens, or that terminating
// pods are replaced.
func (v *view) steps() (lines []layout.Line) {
	r, p := *v.report, v.report.Named()
	isCovered := func(s explain.Step) bool {
		return s.Kind == explain.StepBlocked || s.Kind == explain.StepReplace && p != nil && p.Deletion.Holds == explain.HoldsReplacement
	}
	r.Next = slices.DeleteFunc(slices.Clone(r.Next), isCovered)
	for _, step := range section.Steps(v.frame, &r) {
		l := step.When
		if len(l) > 0 {
			l = append(l, plain(": "))
		}
		lines = append(lines, append(l, plain(step.Text)))
	}
	return lines
}

// retries returns the state of the Job's family.
func (v *short) retries() []labeled {
	f := v.report.Family
	if f == nil {
		return nil
	}
	text := f.Text
	if f.Missing != "" {
		text += " (" + v.frame.Crop(f.Missing, section.IndexesLimit) + ")"
	}
	out := labelOf("Retries", layout.Plain, wording.Sentence(text))
	for i := range first(f.Histories, shortHistories) {
		h := &f.Histories[i]
		who := "Indexes "
		if h.Count == 1 {
			who = "Index "
		}
		out = append(out, labelOf("Retries", layout.Plain, who+v.frame.Crop(h.Indexes, section.IndexesLimit)+" "+h.Text)...)
	}
	return out
}

// unread returns which data could not be read, except logs.
func (v *short) unread() (out []labeled) {
	for i := range v.report.Gaps {
		if g := &v.report.Gaps[i]; !(*input.Gap).OfLogs(g) && len(out) < shortGaps {
			out = append(out, labelOf("Unread", layout.Warn, wording.Sentence(g.Text))...)
		}
	}
	return out
}

// adviceLabels are the labels of the kinds of advice.
var adviceLabels = map[explain.AdviceKind]string{explain.AdviceLogs: "Logs", explain.AdviceDebug: "Debug", explain.AdviceRerun: "Rerun", explain.AdvicePolicy: "Next time", explain.AdviceFix: "Fix", "": "Fix"}

// toDo returns the first steps: the fix, then one log, then a rerun of what is missing.
func (v *short) toDo() (out []labeled) {
	// A command already prints a log: each of several causes has one.
	logs := !v.isSingle() && len(v.own) > 0 && v.own[0].Command != ""
	kinds := []explain.AdviceKind{explain.AdviceFix, "", explain.AdviceLogs, explain.AdviceRerun, explain.AdvicePolicy}
	silent := slices.ContainsFunc(v.report.Causes, func(c explain.Cause) bool { return c.Silent })
	if lines := len(v.page.Lines()) + 1 + shortAdvice + 1; silent && lines <= shortPage { // With a blank line before and a line after the steps.
		kinds = slices.Insert(kinds, 3, explain.AdviceDebug)
	}
	for _, kind := range kinds {
		for i := range v.report.Advice {
			a := &v.report.Advice[i]
			idle := kind == explain.AdvicePolicy && a.WhatIf == nil // Without a WhatIf, nothing shows that the policy would have helped.
			if a.Kind != kind || idle || kind == explain.AdviceLogs && logs {
				continue
			}
			logs = logs || kind == explain.AdviceLogs
			out = append(out, stepAfter(out, a))
		}
	}
	return first(out, shortAdvice)
}

// stepAfter returns one piece of advice after others. A rerun has its text if nothing before it says what to change.
func stepAfter(before []labeled, a *explain.Advice) labeled {
	one := step(a)
	if a.Kind != explain.AdviceRerun {
		return one
	}
	if len(before) > 0 {
		one.label = "Then"
	}
	if len(before) == 0 || before[0].label != adviceLabels[explain.AdviceFix] {
		one.text = layout.Plainly(wording.Sentence(a.Text))
	}
	return one
}

// step returns one piece of advice. For a log or a rerun, the command needs no text.
func step(a *explain.Advice) labeled {
	one := labeled{label: adviceLabels[a.Kind], command: a.Command}
	if a.Command == "" || !slices.Contains([]explain.AdviceKind{explain.AdviceLogs, explain.AdviceDebug, explain.AdviceRerun}, a.Kind) {
		one.text = layout.Plainly(wording.Sentence(a.Text))
	}
	if a.WhatIf != nil {
		one.text = append(one.text, plain(". "+wording.Sentence(a.WhatIf.Text)))
	}
	return one
}

// more returns the command for the full explanation.
func (v *short) more() []labeled {
	r := v.report
	var parts []string
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"disruptions", r.Disruptions != nil},
		{"timeline", len(r.Timeline) > 0},
		{"pods", len(r.Pods) > 0 && r.Pods[0].Phase != string(corev1.PodUnknown)},
		{"indexes", r.Indexes != nil},
		{"policies", r.FailurePolicy != nil || r.SuccessPolicy != nil},
		{"controller", true},
	} {
		if part.there {
			parts = append(parts, part.name)
		}
	}
	return []labeled{{label: "More", text: layout.Of(layout.Text(layout.Accent, v.page.again()), plain(": "+wording.Enumerate(parts, "and")))}}
}
