package section

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// JobMark returns the mark and the style of a Job's state.
func JobMark(g *layout.Glyphs, outcome reconcile.Outcome, stalled, suspended bool) (mark string, style layout.Style) {
	switch {
	case outcome == reconcile.OutcomeComplete:
		return g.Good, layout.Good
	case outcome == reconcile.OutcomeFailed:
		return g.Bad, layout.Bad
	case outcome == reconcile.OutcomeFailing:
		return g.Ending, layout.Bad
	case outcome == reconcile.OutcomeSucceeding:
		return g.Ending, layout.Good
	case suspended:
		return g.Paused, layout.Warn
	case stalled:
		return g.Warn, layout.Warn
	}
	return g.Running, layout.Info
}

// FailureStyle returns the style of failed pods: as long as the Job may succeed, other pods replace them.
func FailureStyle(outcome reconcile.Outcome) layout.Style {
	if outcome.Fails() {
		return layout.Bad
	}
	return layout.Warn
}

// JobStatus returns the mark and the StatusWord: "✗ Failed".
func JobStatus(g *layout.Glyphs, r *explain.Report) layout.Span {
	v := &r.Verdict
	mark, style := JobMark(g, v.Outcome, v.Stalled, r.Job.Suspend)
	if v.Outcome == reconcile.OutcomeOpen && v.Status == "Terminating" && !v.Stalled {
		mark, style = g.Ending, layout.Special
	}
	return layout.Text(style|layout.Bold, mark+" "+StatusWord(v))
}

// StatusWord returns the status, or StatusStalled for a Job that should make progress and does not.
func StatusWord(v *explain.Verdict) string {
	if v.Stalled && v.Status != "Suspended" {
		return StatusStalled
	}
	return statusWord(v.Status)
}

// statusWord returns the words of statuses that are the names of conditions, and other statuses as they are.
func statusWord(status string) string {
	switch status {
	case string(batchv1.JobFailureTarget):
		return "Failing"
	case string(batchv1.JobSuccessCriteriaMet):
		return "Succeeding"
	}
	return status
}

// StatusStalled is the status of a Job that is stalled.
const StatusStalled = "Stalled"

// RowStatus returns the STATUS of a Job in a list.
func RowStatus(o *explain.Outline) string {
	if o.Stalled != nil {
		return StatusStalled
	}
	return statusWord(o.Status)
}

// JobLine returns the state and the progress of a Job as one line, without durations: "Running, 3/10 done, 2 active, 1 pod
// failed".
func JobLine(o *explain.Outline) string {
	parts := []string{RowStatus(o), doneText(o)}
	if o.Active > 0 {
		active := wording.Count(o.Active, "active")
		if o.Ready != nil {
			active += " (" + wording.Count(*o.Ready, "ready)")
		}
		parts = append(parts, active)
	}
	if n := o.Failures(); n > 0 {
		parts = append(parts, wording.Plural(n, "pod failed", "pods failed"))
	}
	if o.FailedIndexes != nil && *o.FailedIndexes != "" {
		parts = append(parts, "failed indexes "+wording.Crop(*o.FailedIndexes, lineIndexes, "…"))
	}
	switch {
	case o.Outcome == reconcile.OutcomeFailing || o.Outcome == reconcile.OutcomeSucceeding:
		parts = append(parts, awaitedPods(o.Terminating))
	case o.Terminating != nil && *o.Terminating > 0:
		parts = append(parts, wording.Count(*o.Terminating, "terminating"))
	}
	reason := o.Reason
	switch {
	case o.Neglected:
		parts = append(parts, wording.Join(" ", "no controller", o.ManagedBy))
	case o.Stalled != nil && o.Stalled.Kind == explain.ProblemCrashLoop && o.Stalled.Brief != "":
		parts, reason = append(parts, o.Stalled.Brief), ""
	case o.Stalled != nil:
		reason = o.Stalled.Reason
	}
	if reason != "" {
		parts = append(parts, "reason "+reason)
	}
	if o.Rule != nil { // The name alone is in the reason.
		parts = append(parts, RuleLabel(o.Rule, o.RuleName))
	}
	return strings.Join(parts, ", ")
}

func doneText(o *explain.Outline) string {
	if done, total := o.Done(); total == nil && o.Parallelism != nil && *o.Parallelism > 1 {
		return wording.Count(done, "done, work queue of ") + wording.Thousands(*o.Parallelism)
	}
	return Completions(o) + " done"
}

// lineIndexes is the soft limit of an index list in a JobLine, see explain.Crop.
const lineIndexes = 20

