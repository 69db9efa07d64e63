package serving

import (
	"context"
	"slices"
	"sync"
)

// slots limits the number of reviews in progress. A free slot goes to the waiting address with the fewest reviews, so that an
// address with many requests does not delay the others.
type slots struct {
	mu      sync.Mutex
	free    int
	used    map[string]int
	waiting []*waiter // in order of arrival, at most maxWaiting
}

type waiter struct {
	peer  string
	ready chan struct{}
}

func newSlots(n int) *slots { return &slots{free: n, used: map[string]int{}} }

// acquire waits for a slot until ctx ends; the caller must return the slot with release. The error is errBusy.
func (s *slots) acquire(ctx context.Context, peer string) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.used[peer]++
		s.mu.Unlock()
		return nil
	}
	if len(s.waiting) >= maxWaiting {
		s.mu.Unlock()
		return errBusy
	}
	w := &waiter{peer, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(s.waiting, w)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // A slot was assigned meanwhile.
		s.release(peer)
	}
	return errBusy
}

func (s *slots) release(peer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[peer]--; s.used[peer] == 0 {
		delete(s.used, peer)
	}
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	next := 0
	for i, w := range s.waiting {
		if s.used[w.peer] < s.used[s.waiting[next].peer] {
			next = i
		}
	}
	w := s.waiting[next]
	s.waiting = slices.Delete(s.waiting, next, next+1)
	s.used[w.peer]++
	close(w.ready)
}
