package tui

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// pause freezes the view while newer Snapshots arrive.
type pause struct {
	on bool
	// since is the time that is shown during the pause.
	since time.Time
	// held is the newest Snapshot, nil if it is already shown.
	held *snapshot.Snapshot
}

// latest returns the newest Snapshot, shown or held.
func (p *pause) latest(shown *snapshot.Snapshot) *snapshot.Snapshot {
	if p.held != nil {
		return p.held
	}
	return shown
}
