package serving

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
)

// A free slot goes to the address with the fewest reviews, even if others have waited longer. A client that hangs up makes
// room.
// Requirements: JOB-67
func TestFreeSlotIsForTheAddressWithTheFewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, got := newSlots(2), make(chan string, 10)
		acquire := func(ctx context.Context, peer string) {
			go func() {
				if s.acquire(ctx, peer) != nil {
					peer += " is refused"
				}
				got <- peer
			}()
			synctest.Wait()
		}
		hasHungUp, hangUp := context.WithCancel(t.Context())
		acquire(t.Context(), "a")
		acquire(t.Context(), "a")
		acquire(t.Context(), "a")
		acquire(hasHungUp, "b")
		acquire(t.Context(), "b")
		acquire(t.Context(), "c")
		hangUp()
		for _, want := range []string{"a", "a", "b is refused"} {
			if peer := <-got; peer != want {
				t.Errorf("%s, want %s", peer, want)
			}
		}
		for _, c := range []struct{ releases, gets string }{{"a", "b"}, {"b", "c"}, {"c", "a"}} {
			s.release(c.releases)
			if peer := <-got; peer != c.gets {
				t.Errorf("%s, want %s", peer, c.gets)
			}
		}
		s.release("a")
		s.release("a")
		if s.free != 2 || len(s.used) != 0 || len(s.waiting) != 0 {
			t.Errorf("afterward: %+v", s)
		}
	})
}

// Invalid tokens from a few addresses do not delay a token that was never allowed, such as a new token of Prometheus.
// Requirements: JOB-52, JOB-67
func TestNewTokenWaitsForOneReviewOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newReviewing()
		api.flood(t, maxReviews/maxPeerReviews, maxPeerReviews, maxReviews)
		synctest.Wait()
		code := make(chan int, 1)
		go func() { code <- api.get(t.Context(), "Bearer good", "/metrics", "10.0.0.1") }()
		synctest.Wait()
		api.hangs <- struct{}{} // One of the other reviews is answered.
		synctest.Wait()
		select {
		case got := <-code:
			if got != http.StatusOK {
				t.Errorf("%d", got)
			}
		default:
			t.Error("it still waits")
		}
	})
}
