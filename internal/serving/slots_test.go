package serving

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
)

// The number of reviews that wait is bounded, and a client that hangs up makes room.
// Requirements: JOB-67
func TestWaitingReviewsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, got := newSlots(1, 2), make(chan string, 10)
		acquire := func(ctx context.Context, name string) {
			go func() {
				if s.acquire(ctx) != nil {
					name += " is refused"
				}
				got <- name
			}()
			synctest.Wait()
		}
		want := func(want string) {
			t.Helper()
			synctest.Wait()
			select {
			case name := <-got:
				if name != want {
					t.Errorf("%s, want %s", name, want)
				}
			default:
				t.Errorf("nothing, want %s", want)
			}
		}
		hasHungUp, hangUp := context.WithCancel(t.Context())
		acquire(t.Context(), "a")
		want("a")
		acquire(hasHungUp, "b")
		acquire(t.Context(), "c")
		acquire(t.Context(), "d")
		want("d is refused")
		hangUp()
		want("b is refused")
		acquire(t.Context(), "e")
		for _, name := range []string{"c", "e"} {
			s.release()
			want(name)
		}
		s.release()
		if len(s.used) != 0 || len(s.waiting) != 0 {
			t.Errorf("afterward: %d used, %d waiting", len(s.used), len(s.waiting))
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
