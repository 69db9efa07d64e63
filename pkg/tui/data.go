package tui

import (
	"fmt"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// data is what screens draw: the latest Snapshot, and what is derived from it once.
type data struct {
	// snap is never nil; its Seq is 0 before the first came.
	snap *snapshot.Snapshot
	// job is the open one, nil until it was read.
	job *jobData
	// since is when what is shown began to be shown.
	since time.Time
}

// jobData is what is derived from a Report.
type jobData struct {
	*explain.Report
	gone bool
	// indexes is nil for a NonIndexed Job.
	indexes *indexmap.Map
	// samples are how much had succeeded when, for the ETA.
	samples []eta.Progress
	eta     eta.ETA
	// etaTo is how many successes the ETA is about where fewer may do (successPolicy); else 0.
	etaTo int32
	pods  section.PodCounts
}

// take derives from a Snapshot what the one before does not hold already.
func (d *data) take(s *snapshot.Snapshot) {
	before := d.snap
	d.snap = s
	switch {
	case s.Job == nil || s.Job.Report == nil:
		d.job = nil
		return
	case d.job != nil && d.job.Report == s.Job.Report:
		d.job.gone = s.Job.Gone
		return
	}
	j := &jobData{Report: s.Job.Report, gone: s.Job.Gone, pods: section.CountPods(s.Job.Report)}
	if d.job != nil && before != nil && before.Focus.Job == s.Focus.Job && d.job.Job.UID == j.Job.UID {
		j.samples = d.job.samples
	}
	if j.Indexes != nil {
		m := indexmap.New(j.Indexes)
		j.indexes = &m
	}
	j.estimate()
	d.job = j
}

// open is what is known of a Job that is open, nil until it was read.
func (d *data) open(job snapshot.JobKey) *jobData {
	if d.snap.Focus.Job != job {
		return nil
	}
	return d.job
}

// waiting says what is being read, and for how long already.
func (d *data) waiting(p *paint, what string) []layout.Line {
	l := layout.Of(layout.Text(layout.Muted, what+p.Glyphs.More))
	if waited := p.Now.Sub(d.since).Round(time.Second); waited >= 2*time.Second {
		l = append(l, layout.Text(layout.Muted, fmt.Sprintf(" (%s)", waited)))
	}
	return []layout.Line{nil, l}
}

// done is how much has succeeded, of how much; total is 0 for a work queue.
func (j *jobData) done() (done, total int32) { return j.pods.Done(j.Report) }

// waitOf is the clock of a kind, nil if none runs.
func waitOf(r *explain.Report, kind explain.WaitKind) *explain.Wait {
	for i := range r.Waits {
		if r.Waits[i].Kind == kind {
			return &r.Waits[i]
		}
	}
	return nil
}

// indexInfo is what the Report says of an index, nil if nothing.
func indexInfo(r *explain.Report, index int32) *explain.IndexInfo {
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

// stateWord is the name of a state; nothing is pending any more in a Job that has ended.
func stateWord(j *jobData, state indexmap.State) string {
	if state == indexmap.Pending && !j.Job.Finished.IsZero() {
		return "not completed"
	}
	return state.Word()
}
