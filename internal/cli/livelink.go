package cli

import (
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveLink is the state of all watches of a source together: what is shown is stale as long as one of them is lost.
type liveLink struct {
	source *liveSource
	lost   []*lostLink // under source.mu, in the order of time
}

// lostLink is one of the watches. It is lost as long as it is in lost of all.
type lostLink struct {
	all *liveLink

	// under source.mu
	since time.Time
	why   string
}

// newLink is the link of one more watch.
func (l *liveLink) newLink() *link { return newLink(&lostLink{all: l}, l.source.env) }

func (l *lostLink) down(failure error) {
	source := l.all.source
	source.mu.Lock()
	defer source.mu.Unlock()
	l.since, l.why = source.env.now(), oneLine(explainError(failure).Error())
	l.all.lost = append(l.all.lost, l)
	source.touch()
}

func (l *lostLink) up() {
	l.all.source.mu.Lock()
	defer l.all.source.mu.Unlock()
	l.all.lost = slices.DeleteFunc(l.all.lost, func(other *lostLink) bool { return other == l })
	l.all.source.touch()
}

// state is for a Snapshot: that of the watch that is lost for longest. source.mu is held.
func (l *liveLink) state() snapshot.Link {
	if len(l.lost) == 0 {
		return snapshot.Link{}
	}
	since := l.lost[0].since
	return snapshot.Link{StaleSince: &since, Why: l.lost[0].why}
}
