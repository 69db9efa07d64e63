package text

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Numbers of runs that the state of a CronJob shows: as marks in a line, and as rows unless Full is set.
const (
	markedRuns = 30
	listedRuns = 5
)

// CronJob writes the state of the CronJob on one screen: its schedule, its next start, and how its last Jobs ended.
func CronJob(w io.Writer, r *explain.CronJobReport, o Options) error {
	return newCronJob(r, o).writeTo(w)
}

// CronJobLines returns the lines of CronJob, for callers that draw them themselves, and the number of the line of the first
// run. Each run has a line.
func CronJobLines(r *explain.CronJobReport, o Options) (lines []layout.Line, firstRun int) {
	v := newCronJob(r, o)
	return v.Lines(), v.firstRun
}

// cronJob draws a CronJobReport.
type cronJob struct {
	*page
	*explain.CronJobReport
	frame *section.Frame
	// firstRun is the number of the line of the first run.
	firstRun int
}

func newCronJob(r *explain.CronJobReport, o Options) *cronJob {
	p := newPage(o)
	v := &cronJob{page: p, CronJobReport: r, frame: p.frame(r.ObservedAt.Time)}
	v.frame.Absolute = o.Absolute
	mark, style := v.mark()
	p.Para(0, indentSection, layout.Text(style|layout.Bold, mark+" "+words.CronJobStatus(r.State)), plain("  cronjob "+section.JobName(&explain.Job{Namespace: r.Namespace, Name: r.Name})))
	isWell := func(run *explain.OwnedRun) bool { return run == nil || run.Cause == "" }
	if r.State != explain.CronJobScheduled || !isWell(r.Last) || !isWell(r.ByHand) { // The fields have the rest, and the next start.
		withoutNext := *r
		withoutNext.Next = &metav1.Time{} // The schedule has a next start, which the text leaves out.
		sentence, notes := words.CronJobText(&withoutNext, r.ObservedAt.Time)
		p.Para(0, 0, layout.Text(layout.Bold, sentence))
		if len(notes) > 0 {
			p.Para(0, 0, plain(strings.Join(notes, " ")))
		}
	}
	p.Blank()
	p.Field("Schedule", v.schedule()...)
	p.Field("Next start", v.next()...)
	if c := r.ClockChange; c != nil {
		p.Field("Clocks", layout.Text(layout.Warn, wording.Sentence(words.ClockChangeText(c, zoneOf(r)))))
	}
	p.Field("Last start", plain(v.last()))
	p.Field("Overlap", plain(cmp.Or(words.OverlapText(r.ConcurrencyPolicy), r.ConcurrencyPolicy)))
	for i := range r.Skipped {
		p.Field("Skipped", v.skipped(&r.Skipped[i])...)
	}
	p.Field("Keeps", plain(words.KeptJobsText(r)))
	p.Field("Suspended", plain(v.suspended()))
	p.Field("Outcomes", v.outcomes()...)
	v.runs()
	p.advice(sharedAdvice(r.Advice), 1)
	p.gaps(sharedGaps(r.Gaps), 1)
	return v
}

// mark returns the mark and the style of the state.
func (v *cronJob) mark() (mark string, style layout.Style) {
	switch v.State {
	case explain.CronJobScheduled:
		return v.Glyphs.Running, layout.Info
	case explain.CronJobSuspended:
		return v.Glyphs.Paused, layout.Warn
	case explain.CronJobDeleting:
		return v.Glyphs.Ending, layout.Special
	case explain.CronJobPileUp, explain.CronJobManualJobs, explain.CronJobUnread, explain.CronJobGone:
		return v.Glyphs.Warn, layout.Warn
	}
	return v.Glyphs.Bad, layout.Bad
}

// schedule returns "every day at 03:00 in Europe/Berlin (0 3 * * *)".
func (v *cronJob) schedule() layout.Line {
	text := v.ScheduleText
	if text == "" {
		return layout.Of(plain(v.Schedule))
	}
	if v.TimeZone != "" {
		text += " in " + v.TimeZone
	}
	return layout.Of(plain(text), layout.Text(layout.Muted, wording.InBrackets(v.Schedule)))
}

// next returns the next start in the time zone of the CronJob, and in that of the reader.
func (v *cronJob) next() layout.Line {
	if v.Next == nil {
		return nil
	}
	zone := zoneOf(v.CronJobReport)
	at, here := v.Next.In(zone), v.Next.In(v.opts.Location)
	text := startTime(at) + " " + cmp.Or(v.TimeZone, "UTC")
	_, offset := at.Zone()
	if name, hereOffset := here.Zone(); hereOffset != offset {
		clock := here.Format("15:04 ")
		if here.YearDay() != at.YearDay() {
			clock = startTime(here) + " "
		}
		text += ", " + clock + name + " here"
	}
	spans := layout.Of(plain(text))
	if !v.frame.Absolute {
		spans = append(spans, layout.Text(layout.Bold, " ("+v.frame.Countdown(v.Next.Time)+")"))
	}
	if v.ZoneAssumed {
		spans = append(spans, layout.Text(layout.Muted, ", if kube-controller-manager runs in UTC: no timeZone is set"))
	}
	return spans
}

