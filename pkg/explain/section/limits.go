package section

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

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
		all = append(all, limitMeter(r, "maxFailedIndexes", limitUse{int64(r.Indexes.FailedCount), int64(*n), "failed index", "failed indexes", "the Job"}))
	}
	if n := job.ActiveDeadlineSeconds; n != nil {
		all = append(all, deadlineMeter(f, r, *n))
	}
	return all
}

// backoffMeter returns the meter of failures, or of restarts if those are closer to the limit. The meter of restarts is full
// when they reach the limit, while failures have to exceed it.
func backoffMeter(r *explain.Report, l *explain.BackoffLimit) Meter {
	const name = "backoffLimit"
	if l.Unit != explain.LimitRestarts {
		m := limitMeter(r, name, limitUse{int64(l.Used), int64(l.Limit), "failure", "failures", "the Job"})
		if r.Job.RestartPolicy == "OnFailure" {
			m.Text = append(m.Text, layout.Text(layout.Muted, ", restarts count too"))
		}
		return m
	}
	if l.Left == 0 {
		full := max(int64(l.Limit), 1)
		return Meter{name, full, full, layout.Bad, layout.Of(layout.Text(layout.Bad|layout.Bold, "used up"), layout.Text(layout.Plain, " by restarts"))}
	}
	use := limitUse{int64(l.Used), int64(l.Limit), "restart", "restarts", "the Job"}
	m := limitMeter(r, name, use)
	if !isDecided(r) {
		m.Text = use.line(m.Style, int64(l.Left))
	}
	return m
}

// limitUse is the used part of a limit. one and many are the singular and plural of the counted noun. If used exceeds limit,
// the object named by fails fails.
type limitUse struct {
	used, limit int64
	one, many   string
	fails       string
}

// line returns "2 failures; the Job fails at 7".
func (u limitUse) line(style layout.Style, left int64) layout.Line {
	end := fmt.Sprintf("%s fails at %s", u.fails, wording.Thousands(u.used+left))
	return layout.Of(layout.Text(layout.Plain, wording.Plural(u.used, u.one, u.many)+"; "), layout.Text(style&^layout.Bold, end))
}

// limitMeter returns a meter with a text such as "2 failures; the Job fails at 7" or "exceeded: 3 failures, 2 allowed".
func limitMeter(r *explain.Report, name string, u limitUse) Meter {
	m := Meter{Name: name, Have: u.used, Total: max(u.limit, 1), Style: limitStyle(u.used, u.limit)} // Limit 0 is full at the first.
	switch {
	case u.used > u.limit:
		what := wording.Plural(u.used, u.one, u.many) + ", " + wording.Count(u.limit, "allowed")
		m.Text = layout.Of(layout.Text(layout.Bad|layout.Bold, "exceeded"), layout.Text(layout.Plain, ": "+what))
	case isDecided(r):
		// The distance to the limit no longer matters, as something else decided. A Job may reach its limit without failing.
		m.Style = layout.Info
		use := wording.Of(u.used, u.limit) + " " + either(u.limit == 1, u.one, u.many) + ", "
		ended := either(u.used == u.limit, "not exceeded", "not reached") // A Job may reach its limit without failing.
		m.Text = layout.Of(layout.Text(layout.Plain, use), layout.Text(layout.Muted, ended))
	default:
		m.Text = u.line(m.Style, u.limit-u.used+1)
	}
	return m
}

// isDecided reports whether the Job has ended or will end, whatever its pods do.
func isDecided(r *explain.Report) bool {
	return !r.Job.Finished.IsZero() || (r.Verdict.Outcome != reconcile.OutcomeOpen && r.Verdict.Outcome != "")
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

// perIndexMeter returns the meter of the index with the most failures.
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
	case most == 0 && PodsUnread(r): // Only pods show the failures of an index.
		return Meter{Name: name, Text: layout.Plainly("unknown, " + wording.Plural(limit, "failure", "failures") + " allowed")}
	case most == 0:
		return limitMeter(r, name, limitUse{0, int64(limit), "failure", "failures", "an index"})
	}
	whose, fails := fmt.Sprintf(" (index %d)", index), either(n > 1 || x.DetailsOmitted > 0, "an index", "the index")
	switch {
	case x.DetailsOmitted > 0:
		whose = " (at least " + wording.Plural(n, "index", "indexes") + ")"
	case n > 1:
		whose = " (" + wording.Count(n, "indexes") + ")"
	}
	m := limitMeter(r, name, limitUse{int64(most), int64(limit), "failure", "failures", fails})
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
