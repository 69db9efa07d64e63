package section

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Meter is a line with a name, a bar, and a text for the bar. If Total is 0, it has no bar, as Have is unknown.
type Meter struct {
	Name        string
	Have, Total int64
	Style       layout.Style
	Text        layout.Line
}

// Widths of the bars of meters, on narrow and on wide screens.
const (
	narrowBar = 8
	wideBar   = 16
	// wideMeter is the width in columns from which bars are wide.
	wideMeter = 72
)

// Meters draws meters one per line, aligned.
func Meters(f *Frame, all []Meter) []layout.Line {
	names := 0
	for i := range all {
		names = max(names, layout.Width(all[i].Name))
	}
	// Bars are narrow on narrow screens, and if that keeps a text on one line.
	bar := wideBar
	for i := range all {
		room := f.Width - names - 4 - all[i].Text.Width()
		if f.Width < wideMeter || room < wideBar && room >= narrowBar {
			bar = narrowBar
		}
	}
	var lines []layout.Line
	for i := range all {
		m := &all[i]
		l := layout.Of(layout.Text(layout.Muted, m.Name)).Pad(names + 2)
		if m.Total > 0 {
			l = append(l, f.Bar(m.Have, m.Total, bar, m.Style)...)
		}
		l = append(l.Pad(names+2+bar+2), m.Text...)
		lines = append(lines, f.Wrap(l, names+2+bar+2)...)
	}
	return lines
}

// Success draws the progress towards each rule of the successPolicy, and towards the completions.
func Success(f *Frame, r *explain.Report, pods PodCounts) Section {
	s := Section{Title: "Success"}
	if r.SuccessPolicy != nil {
		s.Note = "the first one met completes the Job"
	}
	if r.Job.Completions == nil {
		text := fmt.Sprintf("A work queue: complete once a pod has succeeded and all have ended (%s)", wording.Count(pods.Succeeded, "succeeded"))
		s.Lines = f.Wrap(layout.Plainly(text), 0)
		return s
	}
	s.Lines = Meters(f, SuccessMeters(f, r, pods))
	return s
}

// SuccessMeters returns the meters of Success; nil for a work queue.
func SuccessMeters(f *Frame, r *explain.Report, pods PodCounts) []Meter {
	if r.Job.Completions == nil {
		return nil
	}
	var all []Meter
	name := "all "
	if r.SuccessPolicy != nil {
		for i := range r.SuccessPolicy.Rules {
			rule := &r.SuccessPolicy.Rules[i]
			m := Meter{fmt.Sprintf("rule %d", rule.Index), int64(rule.Have), int64(rule.Need), layout.Good, layout.Plainly(rule.Text)}
			switch {
			case rule.Met:
				m.Text = append(m.Text, layout.Text(layout.Good|layout.Bold, " "+f.Glyphs.Good+" met"))
			case rule.Impossible:
				m.Style = layout.Bad
				m.Text = append(m.Text, layout.Text(layout.Bad|layout.Bold, " "+f.Glyphs.Bad+" out of reach"))
			}
			all = append(all, m)
		}
		name = "or all "
	}
	done, total := pods.Done(r)
	if total <= 0 {
		none := layout.Of(layout.Text(layout.Plain, "none needed "), layout.Text(layout.Good|layout.Bold, f.Glyphs.Good))
		return append(all, Meter{name + "0", 1, 1, layout.Good, none})
	}
	text := layout.Of(layout.Textf(layout.Plain, "%s succeeded (%s)", wording.Thousands(done), wording.Percent(int64(done), int64(total))))
	if done >= total {
		text = append(text, layout.Text(layout.Good|layout.Bold, " "+f.Glyphs.Good+" met"))
	}
	return append(all, Meter{name + wording.Thousands(total), int64(done), int64(total), layout.Good, text})
}

// Limits draws the limits of failures and time, and how much of each is used and left.
func Limits(f *Frame, r *explain.Report) Section {
	return Section{Title: "Limits", Lines: Meters(f, LimitMeters(f, r))}
}

