package tui

import (
	"fmt"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// barWidth is how wide the bar of the header is at most.
const barWidth = 40

// jobHeader is what stands above the tabs: the fate, the progress, and the clocks.
func jobHeader(p *paint, j *jobData) []canvas.Line {
	return []canvas.Line{fateLine(p, j), progressLine(p, j), clockLine(p, j)}
}

// fateLine is the status with its reason, and who runs the Job.
func fateLine(p *paint, j *jobData) canvas.Line {
	v := &j.Verdict
	mark, style := p.glyphs.fate(v.Fate, v.Stalled, j.Job.Suspend)
	l := canvas.Of(canvas.Text(style|bold, mark+" "+v.Status))
	if j.gone {
		l = append(l, canvas.Text(styleBad|bold, "  deleted"))
	}
	if v.Stalled && !j.Job.Suspend {
		l = append(l, canvas.Text(styleWarn|bold, "  does not go on"))
	}
	if v.Reason != "" {
		l = append(l, canvas.Text(style, "  "+v.Reason))
	}
	if v.Rule != nil {
		l = append(l, canvas.Text(styleMuted, "  by "), canvas.Text(styleAccent, ruleTitle(*v.Rule, v.RuleName)))
	}
	for _, words := range []string{"  run by ", "  "} {
		if by := runBy(p, &j.Reconciler, words); l.Width()+by.Width() <= p.width {
			return canvas.Spread(p.width, l, by, p.glyphs.ellipsis)
		}
	}
	if j.Reconciler.Alive == explain.NotAlive {
		return canvas.Spread(p.width, l, canvas.Of(canvas.Text(styleBad|bold, "  controller not alive")), p.glyphs.ellipsis)
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
func runBy(p *paint, r *explain.Reconciler, words string) canvas.Line {
	name := r.ManagedBy
	if name == "" {
		name = "built-in"
	}
	l := canvas.Of(canvas.Text(styleMuted, words+name))
	switch r.Alive {
	case explain.Alive:
		l = append(l, canvas.Text(styleGood, " "+p.glyphs.good))
	case explain.NotAlive:
		l = append(l, canvas.Text(styleBad|bold, " "+p.glyphs.bad+" not alive"))
	}
	return l
}

// progressLine is the bar and what the pods or indexes do.
func progressLine(p *paint, j *jobData) canvas.Line {
	done, total := j.done()
	style := styleGood
	if j.Verdict.Fate == explain.FateFailed || j.Verdict.Fate == explain.FateFailing {
		style = styleBad
	}
	var l canvas.Line
	if total > 0 {
		l = append(p.bar(int64(done), int64(total), min(barWidth, p.width/4), style),
			canvas.Textf(bold, " %s ", wording.Percent(int64(done), int64(total))),
			canvas.Textf(stylePlain, " %d/%d", done, total))
	} else {
		l = canvas.Of(canvas.Textf(stylePlain, "%d succeeded", done))
	}
	counts := countsOf(p, j, true)
	if l.Width()+counts.Width() > p.width {
		counts = countsOf(p, j, false)
	}
	return append(l, counts...)
}

// countsOf are the numbers that are not 0, each in its colour; in full says how many pods
// are ready.
func countsOf(p *paint, j *jobData, full bool) canvas.Line {
	c := &j.Counts
	var l canvas.Line
	add := func(n int32, word string, style styleOf) {
		if n > 0 {
			l = append(l, canvas.Text(styleMuted, " "+p.glyphs.dot+" "), canvas.Textf(style, "%d %s", n, word))
		}
	}
	active := "active"
	if full && c.Ready != nil {
		active = fmt.Sprintf("active (%d ready)", *c.Ready)
	}
	add(c.Active, active, styleInfo)
	if c.Terminating != nil {
		add(*c.Terminating, "terminating", styleSpecial)
	}
	if x := j.Indexes; x != nil {
		add(x.BackingOffCount, "in back-off", styleWarn)
		add(x.FailedCount, oneOrMany(x.FailedCount, "index failed", "indexes failed"), styleBad)
	}
	failed := c.Failed + c.UncountedFailed
	add(failed, failures(failed), styleBad)
	return l
}

func oneOrMany(n int32, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func failures(n int32) string { return oneOrMany(n, "failure", "failures") }

// clockLine is how long the Job ran, when it may be done, and its deadline.
func clockLine(p *paint, j *jobData) canvas.Line {
	l := canvas.Of(canvas.Text(stylePlain, ranFor(p, j)))
	part := func(spans ...canvas.Span) {
		l = append(append(l, canvas.Text(styleMuted, " "+p.glyphs.dot+" ")), spans...)
	}
	for _, kind := range []explain.WaitKind{explain.WaitBackoff, explain.WaitIndexBackoff} {
		if retry := waitOf(j.Report, kind); retry != nil {
			part(canvas.Text(styleMuted, "next retry "), canvas.Text(styleWarn, p.countdown(retry.Until.Time)))
		}
	}
	if deadline := waitOf(j.Report, explain.WaitDeadline); deadline != nil {
		part(canvas.Text(styleMuted, "deadline "), canvas.Text(styleWarn, p.countdown(deadline.Until.Time)))
	}
	if ttl := waitOf(j.Report, explain.WaitTTL); ttl != nil {
		part(canvas.Text(styleMuted, "deleted "), canvas.Text(styleWarn, p.countdown(ttl.Until.Time)))
	}
	if j.Verdict.Fate == explain.FateOpen && j.eta.Method != "" && !j.gone {
		part(etaSpans(p, &j.eta, j.ObservedAt.Time)...)
	}
	return l
}

// etaSpans tell the time left with how it is known.
func etaSpans(p *paint, eta *explain.ETA, at time.Time) []canvas.Span {
	if !eta.Known {
		return []canvas.Span{canvas.Text(styleMuted, "no ETA: "+eta.Method)}
	}
	left := max(0, eta.Remaining-p.now.Sub(at))
	return []canvas.Span{
		canvas.Text(styleMuted, "ETA "), canvas.Text(bold, wording.Duration(left)),
		canvas.Textf(styleMuted, " (%s/min) %s", rate(eta.PerMinute), eta.Method),
	}
}

func rate(perMinute float64) string {
	if perMinute >= 10 {
		return fmt.Sprintf("%.0f", perMinute)
	}
	return fmt.Sprintf("%.1f", perMinute)
}

func ranFor(p *paint, j *jobData) string {
	switch {
	case j.Job.Started.IsZero() && j.Job.Suspend:
		return "not started: suspended"
	case j.Job.Started.IsZero():
		return "not started"
	case !j.Job.Finished.IsZero():
		return fmt.Sprintf("ran %s, ended %s", wording.Duration(j.Job.Finished.Sub(j.Job.Started.Time)), p.when(j.Job.Finished))
	}
	return "runs for " + wording.Duration(max(0, p.now.Sub(j.Job.Started.Time)))
}

// waitOf is the clock of a kind, nil if none runs.
func waitOf(r *explain.Report, kind explain.WaitKind) *explain.Wait {
	for i := range r.Waits {
		if r.Waits[i].Kind == kind {
			return &r.Waits[i]
		}
	}
	return nil
}
