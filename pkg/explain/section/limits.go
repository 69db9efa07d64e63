package section

import (
	"fmt"
	"math"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Limits are those of failures and time: how much of each is used and left.
func Limits(f *Frame, r *explain.Report) Section {
	return Section{Title: "Limits", Lines: Meters(f, LimitMeters(f, r))}
}

// LimitMeters are those of Limits.
func LimitMeters(f *Frame, r *explain.Report) []Meter {
	var all []Meter
	job := &r.Job
	if n := job.BackoffLimit; n != nil && *n < math.MaxInt32 {
		used := int64(r.Counts.Failed) + int64(r.Counts.UncountedFailed)
		m := limitMeter(r, "backoffLimit", used, int64(*n), either(used == 1, "failure", "failures"))
		if job.RestartPolicy == "OnFailure" {
			m.Text = append(m.Text, layout.Text(layout.Muted, ", restarts count too"))
		}
		all = append(all, m)
	}
	if n := job.BackoffLimitPerIndex; n != nil {
		all = append(all, perIndexMeter(r, *n))
	}
	if n := job.MaxFailedIndexes; n != nil && r.Indexes != nil {
		failed := r.Indexes.FailedCount
		all = append(all, limitMeter(r, "maxFailedIndexes", int64(failed), int64(*n), either(failed == 1, "failed index", "failed indexes")))
	}
	if n := job.ActiveDeadlineSeconds; n != nil {
		all = append(all, deadlineMeter(f, r, *n))
	}
	return all
}

// limitMeter is "2 of 6, 4 left", or "exceeded: 3 failures, 2 allowed". what is the word for
// that which is limited.
func limitMeter(r *explain.Report, name string, used, limit int64, what string) Meter {
	m := Meter{Name: name, Have: used, Total: limit, Style: limitStyle(used, limit)}
	if limit == 0 {
		m.Total = 1 // None is allowed: the first fills the bar.
	}
	switch {
	case used > limit:
		m.Text = layout.Of(layout.Text(layout.Bad|layout.Bold, "exceeded"), layout.Textf(layout.Plain, ": %d %s, %d allowed", used, what, limit))
	case isDecided(r):
		// What would have been left no longer matters: something else decided.
		m.Style = layout.Info
		m.Text = layout.Of(layout.Textf(layout.Plain, "%d of %d, ", used, limit), layout.Text(layout.Muted, notAbove(used, limit)))
	default:
		m.Text = layout.Of(layout.Textf(layout.Plain, "%d of %d, ", used, limit), layout.Textf(m.Style&^layout.Bold, "%d left", limit-used))
	}
	return m
}

// isDecided reports whether the Job has ended or will end, whatever its pods do.
func isDecided(r *explain.Report) bool {
	return !r.Job.Finished.IsZero() || (r.Verdict.Fate != explain.FateOpen && r.Verdict.Fate != "")
}

// notAbove says how far from a limit a Job has ended.
func notAbove(used, limit int64) string {
	if used == limit {
		return "not exceeded" // A Job may reach its limit.
	}
	return "not reached"
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

// perIndexMeter is how far the index that has failed most often is.
func perIndexMeter(r *explain.Report, limit int32) Meter {
	most, index, n := int32(0), int32(0), 0
	details := detailsOf(r)
	for i := range details {
		switch info := &details[i]; {
		case info.Failures > most:
			most, index, n = info.Failures, info.Index, 1
		case info.Failures == most:
			n++
		}
	}
	if most == 0 {
		m := limitMeter(r, "backoffLimitPerIndex", 0, int64(limit), "")
		m.Text = append(m.Text, layout.Text(layout.Muted, " for each index"))
		return m
	}
	whose := fmt.Sprintf(" (index %d)", index)
	if n > 1 {
		whose = fmt.Sprintf(" (%d indexes)", n)
	}
	m := limitMeter(r, "backoffLimitPerIndex", int64(most), int64(limit), either(most == 1, "failure", "failures"))
	m.Text = append(m.Text, layout.Text(layout.Muted, whose))
	return m
}

// deadlineMeter is how much of activeDeadlineSeconds has passed.
func deadlineMeter(f *Frame, r *explain.Report, limit int64) Meter {
	const name = "deadline"
	end := f.Now
	if !r.Job.Finished.IsZero() {
		end = r.Job.Finished.Time
	}
	if r.Job.Started.IsZero() {
		return Meter{name, 0, 1, layout.Info, layout.Of(layout.Text(layout.Plain, wording.Seconds(limit)+" from its start"))}
	}
	used := max(0, int64(end.Sub(r.Job.Started.Time)/time.Second))
	m := Meter{Name: name, Have: used, Total: limit, Style: limitStyle(used, limit)}
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

func detailsOf(r *explain.Report) []explain.IndexInfo {
	if r.Indexes == nil {
		return nil
	}
	return r.Indexes.Details
}