// LimitMeters returns the meters of Limits.
func LimitMeters(f *Frame, r *explain.Report) []Meter {
	var all []Meter
	job := &r.Job
	if l := r.BackoffLimit; l != nil {
		all = append(all, backoffMeter(r, l))
	}
	if n := job.BackoffLimitPerIndex; n != nil {
		all = append(all, perIndexMeter(r, *n))
	}
	if n := job.MaxFailedIndexes; n != nil && r.Indexes != nil {
		all = append(all, failedIndexesMeter(r, int64(r.Indexes.FailedCount), int64(*n)))
	}
	if n := job.ActiveDeadlineSeconds; n != nil {
		all = append(all, deadlineMeter(f, r, *n))
	}
	return all
}

// backoffMeter returns the meter of retries, or of restarts if those are closer to the limit. The meter of restarts is full
// when they reach the limit, while failures have to exceed it.
func backoffMeter(r *explain.Report, l *explain.BackoffLimit) Meter {
	const name = "backoffLimit"
	used, limit := int64(l.Used), int64(l.Limit)
	if l.NoRetries && used <= limit {
		return Meter{name, used, max(limit, 1), layout.Info, layout.Plainly(fmt.Sprintf("%s of at most %d, not retried as a pod has succeeded", wording.Plural(used, "failure", "failures"), limit))}
	}
	if l.Unit != explain.LimitRestarts {
		m := limitMeter(r, name, retriesUsed(used, limit, "the Job"))
		if r.Job.RestartPolicy == "OnFailure" {
			m.Text = append(m.Text, layout.Text(layout.Muted, ", restarts count too"))
		}
		return m
	}
	if full := max(limit, 1); l.Left == 0 {
		return Meter{name, full, full, layout.Bad, layout.Of(layout.Text(layout.Bad|layout.Bold, "used up"), layout.Text(layout.Plain, " by restarts"))}
	}
	return limitMeter(r, name, limitUse{used, limit, wording.Of(used, limit) + " restarts", fmt.Sprintf("restart %s fails the Job", wording.Thousands(used+int64(l.Left))), ""})
}

// limitUse is the used part of a limit, and what the user reads of it.
type limitUse struct {
	used, limit int64
	text        string // "2 of 6 retries used"
	next        string // what fails next, for a limit that is nearly used up
	exceeded    string // "7 failures, 6 retries allowed"
}

// retriesUsed returns the use of a limit of retries. One failure more than retries fails the Job, or an index.
func retriesUsed(failures, retries int64, whose string) limitUse {
	u := limitUse{failures, retries, fmt.Sprintf("%s %s used", wording.Of(failures, retries), either(retries == 1, "retry", "retries")), "", ""}
	if u.exceeded = wording.Plural(failures, "failure", "failures") + ", " + wording.Plural(retries, "retry", "retries") + " allowed"; retries == 0 {
		u.text, u.exceeded = "no retries allowed", wording.Plural(failures, "failure", "failures")+", no retries allowed"
	}
	if failures == retries {
		u.next = either(retries == 0, "the first failure fails ", "one more failure fails ") + whose
	}
	return u
}

// limitMeter returns a meter with a text such as "2 of 6 retries used" or "exceeded: 3 failures, 2 retries allowed".
func limitMeter(r *explain.Report, name string, u limitUse) Meter {
	m := Meter{Name: name, Have: u.used, Total: max(u.limit, 1), Style: limitStyle(u.used, u.limit), Text: layout.Plainly(u.text)} // Limit 0 is full at the first.
	switch {
	case u.used > u.limit:
		m.Text = layout.Of(layout.Text(layout.Bad|layout.Bold, "exceeded"), layout.Text(layout.Plain, ": "+u.exceeded))
	case !r.Job.Finished.IsZero() || r.Verdict.Outcome != reconcile.OutcomeOpen && r.Verdict.Outcome != "": // The distance to the limit no longer matters, as something else decided.
		m.Style = layout.Info
	case u.next != "":
		m.Text = append(m.Text, layout.Text(layout.Plain, "; "), layout.Text(m.Style&^layout.Bold, u.next))
	}
	return m
}

