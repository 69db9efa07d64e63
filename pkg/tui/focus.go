package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// restTime is how long the cursor of a list must rest on a Job before the Job is read for the preview, so that moving over
// Jobs sends no requests.
const restTime = 200 * time.Millisecond

// restMsg is a preview's Focus that has not changed for restTime.
type restMsg snapshot.Focus

// focus decides when the Focus of the screen is passed to the Source.
type focus struct {
	// looked is the Focus that was last passed to the Source.
	looked snapshot.Focus
	// resting is a preview's Focus whose timer is running, and rested one whose timer has ended.
	resting, rested snapshot.Focus
}

// change reports whether f must be passed to the Source now. A preview's Focus is passed when its timer has ended.
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

// isIn reports whether the Snapshot contains the data of the Focus last passed to the Source. It may not, because screens can
// be opened while the view is paused.
func (s *focus) isIn(snap *snapshot.Snapshot) bool {
	f := s.looked
	return snap.Focus.Equal(f) && (f.Job.Name == "" || snap.Job != nil) && (f.CronJob.Name == "" || snap.CronJob != nil) && (f.Pod == "" || snap.Pod != nil) && (f.Log == nil || snap.Log != nil)
}
