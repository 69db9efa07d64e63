package job

import (
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	etas "github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// clockLine returns how long the Job ran, its deadline, and its ETA. If there is not enough room, it omits the method of the
// ETA, or the reason why there is no ETA.
func clockLine(p *widget.Paint, j *screen.Job) layout.Line {
	clocks := layout.Of(layout.Text(layout.Plain, ranFor(p, j)))
	if j.Gone {
		return clocks // A deleted Job has no next retry, no deadline and no end.
	}
	part := func(words, value string) {
		clocks = append(clocks, layout.Text(layout.Muted, " "+p.Glyphs.Dot+" "+words+" "), layout.Text(layout.Warn, value))
	}
	for _, kind := range []explain.WaitKind{explain.WaitBackoff, explain.WaitIndexBackoff} {
		if retry := j.Wait(kind); retry != nil {
			part("next retry", p.Countdown(retry.Until.Time))
		}
	}
	if deadline := j.Wait(explain.WaitDeadline); deadline != nil {
		part("deadline", p.Countdown(deadline.Until.Time))
	}
	if ttl := j.Wait(explain.WaitTTL); ttl != nil {
		part("deleted", p.Countdown(ttl.Until.Time))
	}
	if j.Verdict.Outcome != reconcile.OutcomeOpen || j.ETA.Method == "" || p.Stale {
		return clocks
	}
	for _, eta := range etaLines(p, j) {
		if l := slices.Concat(clocks, eta); l.Width() <= p.Width {
			return l
		}
	}
	return clocks
}

// etaLines returns the time left, with and without the method, the longest version first.
func etaLines(p *widget.Paint, j *screen.Job) []layout.Line {
	eta, dot := &j.ETA, layout.Text(layout.Muted, " "+p.Glyphs.Dot+" ")
	switch {
	case eta.Method == etas.JustStarted:
		return []layout.Line{{dot, layout.Text(layout.Muted, "ETA after "+wording.Duration(etas.MinSpan))}}
	case !eta.Known:
		return []layout.Line{{dot, layout.Text(layout.Muted, "no ETA: "+eta.Method)}, {dot, layout.Text(layout.Muted, "no ETA")}}
	case eta.PerMinute == 0:
		return []layout.Line{{dot, layout.Text(layout.Muted, eta.Method)}}
	}
	left := layout.Line{dot, layout.Text(layout.Muted, "ETA "), layout.Text(layout.Bold, wording.Age(eta.Remaining-p.Now.Sub(j.ObservedAt.Time)))}
	if j.ETATotal > 0 {
		left = append(left, layout.Text(layout.Muted, " to all "+wording.Thousands(j.ETATotal)))
	}
	with := func(words string) layout.Line {
		return append(left[:len(left):len(left)], layout.Text(layout.Muted, " ("+words+")"))
	}
	return []layout.Line{with(rate(eta.PerMinute) + ", " + eta.Method), with(rate(eta.PerMinute)), left}
}

// rate formats a rate: "82/min", or "1.5/h" for slow Jobs.
func rate(perMinute float64) string {
	switch {
	case perMinute >= 10:
		return fmt.Sprintf("%.0f/min", perMinute)
	case perMinute < 0.1:
		return fmt.Sprintf("%.1f/h", perMinute*60)
	}
	return fmt.Sprintf("%.1f/min", perMinute)
}

func ranFor(p *widget.Paint, j *screen.Job) string {
	switch {
	case j.Job.Started.IsZero() && j.Job.Suspend && !section.HasRun(j.Report):
		return section.NotStarted(j.Report) + ": suspended"
	case j.Job.Started.IsZero():
		return section.NotStarted(j.Report)
	case !j.Job.Finished.IsZero():
		return fmt.Sprintf("took %s, %s", wording.Age(j.Job.Finished.Sub(j.Job.Started.Time)), p.When(j.Job.Finished))
	}
	ran := wording.Age(p.Now.Sub(j.Job.Started.Time))
	if j.Gone {
		return "ran for " + ran
	}
	return ran + " so far"
}
