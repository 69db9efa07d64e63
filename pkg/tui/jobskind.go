package tui

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
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
func (k jobKind) look(p *paint) (mark string, style styleOf) {
	switch k {
	case jobFailing:
		return fateMark(&p.glyphs, explain.FateFailing, false, false)
	case jobFailed:
		return fateMark(&p.glyphs, explain.FateFailed, false, false)
	case jobNeglected:
		return fateMark(&p.glyphs, explain.FateOpen, true, false)
	case jobSuspended:
		return fateMark(&p.glyphs, explain.FateOpen, false, true)
	case jobTerminating:
		return p.glyphs.Ending, styleSpecial
	case jobSucceeding:
		return fateMark(&p.glyphs, explain.FateSucceeding, false, false)
	case jobComplete:
		return fateMark(&p.glyphs, explain.FateComplete, false, false)
	}
	return fateMark(&p.glyphs, explain.FateOpen, false, false)
}

// fateMark is the mark and the style of a Job's state.
func fateMark(g *layout.Glyphs, f explain.Fate, stalled, suspended bool) (mark string, style styleOf) {
	switch {
	case f == explain.FateComplete:
		return g.Good, styleGood
	case f == explain.FateFailed:
		return g.Bad, styleBad
	case f == explain.FateFailing:
		return g.Ending, styleBad
	case f == explain.FateSucceeding:
		return g.Ending, styleGood
	case suspended:
		return g.Paused, styleWarn
	case stalled:
		return g.Warn, styleWarn
	}
	return g.Running, styleInfo
}
