package job

import (
	"cmp"
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// barWidth is the maximum width of the bar in the header.
const barWidth = 40

// header returns the lines above the tabs: the status, the progress, and the clocks.
func header(p *widget.Paint, j *screen.Job) []layout.Line {
	return []layout.Line{statusLine(p, j), progressLine(p, j), clockLine(p, j)}
}

// statusLine returns the status with its reason, and the controller of the Job.
func statusLine(p *widget.Paint, j *screen.Job) layout.Line {
	v := &j.Verdict
	status := section.JobStatus(&p.Glyphs, j.Report)
	l := layout.Of(status)
	if j.Gone {
		l = layout.Of(layout.Text(layout.Bad|layout.Bold, p.Glyphs.Bad+" "+wording.Sentence(j.GoneWords(p))))
		if was := section.StatusWord(v); was != "" {
			l = append(l, layout.Text(layout.Plain, "  was "+was))
		}
	}
	if v.Reason != "" {
		l = append(l, layout.Text(status.Style()&^layout.Bold, "  "+v.Reason))
	}
	if v.Rule != nil {
		l = append(l, layout.Text(layout.Muted, "  by "), layout.Text(layout.Accent, section.RuleLabel(v.Rule, v.RuleName)))
	}
	for _, words := range []string{"  run by ", "  "} {
		if by := runBy(p, &j.Reconciler, words); l.Width()+by.Width() <= p.Width {
			return layout.Spread(p.Width, l, by, p.Glyphs.Ellipsis)
		}
	}
	if j.Reconciler.Alive == explain.NotAlive {
		return layout.Spread(p.Width, l, layout.Of(layout.Text(layout.Bad|layout.Bold, "  controller not alive")), p.Glyphs.Ellipsis)
	}
	return p.Cut(l, p.Width)
}

// runBy returns the controller that reconciles the Job, preceded by words, and whether it is alive.
func runBy(p *widget.Paint, r *explain.Reconciler, words string) layout.Line {
	l := layout.Of(layout.Text(layout.Muted, words+cmp.Or(r.Name(), "built-in")))
	switch {
	case r.Alive == explain.Alive && !p.Stale:
		l = append(l, layout.Text(layout.Good, " "+p.Glyphs.Good))
	case r.Alive == explain.NotAlive:
		l = append(l, layout.Text(layout.Bad|layout.Bold, " "+p.Glyphs.Bad+" not alive"))
	}
	return l
}

// brevity is how much the progress line omits if room is short.
type brevity int

const (
	allWords brevity = iota
	// noReady omits the number of ready pods.
	noReady
	// fewWords uses shorter words, and omits the number of counted failures.
	fewWords
	// noEnding omits terminating pods; noBackoff also omits indexes in back-off.
	noEnding
	noBackoff
)

// progressLine returns the bar and the numbers of pods or indexes, in as many words as fit: the bar is shortened and dropped
// before a number is.
func progressLine(p *widget.Paint, j *screen.Job) layout.Line {
	bar := min(barWidth, p.Width/4)
	var l layout.Line
	for _, try := range []struct {
		bar int
		brevity
	}{{bar, allWords}, {bar, noReady}, {bar, fewWords}, {bar / 2, fewWords}, {0, fewWords}, {0, noEnding}, {0, noBackoff}} {
		l = append(barOf(p, j, try.bar), countsOf(p, j, try.brevity)...)
		if l.Width() <= p.Width {
			break
		}
	}
	return l
}

// barOf returns the share that has succeeded, with a bar of the given width.
func barOf(p *widget.Paint, j *screen.Job, width int) layout.Line {
	done, total := j.Done()
	if total <= 0 {
		return layout.Of(layout.Text(layout.Plain, wording.Count(done, "succeeded")))
	}
	var l layout.Line
	percent := wording.Percent(int64(done), int64(total)) + " "
	if width > 0 {
		l, percent = j.PodCounts.Progress(j.Report).Bar(&p.Frame, width), " "+percent
	}
	return append(l, layout.Text(layout.Bold, percent), layout.Text(layout.Plain, " "+wording.Thousands(done)+"/"+wording.Thousands(total)))
}

// countsOf returns the nonzero counts, each in its color.
func countsOf(p *widget.Paint, j *screen.Job, brief brevity) layout.Line {
	var l layout.Line
	add := func(n int32, one, many string, style layout.Style) {
		if n > 0 {
			text := wording.Plural(n, one, many)
			l = append(l, layout.Text(layout.Muted, " "+p.Glyphs.Dot+" "), layout.Text(style, text))
		}
	}
	now := &j.PodCounts
	active, ending, waiting := "active", "terminating", "in back-off"
	if brief < noReady && now.Ready >= 0 {
		active = fmt.Sprintf("active (%s ready)", wording.Thousands(now.Ready))
	}
	if brief >= fewWords {
		ending, waiting = "ending", "back-off"
	}
	add(now.Active, active, active, layout.Info)
	if brief < noEnding {
		add(now.Terminating, ending, ending, layout.Special)
	}
	if x := j.Indexes; x != nil {
		if brief < noBackoff {
			add(x.BackingOffCount, waiting, waiting, layout.Warn)
		}
		add(x.FailedCount, "index failed", "indexes failed", layout.Bad)
	}
	t := section.FailureTotals(j.Report)
	one, many := "failure", "failures"
	if brief >= fewWords {
		one, many = "failed", "failed"
	}
	add(t.All, one, many, section.FailureStyle(j.Verdict.Outcome))
	return l
}
