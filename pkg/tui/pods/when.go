package pods

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// whenCell is when the pod ended, or since when it is there, or when its grace period ends.
func whenCell(p *widget.Paint, pod *explain.PodInfo) layout.Line {
	switch {
	case !pod.GraceEnds.IsZero() && pod.State == section.PodTerminating:
		return graceLeft(p, pod.GraceEnds.Time)
	case !pod.Ended.IsZero() && p.Absolute:
		return layout.Plainly("ended " + p.When(pod.Ended))
	case !pod.Ended.IsZero():
		return layout.Plainly(p.When(pod.Ended))
	case pod.Created.IsZero():
		return layout.Of(layout.Text(layout.Muted, "-"))
	case p.Absolute:
		return layout.Plainly("since " + p.Clock(pod.Created.Time))
	}
	return layout.Plainly("for " + wording.Duration(max(0, p.Now.Sub(pod.Created.Time))))
}

// graceLeft is the time until a terminating pod is killed; one that should have ended is bad.
func graceLeft(p *widget.Paint, ends time.Time) layout.Line {
	overdue := p.Now.Sub(ends) >= time.Second
	switch {
	case overdue && p.Absolute:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, "due "+p.Countdown(ends)))
	case overdue:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, p.Countdown(ends)))
	}
	return layout.Of(layout.Text(layout.Special, "ends "+p.Countdown(ends)))
}
