package joblist

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// kind is the state of a Job; states that need attention come first.
type kind int

const (
	failing kind = iota
	failed
	stalled
	runningWithFailures // it runs, and some of its pods have failed
	terminating
	suspended
	running
	succeeding
	complete
	kinds
)

// The statuses of kubectl without a Fate.
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
	case o.Stalled != nil:
		return stalled
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
	return [kinds]string{
		failing: "failing", failed: "failed", stalled: "stalled", runningWithFailures: "with failures", terminating: "terminating",
		suspended: "suspended", running: "running", succeeding: "succeeding", complete: "complete",
	}[k]
}

// look returns the mark and the style of a kind.
func (k kind) look(p *widget.Paint) (mark string, style layout.Style) {
	if k == terminating {
		return p.Glyphs.Ending, layout.Special
	}
	fates := [kinds]explain.Fate{
		failing: explain.FateFailing, failed: explain.FateFailed, succeeding: explain.FateSucceeding, complete: explain.FateComplete,
	}
	return section.JobMark(&p.Glyphs, fates[k], k == stalled, k == suspended)
}
