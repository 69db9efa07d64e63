package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyHold and keyDelete open forms that change a Job, as keyRetry does.
//
//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyHold   = widget.Bind("Z", "suspend/resume the Job", "Z")
	keyDelete = widget.Bind("ctrl+d", "delete the Job", "ctrl+d")
)

// target is the Job that the screen is about or that is under the cursor.
type target struct {
	job              snapshot.JobKey
	uid              string
	suspended, ended bool
}

// statusSuspended is kubectl's.
const statusSuspended = "Suspended"

// target is false if there is no Job that can be changed.
func (m *Model) target() (t target, ok bool) {
	if m.o.Changer == nil || m.isForm() {
		return t, false
	}
	if list, isList := m.top().(chooser); isList {
		o := list.Chosen(&m.data)
		if o == nil {
			return t, false
		}
		return target{snapshot.JobKey{Namespace: o.Namespace, Name: o.Name}, o.UID, o.Status == statusSuspended, hasEnded(o.Fate)}, true
	}
	key := m.top().Focus().Job
	j := m.data.Open(key)
	if j == nil || j.Gone {
		return t, false
	}
	return target{key, j.Job.UID, j.Job.Suspend, hasEnded(j.Verdict.Fate)}, true
}

func hasEnded(f explain.Fate) bool { return f == explain.FateFailed || f == explain.FateComplete }

// isForm reports whether the screen is a form that leads to a write.
func (m *Model) isForm() bool {
	switch m.top().(type) {
	case *job.RetryForm, *job.ChangeForm:
		return true
	}
	return false
}

// chooser is a list of Jobs.
type chooser interface {
	Chosen(d *screen.Data) *explain.Outline
}

// changeKeys are the keys for the Job, if there is one.
func (m *Model) changeKeys() []widget.Binding {
	if _, ok := m.target(); !ok {
		return nil
	}
	return []widget.Binding{keyHold, keyDelete}
}

// change opens the form of a key.
func (m *Model) change(k tea.KeyPressMsg) tea.Cmd {
	t, ok := m.target()
	change := screen.Delete
	switch {
	case !ok:
		m.sayUnknown(k)
		return nil
	case widget.Matches(k, keyDelete):
	case t.ended:
		m.say("a Job that has finished cannot be suspended")
		return nil
	case t.suspended:
		change = screen.Resume
	default:
		change = screen.Suspend
	}
	return m.act(job.OpenChange(change, t.job, t.uid, m.o.Changer))
}
