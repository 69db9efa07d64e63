package cli

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveLink is the state of all watches of a source together: what is shown is stale as long as one of them is lost.
type liveLink struct {
	source *liveSource

	// under source.mu
	lost  int
	since time.Time
	why   string
}

func (l *liveLink) down(failure error) {
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	if l.lost++; l.lost == 1 {
		l.since, l.why = l.source.env.now(), oneLine(explainError(failure).Error())
		l.source.touch()
	}
}

func (l *liveLink) up() {
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	if l.lost--; l.lost == 0 {
		l.source.touch()
	}
}

// state is for a Snapshot. source.mu is held.
func (l *liveLink) state() snapshot.Link {
	if l.lost == 0 {
		return snapshot.Link{}
	}
	since := l.since
	return snapshot.Link{StaleSince: &since, Why: l.why}
}