func limitStyle(used, limit int64) layout.Style {
	switch {
	case used > limit:
		return layout.Bad
	case 4*used >= 3*limit && used > 0:
		return layout.Warn
	}
	return layout.Info
}

// failedIndexesMeter returns the meter of maxFailedIndexes.
func failedIndexesMeter(r *explain.Report, failed, limit int64) Meter {
	text := wording.Plural(failed, "index", "indexes") + " failed, " + wording.Count(limit, "allowed")
	u := limitUse{used: failed, limit: limit, text: text, exceeded: text}
	if failed == limit {
		u.next = "one more fails the Job"
	}
	return limitMeter(r, "maxFailedIndexes", u)
}

// perIndexMeter returns the meter of the index with the most failures. The pods of an index that has failed may be gone.
func perIndexMeter(r *explain.Report, limit int32) Meter {
	most, index, n := int32(0), int32(0), 0
	x := ptr.Deref(r.Indexes, explain.Indexes{})
	for i := range x.Details {
		switch info := &x.Details[i]; {
		case info.Failures > most:
			most, index, n = info.Failures, info.Index, 1
		case info.Failures == most:
			n++
		}
	}
	const name = "backoffLimitPerIndex"
	switch {
	case x.FailedCount > 0 && most <= limit:
		text := wording.Plural(x.FailedCount, "index", "indexes") + " failed, " + wording.Plural(limit, "retry", "retries") + " allowed for each"
		return Meter{Name: name, Have: 1, Total: 1, Style: layout.Bad, Text: layout.Plainly(text)}
	case most == 0 && PodsUnread(r): // Only pods show the failures of an index.
		return Meter{Name: name, Text: layout.Plainly("unknown, " + wording.Plural(limit, "retry", "retries") + " allowed")}
	case most == 0:
		return limitMeter(r, name, retriesUsed(0, int64(limit), "an index"))
	}
	whose, fails := fmt.Sprintf(" (index %d)", index), either(n > 1 || x.DetailsOmitted > 0, "an index", "the index")
	switch {
	case x.DetailsOmitted > 0:
		whose = " (at least " + wording.Plural(n, "index", "indexes") + ")"
	case n > 1:
		whose = " (" + wording.Count(n, "indexes") + ")"
	}
	m := limitMeter(r, name, retriesUsed(int64(most), int64(limit), fails))
	m.Text = append(m.Text, layout.Text(layout.Muted, whose))
	return m
}

// DeadlineMeter is the name of the meter of activeDeadlineSeconds.
const DeadlineMeter = "deadline"

// deadlineMeter returns the meter of activeDeadlineSeconds and the time that has passed.
func deadlineMeter(f *Frame, r *explain.Report, limit int64) Meter {
	end := f.Now
	if !r.Job.Finished.IsZero() {
		end = r.Job.Finished.Time
	}
	if r.Job.Started.IsZero() {
		return Meter{DeadlineMeter, 0, 1, layout.Info, layout.Plainly(wording.Seconds(limit) + " from its start")}
	}
	used := max(0, end.Unix()-r.Job.Started.Unix())
	m := Meter{Name: DeadlineMeter, Have: used, Total: limit, Style: limitStyle(used, limit)}
	m.Text = layout.Of(layout.Textf(layout.Plain, "%s of %s", wording.Seconds(used), wording.Seconds(limit)))
	switch {
	case used >= limit:
		m.Style = layout.Bad
		m.Text = append(m.Text, layout.Text(layout.Bad|layout.Bold, ", exceeded"))
	case !r.Job.Finished.IsZero():
		m.Style = layout.Info
		m.Text = append(m.Text, layout.Text(layout.Muted, ", not reached"))
	default:
		m.Text = append(m.Text, layout.Textf(m.Style, ", %s left", wording.Seconds(limit-used)))
	}
	return m
}
