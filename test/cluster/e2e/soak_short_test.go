//go:build soak

package e2e

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
)

// Each trouble occurs once, for a short while, and has an effect. Jobs of every kind run through all of them; Jobs that
// have not ended afterward are deleted, so that the test does not wait for retries (SOK-01, SOK-02, SOK-04).
func TestTroubles(t *testing.T) {
	s := newSoak(t)
	s.work(nil, func() {
		for _, trouble := range s.disturber.chosen {
			pause(t.Context(), time.Second)
			s.live(troubles.Event{Trouble: trouble, Lasts: 3 * time.Second})
		}
	})
	s.hurried = true
	s.finish()
	s.end()
	s.tally.answers(t)
	s.tally.print(s, size{}, size{})
	if unfelt := s.ledger.Unfelt(s.disturber.chosen); len(unfelt) > 0 {
		t.Errorf("nobody has felt %q", unfelt)
	}
}
