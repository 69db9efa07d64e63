package joblist

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
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

func kindOf(o *explain.Outline) kind {
	switch {
	case o.Outcome == reconcile.OutcomeComplete:
		return complete
	case o.Outcome == reconcile.OutcomeFailed:
		return failed
	case o.Stalled != nil:
		return stalled
	case o.Outcome == reconcile.OutcomeFailing:
		return failing
	case o.Outcome == reconcile.OutcomeSucceeding:
		return succeeding
	case o.Status == section.PodTerminating:
		return terminating
	case o.Status == string(batchv1.JobSuspended):
		return suspended
	case o.Failures() > 0:
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
	outcomes := [kinds]reconcile.Outcome{
		failing: reconcile.OutcomeFailing, failed: reconcile.OutcomeFailed, succeeding: reconcile.OutcomeSucceeding, complete: reconcile.OutcomeComplete,
	}
	return section.JobMark(&p.Glyphs, outcomes[k], k == stalled, k == suspended)
}
