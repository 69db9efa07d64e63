package tui

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// barWidth is how wide the bar of the header is at most.
const barWidth = 40

// jobHeader is what stands above the tabs: the fate, the progress, and the clocks.
func jobHeader(p *paint, j *jobData) []layout.Line {
	return []layout.Line{fateLine(p, j), progressLine(p, j), clockLine(p, j)}
}

// fateLine is the status with its reason, and who runs the Job.
func fateLine(p *paint, j *jobData) layout.Line {
	v := &j.Verdict
	mark, style := fateMark(&p.glyphs, v.Fate, v.Stalled, j.Job.Suspend)
	l := layout.Of(layout.Text(style|bold, mark+" "+v.Status))
	if j.gone {
		l = append(l, layout.Text(styleBad|bold, "  deleted"))
	}
	if v.Stalled && !j.Job.Suspend {
		l = append(l, layout.Text(styleWarn|bold, "  does not go on"))
	}
	if v.Reason != "" {
		l = append(l, layout.Text(style, "  "+v.Reason))
	}
	if v.Rule != nil {
		l = append(l, layout.Text(styleMuted, "  by "), layout.Text(styleAccent, ruleTitle(*v.Rule, v.RuleName)))
	}
	for _, words := range []string{"  run by ", "  "} {
		if by := runBy(p, &j.Reconciler, words); l.Width()+by.Width() <= p.width {
			return layout.Spread(p.width, l, by, p.glyphs.Ellipsis)
		}
	}
	if j.Reconciler.Alive == explain.NotAlive {
		return layout.Spread(p.width, l, layout.Of(layout.Text(styleBad|bold, "  controller not alive")), p.glyphs.Ellipsis)
	}
	return p.cut(l, p.width)
}

// ruleTitle is `rule 0 "OutOfMemory"`.
func ruleTitle(index int32, name string) string {
	if name == "" {
		return fmt.Sprintf("rule %d", index)
	}
	return fmt.Sprintf("rule %d %q", index, name)
}

// runBy is who reconciles the Job, after some words, and whether it is alive.
func runBy(p *paint, r *explain.Reconciler, words string) layout.Line {
	name := r.ManagedBy
	if name == "" {
		name = "built-in"
	}
	l := layout.Of(layout.Text(styleMuted, words+name))
	switch r.Alive {
	case explain.Alive:
		l = append(l, layout.Text(styleGood, " "+p.glyphs.Good))
	case explain.NotAlive:
		l = append(l, layout.Text(styleBad|bold, " "+p.glyphs.Bad+" not alive"))
	}
	return l
}

// brevity is how much is left out of the line of progress, for the lack of room.
type brevity int

const (
	allWords brevity = iota
	// noReady leaves out how many of the active pods are ready.
	noReady
	// fewWords says things in fewer words, and no more how many failures are counted.
	fewWords
	// noEnding leaves out what is terminating, noBackoff also what waits.
	noEnding
	noBackoff
)

// progressLine is the bar and what the pods or indexes do, in as many words as there is
// room for: the bar gets smaller and goes before a number does.
func progressLine(p *paint, j *jobData) layout.Line {
	bar := min(barWidth, p.width/4)
	var l layout.Line
	for _, try := range []struct {
		bar int
		brevity
	}{{bar, allWords}, {bar, noReady}, {bar, fewWords}, {bar / 2, fewWords}, {0, fewWords}, {0, noEnding}, {0, noBackoff}} {
		l = append(barOf(p, j, try.bar), countsOf(p, j, try.brevity)...)
		if l.Width() <= p.width {
			break
		}
	}
	return l
}

// barOf is how much has succeeded, with a bar so wide.
func barOf(p *paint, j *jobData, width int) layout.Line {
	done, total := j.done()
	if total <= 0 {
		return layout.Of(layout.Textf(stylePlain, "%d succeeded", done))
	}
	style := styleGood
	if j.Verdict.Fate == explain.FateFailed || j.Verdict.Fate == explain.FateFailing {
		style = styleBad
	}
	var l layout.Line
	percent := wording.Percent(int64(done), int64(total)) + " "
	if width > 0 {
		l, percent = p.bar(int64(done), int64(total), width, style), " "+percent
	}
	return append(l, layout.Text(bold, percent), layout.Textf(stylePlain, " %d/%d", done, total))
}

// countsOf are the numbers that are not 0, each in its colour.
func countsOf(p *paint, j *jobData, brief brevity) layout.Line {
	var l layout.Line
	add := func(n int32, word string, style styleOf) {
		if n > 0 {
			l = append(l, layout.Text(styleMuted, " "+p.glyphs.Dot+" "), layout.Textf(style, "%d %s", n, word))
		}
	}
	now := &j.standing
	active, ending, waiting := "active", "terminating", "in back-off"
	if brief < noReady && now.ready >= 0 {
		active = fmt.Sprintf("active (%d ready)", now.ready)
	}
	if brief >= fewWords {
		ending, waiting = "ending", "back-off"
	}
	add(now.active, active, styleInfo)
	if brief < noEnding {
		add(now.terminating, ending, styleSpecial)
	}
	if x := j.Indexes; x != nil {
		if brief < noBackoff {
			add(x.BackingOffCount, waiting, styleWarn)
		}
		add(x.FailedCount, oneOrMany(x.FailedCount, "index failed", "indexes failed"), styleBad)
	}
	all, words := failureWords(j, brief)
	add(all, words, styleBad)
	return l
}

// failureWords are how many failures there are, and "failures" or "failures (6 counted)".
func failureWords(j *jobData, brief brevity) (all int32, words string) {
	all, counted, _, _ := failureTotals(j)
	switch {
	case brief >= fewWords:
		return all, "failed"
	case all != counted:
		return all, fmt.Sprintf("%s (%d counted)", failures(all), counted)
	}
	return all, failures(all)
}

func oneOrMany(n int32, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func failures(n int32) string { return oneOrMany(n, "failure", "failures") }