// awaitedPods returns what a Job whose outcome is decided waits for.
func awaitedPods(terminating *int32) string {
	switch {
	case terminating == nil:
		return "stopping the rest"
	case *terminating == 0:
		return "about to finish"
	}
	return "stopping " + wording.Plural(*terminating, "pod", "pods")
}

// MissedStalls returns the reasons why stalled Jobs may not be shown as such, "" if they are.
func MissedStalls(gaps []input.Gap) string {
	var why []string
	for _, gap := range gaps {
		why = append(why, gap.Text)
	}
	if len(why) == 0 {
		return ""
	}
	return "Jobs that are stalled may be shown as Running: " + strings.Join(why, "; ")
}

// JobName returns namespace/name.
func JobName(job *explain.Job) string {
	if job.Namespace == "" {
		return job.Name
	}
	return job.Namespace + "/" + job.Name
}

// Completions returns n/m; or n/1 if completions is not set, with the number of competing pods.
func Completions(o *explain.Outline) string { return string(AppendCompletions(nil, o)) }

// AppendCompletions appends Completions to a text, as a list measures the texts of thousands of Jobs.
func AppendCompletions(text []byte, o *explain.Outline) []byte {
	done, total := o.Done()
	text = wording.AppendThousands(text, done)
	switch {
	case total != nil:
		return wording.AppendThousands(append(text, '/'), *total)
	case o.Parallelism != nil && *o.Parallelism > 1:
		return wording.AppendThousands(append(text, "/1 of "...), *o.Parallelism)
	}
	return append(text, "/1"...)
}

// Active returns the number of active pods, with the number of ready ones: 3(2).
func Active(o *explain.Outline) string { return string(AppendActive(nil, o)) }

// AppendActive appends Active to a text.
func AppendActive(text []byte, o *explain.Outline) []byte {
	text = wording.AppendThousands(text, o.Active)
	if o.Ready == nil || o.Active == 0 {
		return text
	}
	return append(wording.AppendThousands(append(text, '('), *o.Ready), ')')
}

// Ran returns the run time of a Job, -1 for a Job that was not started.
func Ran(o *explain.Outline, now time.Time) time.Duration {
	switch {
	case o.Started.IsZero():
		return -1
	case !o.Finished.IsZero():
		now = o.Finished.Time
	}
	return max(0, now.Sub(o.Started.Time))
}

// NotStarted returns a text for a Job without a start time. A suspended Job loses its start time, and may have run before.
func NotStarted(r *explain.Report) string {
	if HasRun(r) {
		return "stopped when it was suspended"
	}
	return "not started"
}

// HasRun reports whether pods of a Job without a start time have ended.
func HasRun(r *explain.Report) bool {
	return r.Job.Suspend && r.Counts.Succeeded+r.Counts.Failed > 0
}

// Columns that the row of an owner has, too.
const (
	NamespaceColumn = "NAMESPACE"
	NameColumn      = "NAME"
	WhyColumn       = "WHY"
)

// Owner is a row that stands for the Jobs of an owner, which Jobs counts.
type Owner struct {
	Namespace, Name string
	Jobs            layout.Line
}

// WithOwners returns columns that draw the rows for which of returns an Owner: their namespace, name, and Jobs in place of WHY.
func WithOwners[T any](columns []layout.Column[T], of func(*T) *Owner) []layout.Column[T] {
	for i := range columns {
		header, text, cell, style := columns[i].Header, columns[i].Text, columns[i].Cell, columns[i].Style
		if cell == nil {
			cell = func(row *T) layout.Line { return layout.Of(layout.Text(style, text(row))) }
		}
		columns[i].Text, columns[i].Cell = nil, func(row *T) layout.Line {
			owner := of(row)
			switch {
			case owner == nil:
				return cell(row)
			case header == NamespaceColumn:
				return layout.Plainly(owner.Namespace)
			case header == NameColumn:
				return layout.Of(layout.Text(layout.Bold, owner.Name))
			case header == WhyColumn:
				return owner.Jobs
			}
			return nil
		}
	}
	return columns
}

// JobCounts returns "4 Jobs: 1 Failed, 3 Complete" for the states of Jobs: complete Jobs last, because a narrow terminal cuts the text.
func JobCounts(of []string) layout.Line {
	counts := map[string]int{}
	var states []string
	for _, state := range of {
		if counts[state]++; counts[state] == 1 {
			states = append(states, state)
		}
	}
	if i := slices.Index(states, string(batchv1.JobComplete)); i >= 0 {
		states = append(slices.Delete(states, i, i+1), string(batchv1.JobComplete))
	}
	for i, state := range states {
		states[i] = wording.Count(counts[state], state)
	}
	return layout.Of(layout.Text(layout.Muted, wording.Plural(len(of), "Job", "Jobs")+": "+strings.Join(states, ", ")))
}