// startTime returns "Mon 2026-03-02 03:00".
func startTime(t time.Time) string { return t.Format("Mon 2006-01-02 15:04") }

// zoneOf returns the time zone of the CronJob, or else UTC.
func zoneOf(r *explain.CronJobReport) *time.Location {
	if zone, err := time.LoadLocation(r.TimeZone); err == nil {
		return zone
	}
	return time.UTC
}

// last returns when the last Job was started on the schedule, and when the last one succeeded.
func (v *cronJob) last() string {
	if v.LastSchedule.IsZero() {
		return ""
	}
	succeeded := "none is known to have succeeded"
	if v.LastSuccess != nil {
		succeeded = "the last success was " + v.frame.When(v.LastSuccess)
	}
	return v.frame.When(v.LastSchedule) + ", " + succeeded
}

func (v *cronJob) skipped(s *explain.SkippedStarts) layout.Line {
	text := words.SkippedText(s, v.CronJobReport)
	if s.Last != nil {
		text += ", the last " + v.frame.When(s.Last)
	}
	return layout.Of(layout.Text(layout.Warn, text))
}

func (v *cronJob) suspended() string {
	if v.State != explain.CronJobSuspended || v.SuspendedBy == "" {
		return ""
	}
	if v.SuspendedAt == nil {
		return "by " + v.SuspendedBy
	}
	return "by " + v.SuspendedBy + ", which last wrote the spec " + v.frame.When(v.SuspendedAt)
}

// outcomes returns the marks of the last runs, the latest one last, and how many succeeded and failed.
func (v *cronJob) outcomes() layout.Line {
	if len(v.Runs) == 0 {
		return nil
	}
	var l layout.Line
	counts := map[explain.OwnedState]int{}
	for i := range v.Runs {
		counts[v.Runs[i].State]++
	}
	for _, run := range slices.Backward(first(v.Runs, markedRuns)) {
		mark, style := runMark(&v.Glyphs, run.State)
		l = append(l, layout.Text(style, mark+" "))
	}
	text := ""
	for _, state := range []explain.OwnedState{
		explain.OwnedSucceeded, explain.OwnedFailed, explain.OwnedFailing, explain.OwnedStalled, explain.OwnedRunning, explain.OwnedSuspended, explain.OwnedUnknown,
	} {
		if n := counts[state]; n > 0 {
			text = wording.Join(", ", text, wording.Count(n, words.RunState(state)))
		}
	}
	return append(l, plain(" "+text))
}

// runMark returns the mark and the style of a run.
func runMark(g *layout.Glyphs, state explain.OwnedState) (mark string, style layout.Style) {
	switch state {
	case explain.OwnedSucceeded:
		return g.Good, layout.Good
	case explain.OwnedFailed:
		return g.Bad, layout.Bad
	case explain.OwnedStalled, explain.OwnedFailing:
		return g.Warn, layout.Warn
	case explain.OwnedSuspended:
		return g.Paused, layout.Warn
	case explain.OwnedRunning:
		return g.Running, layout.Info
	}
	return "?", layout.Muted
}

// runs writes the last runs, the latest first.
func (v *cronJob) runs() {
	shown := v.Runs
	if !v.opts.Full {
		shown = first(shown, listedRuns)
	}
	if len(shown) == 0 {
		return
	}
	v.Title("Runs", "")
	columns := []layout.Column[explain.OwnedRun]{
		{Cell: func(r *explain.OwnedRun) layout.Line {
			mark, style := runMark(&v.Glyphs, r.State)
			return cell(style, mark)
		}},
		{Header: "STARTED", Text: func(r *explain.OwnedRun) string { return v.frame.When(cmp.Or(r.Started, r.Finished)) }},
		{Header: "JOB", Min: 12, Middle: true, Text: func(r *explain.OwnedRun) string { return r.Name }},
		{Header: "DURATION", Text: func(r *explain.OwnedRun) string {
			if d := r.Duration(v.ObservedAt.Time); d >= 0 {
				return wording.Duration(d)
			}
			return "-"
		}},
		{Header: "CAUSE", Min: proseWidth, Text: runText},
	}
	v.Table(indentSection, layout.TableOf(columns, shown))
	v.firstRun = len(v.Lines()) - len(shown)
	v.omitted(int64(len(v.Runs)-len(shown)), "run", "runs")
}

// runText returns the cause or the state, and whether the Job was created by hand, or no longer exists.
func runText(r *explain.OwnedRun) string {
	text := cmp.Or(r.Cause, words.RunState(r.State))
	switch {
	case r.Removed:
		return text + ", deleted since"
	case r.Manual:
		return "by hand: " + text
	}
	return text
}
