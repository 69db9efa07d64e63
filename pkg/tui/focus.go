package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// restTime is how long the cursor of a list rests on a Job before that is read for the preview: a cursor that passes over
// Jobs makes no requests.
const restTime = 200 * time.Millisecond

// restMsg is a Focus that a preview has had for restTime.
type restMsg snapshot.Focus

// focus decides when the Source gets the Focus of the screen.
type focus struct {
	// looked is the Focus that the Source got last.
	looked snapshot.Focus
	// resting is that of a preview for which a timer runs, and rested the one whose timer has ended.
	resting, rested snapshot.Focus
}

// change reports whether the Source has to get this Focus now. It gets that of a preview when the timer has ended.
func (s *focus) change(f snapshot.Focus) (now bool, timer tea.Cmd) {
	switch {
	case f.Equal(s.looked):
		s.resting, s.rested = snapshot.Focus{}, snapshot.Focus{}
		return false, nil
	case f.Preview && f.Job != s.looked.Job && !f.Equal(s.rested):
		if f.Equal(s.resting) {
			return false, nil
		}
		s.resting = f
		return false, tea.Tick(restTime, func(time.Time) tea.Msg { return restMsg(f) })
	}
	*s = focus{looked: f}
	return true, nil
}

// isIn reports whether the Snapshot has what the Source was asked for last. It may not, as screens can be opened while the
// view is paused.
func (s *focus) isIn(snap *snapshot.Snapshot) bool {
	f := s.looked
	return snap.Focus.Equal(f) && (f.Job.IsZero() || snap.Job != nil) && (f.Pod == "" || snap.Pod != nil) && (f.Log == nil || snap.Log != nil)
}
