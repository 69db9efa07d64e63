package tui

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// pause keeps what is shown while newer Snapshots come.
type pause struct {
	on bool
	// since is the time that is shown while it is on.
	since time.Time
	// held is the newest Snapshot, nil if that is shown.
	held *snapshot.Snapshot
}

// latest is the newest Snapshot, shown or held.
func (p *pause) latest(shown *snapshot.Snapshot) *snapshot.Snapshot {
	if p.held != nil {
		return p.held
	}
	return shown
}
