package section

import (
	"strconv"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// JobMark is the mark and the style of a Job's state.
func JobMark(g *layout.Glyphs, fate explain.Fate, stalled, suspended bool) (mark string, style layout.Style) {
	switch {
	case fate == explain.FateComplete:
		return g.Good, layout.Good
	case fate == explain.FateFailed:
		return g.Bad, layout.Bad
	case fate == explain.FateFailing:
		return g.Ending, layout.Bad
	case fate == explain.FateSucceeding:
		return g.Ending, layout.Good
	case suspended:
		return g.Paused, layout.Warn
	case stalled:
		return g.Warn, layout.Warn
	}
	return g.Running, layout.Info
}

// JobStatus is "✗ Failed": the mark and the StatusWord.
func JobStatus(g *layout.Glyphs, r *explain.Report) layout.Span {
	v := &r.Verdict
	mark, style := JobMark(g, v.Fate, v.Stalled, r.Job.Suspend)
	if v.Fate == explain.FateOpen && v.Status == "Terminating" && !v.Stalled {
		mark, style = g.Ending, layout.Special
	}
	return layout.Text(style|layout.Bold, mark+" "+StatusWord(v))
}

// StatusWord is the status, with "(stalled)" for a Job that should progress and does not.
func StatusWord(v *explain.Verdict) string {
	if v.Stalled && v.Status != "Suspended" {
		return v.Status + " (stalled)"
	}
	return v.Status
}

// StatusStalled is the STATUS of a Job that is stalled, in a list.
const StatusStalled = "Stalled"

// RowStatus is the STATUS of a Job in a list.
func RowStatus(o *explain.Outline) string {
	if o.Stalled != nil {
		return StatusStalled
	}
	return o.Status
}

// JobName is namespace/name.
func JobName(job *explain.Job) string {
	if job.Namespace == "" {
		return job.Name
	}
	return job.Namespace + "/" + job.Name
}

// Completions is n/m; or n/1, and how many pods compete for it when completions is not set.
func Completions(o *explain.Outline) string { return string(AppendCompletions(nil, o)) }

// AppendCompletions appends them to a text: a list measures those of thousands of Jobs.
func AppendCompletions(text []byte, o *explain.Outline) []byte {
	text = appendNumber(text, o.Succeeded)
	switch {
	case o.Completions != nil:
		return appendNumber(append(text, '/'), *o.Completions)
	case o.Parallelism != nil && *o.Parallelism > 1:
		return appendNumber(append(text, "/1 of "...), *o.Parallelism)
	}
	return append(text, "/1"...)
}

// Active is how many pods are active, and how many of them are ready: 3(2).
func Active(o *explain.Outline) string { return string(AppendActive(nil, o)) }

// AppendActive appends that to a text.
func AppendActive(text []byte, o *explain.Outline) []byte {
	text = appendNumber(text, o.Active)
	if o.Ready == nil || o.Active == 0 {
		return text
	}
	return append(appendNumber(append(text, '('), *o.Ready), ')')
}

func appendNumber(text []byte, n int32) []byte { return strconv.AppendInt(text, int64(n), 10) }

// Ran is how long a Job has run, -1 for one that was not started.
func Ran(o *explain.Outline, now time.Time) time.Duration {
	switch {
	case o.Started.IsZero():
		return -1
	case !o.Finished.IsZero():
		now = o.Finished.Time
	}
	return max(0, now.Sub(o.Started.Time))
}
