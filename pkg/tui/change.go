package tui

import (
	tea "charm.land/bubbletea/v2"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyHold and keyDelete open forms that change a Job, like keyRetry.
var (
	keyHold   = widget.Bind("Z", "suspend/resume the Job", "Z")
	keyDelete = widget.Bind("ctrl+d", "delete the Job", "ctrl+d")
)

// target is the Job of the screen or under the cursor.
type target struct {
	job       types.NamespacedName
	uid       string
	outcome   reconcile.Outcome
	suspended bool
	stalled   bool
	owner     *explain.Owner
}

// targetOf returns the target of a screen, or false if there is no Job to act on.
func targetOf(s screen.Screen, d *screen.Data) (t target, ok bool) {
	switch s := s.(type) {
	case *job.RetryForm, *job.ChangeForm: // These forms already lead to a write.
		return t, false
	case chooser:
		o := s.Chosen(d)
		if o == nil {
			return t, false
		}
		key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		return target{key, o.UID, o.Outcome, o.Status == string(batchv1.JobSuspended), o.Stalled != nil, o.Owner}, true
	}
	t.job = s.Focus().Job
	j := d.Open(t.job)
	if j == nil || j.Gone {
		return t, false
	}
	return target{t.job, j.Job.UID, j.Verdict.Outcome, j.Job.Suspend, j.Verdict.Stalled, j.Job.Owner}, true
}

// canBeRetried reports whether the Job failed or is stalled, so that a retry may replace it.
func (t *target) canBeRetried() bool {
	return t.outcome == reconcile.OutcomeFailed || t.outcome == reconcile.OutcomeOpen && t.stalled && !t.suspended
}

// chooser is a screen with a list of Jobs and a cursor.
type chooser interface {
	Chosen(d *screen.Data) *explain.Outline
}

// change opens the form for the pressed key.
func (m *Model) change(k tea.KeyPressMsg) tea.Cmd {
	t, ok := targetOf(m.screens.top(), &m.data)
	change := screen.Delete
	switch {
	case !ok || m.o.Changer == nil:
		m.sayUnknown(k)
		return nil
	case widget.Matches(k, keyDelete):
	case t.outcome.IsFinished():
		m.say("a Job that has finished cannot be suspended")
		return nil
	case t.suspended:
		change = screen.Resume
	default:
		change = screen.Suspend
	}
	return m.act(job.OpenChange(change, t.job, t.uid, m.o.Changer))
}
