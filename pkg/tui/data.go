package tui

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
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
	samples []explain.Progress
	eta     explain.ETA
}

// maxSamples is how many are kept; when there are more, every other is dropped.
const maxSamples = 200

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
	j := &jobData{Report: s.Job.Report, gone: s.Job.Gone}
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

// done is how much has succeeded, of how much; total is 0 for a work queue.
func (j *jobData) done() (done, total int32) {
	if j.Indexes != nil {
		return j.Indexes.CompletedCount, j.Indexes.Total
	}
	done = j.Counts.Succeeded + j.Counts.UncountedSucceeded
	if j.Job.Completions != nil {
		total = *j.Job.Completions
	}
	return done, total
}

func (j *jobData) estimate() {
	done, total := j.done()
	if n := len(j.samples); n == 0 || j.samples[n-1].Done != done {
		j.samples = append(j.samples[:n:n], explain.Progress{Time: j.ObservedAt.Time, Done: done})
	}
	if len(j.samples) > maxSamples {
		kept := make([]explain.Progress, 0, maxSamples)
		for i := range j.samples {
			if i%2 == 0 || i == len(j.samples)-1 {
				kept = append(kept, j.samples[i])
			}
		}
		j.samples = kept
	}
	if j.Indexes != nil {
		total -= j.Indexes.FailedCount // They will not succeed any more.
	}
	if total > 0 && !j.Job.Started.IsZero() && j.Verdict.Fate == explain.FateOpen && !j.Job.Suspend {
		j.eta = explain.Estimate(j.samples, j.Job.Started.Time, total, j.ObservedAt.Time)
		if j.SuccessPolicy != nil {
			j.eta.Method += ", for all indexes"
		}
	}
}

// failureTotals are the failures of a Job: all that are told by cause or whose pods are
// gone, and of those how many its status counts, how many are counted with the next pod of
// their index (KEP-3850), and how many its podFailurePolicy ignores. The parts need not add
// up to all: what just failed is in none yet.
func failureTotals(j *jobData) (all, counted, awaiting, ignored int32) {
	c := &j.Counts
	counted, awaiting = c.Failed+c.UncountedFailed, c.AwaitReplacement
	all = j.FailuresWithoutPod
	for i := range j.Causes {
		all += j.Causes[i].Count
		if j.Causes[i].Action == string(batchv1.PodFailurePolicyActionIgnore) {
			ignored += j.Causes[i].Count
		}
	}
	return max(all, counted), counted, awaiting, max(ignored, c.IgnoredFailures)
}
