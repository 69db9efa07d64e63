package joblist

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// kind is the state of a Job, those that need attention first.
type kind int

const (
	failing kind = iota
	failed
	neglected
	runningWithFailures // runs, and pods of it have failed
	terminating
	suspended
	running
	succeeding
	complete
	kinds
)

// The statuses of kubectl that have no Fate.
const (
	statusTerminating = "Terminating"
	statusSuspended   = "Suspended"
)

func kindOf(o *explain.Outline) kind {
	switch {
	case o.Fate == explain.FateComplete:
		return complete
	case o.Fate == explain.FateFailed:
		return failed
	case o.Neglected:
		return neglected
	case o.Fate == explain.FateFailing:
		return failing
	case o.Fate == explain.FateSucceeding:
		return succeeding
	case o.Status == statusTerminating:
		return terminating
	case o.Status == statusSuspended:
		return suspended
	case o.Failed > 0:
		return runningWithFailures
	}
	return running
}

func (k kind) String() string {
	switch k {
	case failing:
		return "failing"
	case failed:
		return "failed"
	case neglected:
		return "not reconciled"
	case runningWithFailures:
		return "with failures"
	case terminating:
		return "terminating"
	case suspended:
		return "suspended"
	case succeeding:
		return "succeeding"
	case complete:
		return "complete"
	}
	return "running"
}

// look is the mark and the style of a kind.
func (k kind) look(p *widget.Paint) (mark string, style layout.Style) {
	switch k {
	case failing:
		return section.JobMark(&p.Glyphs, explain.FateFailing, false, false)
	case failed:
		return section.JobMark(&p.Glyphs, explain.FateFailed, false, false)
	case neglected:
		return section.JobMark(&p.Glyphs, explain.FateOpen, true, false)
	case suspended:
		return section.JobMark(&p.Glyphs, explain.FateOpen, false, true)
	case terminating:
		return p.Glyphs.Ending, layout.Special
	case succeeding:
		return section.JobMark(&p.Glyphs, explain.FateSucceeding, false, false)
	case complete:
		return section.JobMark(&p.Glyphs, explain.FateComplete, false, false)
	}
	return section.JobMark(&p.Glyphs, explain.FateOpen, false, false)
}
