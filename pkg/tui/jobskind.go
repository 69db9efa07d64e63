package tui

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// jobKind is what a Job does, those that need a look first.
type jobKind int

const (
	jobFailing jobKind = iota
	jobFailed
	jobNeglected
	jobTroubled // runs, and pods of it have failed
	jobTerminating
	jobSuspended
	jobRuns
	jobSucceeding
	jobComplete
	jobKinds
)

// jobStatuses are kubectl's words that no fate tells.
const (
	statusTerminating = "Terminating"
	statusSuspended   = "Suspended"
)

func kindOf(o *explain.Outline) jobKind {
	switch {
	case o.Fate == explain.FateComplete:
		return jobComplete
	case o.Fate == explain.FateFailed:
		return jobFailed
	case o.Neglected:
		return jobNeglected
	case o.Fate == explain.FateFailing:
		return jobFailing
	case o.Fate == explain.FateSucceeding:
		return jobSucceeding
	case o.Status == statusTerminating:
		return jobTerminating
	case o.Status == statusSuspended:
		return jobSuspended
	case o.Failed > 0:
		return jobTroubled
	}
	return jobRuns
}

func (k jobKind) String() string {
	switch k {
	case jobFailing:
		return "failing"
	case jobFailed:
		return "failed"
	case jobNeglected:
		return "not reconciled"
	case jobTroubled:
		return "with failures"
	case jobTerminating:
		return "terminating"
	case jobSuspended:
		return "suspended"
	case jobSucceeding:
		return "succeeding"
	case jobComplete:
		return "complete"
	}
	return "running"
}

// look is the mark and the style of the kind.
func (k jobKind) look(p *paint) (mark string, style layout.Style) {
	switch k {
	case jobFailing:
		return section.JobMark(&p.Glyphs, explain.FateFailing, false, false)
	case jobFailed:
		return section.JobMark(&p.Glyphs, explain.FateFailed, false, false)
	case jobNeglected:
		return section.JobMark(&p.Glyphs, explain.FateOpen, true, false)
	case jobSuspended:
		return section.JobMark(&p.Glyphs, explain.FateOpen, false, true)
	case jobTerminating:
		return p.Glyphs.Ending, layout.Special
	case jobSucceeding:
		return section.JobMark(&p.Glyphs, explain.FateSucceeding, false, false)
	case jobComplete:
		return section.JobMark(&p.Glyphs, explain.FateComplete, false, false)
	}
	return section.JobMark(&p.Glyphs, explain.FateOpen, false, false)
}
