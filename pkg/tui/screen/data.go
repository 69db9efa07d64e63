package screen

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Data is what screens draw: the latest Snapshot, and values computed from it once.
type Data struct {
	// Snap is never nil; its Seq is 0 before the first Snapshot.
	Snap *snapshot.Snapshot
	// Job is the open Job, nil until it has been read.
	Job *Job
	// Since is the time at which the top screen was opened.
	Since time.Time
	// Width and Height are the size of a screen: the terminal without its first and last lines.
	Width, Height int
}

// Job is a Report, and values computed from it.
type Job struct {
	*explain.Report
	// Gone is set if the Job does not exist; GoneAt is when it was deleted, if that is known.
	Gone   bool
	GoneAt *time.Time
	// Map is nil for a NonIndexed Job.
	Map *indexmap.Map
	// samples are the numbers of successes over time, for the ETA.
	samples []eta.Progress
	ETA     eta.ETA
	// ETATotal is the number of successes that the ETA refers to if fewer may suffice (successPolicy); otherwise 0.
	ETATotal  int32
	PodCounts section.PodCounts
}

// SetSnapshot replaces the Snapshot. Values of parts that both Snapshots share are not computed again.
func (d *Data) SetSnapshot(s *snapshot.Snapshot) {
	before := d.Snap
	d.Snap = s
	switch {
	case s.Job == nil || s.Job.Report == nil:
		d.Job = nil
		return
	case d.Job != nil && d.Job.Report == s.Job.Report:
		d.Job.Gone, d.Job.GoneAt = s.Job.Gone, s.Job.GoneAt
		return
	}
	j := &Job{Report: s.Job.Report, Gone: s.Job.Gone, GoneAt: s.Job.GoneAt, PodCounts: section.CountPods(s.Job.Report)}
	if d.Job != nil && before != nil && before.Focus.Job == s.Focus.Job && d.Job.Job.UID == j.Job.UID {
		j.samples = d.Job.samples
	}
	if j.Indexes != nil {
		m := indexmap.New(j.Indexes)
		j.Map = &m
	}
	j.estimate()
	d.Job = j
}

// Open returns the Job with this key if it is open, nil until it has been read.
func (d *Data) Open(job types.NamespacedName) *Job {
	if d.Snap.Focus.Job != job {
		return nil
	}
	return d.Job
}

// Waiting says that something is being read, and for how long.
func (d *Data) Waiting(p *widget.Paint, what string) []layout.Line {
	l := layout.Of(layout.Text(layout.Muted, what+p.Glyphs.More))
	if waited := p.Now.Sub(d.Since).Round(time.Second); waited >= 2*time.Second {
		l = append(l, layout.Text(layout.Muted, fmt.Sprintf(" (%s)", waited)))
	}
	return []layout.Line{nil, l}
}

// AsOf returns the time of the Report's sentences, given the current time, so that countdowns agree with them. A Report that
// does not change with time is not computed again.
func (j *Job) AsOf(now time.Time) time.Time {
	switch {
	case j.Gone && j.GoneAt != nil:
		return *j.GoneAt
	case j.Gone || !j.IsTimeless():
		return j.ObservedAt.Time
	}
	return now
}

// GoneWords returns, for example, "deleted at 12:00:05", or "" while the Job exists.
func (j *Job) GoneWords(p *widget.Paint) string {
	switch {
	case !j.Gone:
		return ""
	case j.GoneAt != nil:
		return "deleted at " + p.Clock(*j.GoneAt)
	case j.Job.UID == "":
		return "does not exist"
	}
	return "deleted"
}

// Done returns the number of successes and the total, which is 0 for a work queue.
func (j *Job) Done() (done, total int32) { return j.PodCounts.Done(j.Report) }

// Wait returns the wait of a kind, or nil if there is none.
func (j *Job) Wait(kind explain.WaitKind) *explain.Wait {
	for i := range j.Waits {
		if j.Waits[i].Kind == kind {
			return &j.Waits[i]
		}
	}
	return nil
}

// IndexInfo returns a Report's details of an index, or nil if it has none.
func IndexInfo(r *explain.Report, index int32) *explain.IndexInfo {
	if r.Indexes == nil {
		return nil
	}
	for i := range r.Indexes.Details {
		if r.Indexes.Details[i].Index == index {
			return &r.Indexes.Details[i]
		}
	}
	return nil
}

// StateWord returns the name of a state.
func (j *Job) StateWord(state indexmap.State) string {
	if state == indexmap.Pending && j.Indexes.WillNotCompleteCount > 0 {
		return section.IndexWillNotComplete
	}
	return state.Word()
}

// Gaps returns the lines about data that could not be read.
func Gaps(p *widget.Paint, gaps []input.Gap) []layout.Line {
	var out []layout.Line
	for i := range gaps {
		l := layout.Of(layout.Text(layout.Warn|layout.Bold, p.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(gaps[i].Text)))
		if gaps[i].Command != "" {
			l = append(l, layout.Text(layout.Muted, "  "+gaps[i].Command))
		}
		out = append(out, p.Wrap(l, 2)...)
	}
	return out
}
