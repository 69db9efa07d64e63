package serving

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

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
			assert.Equal(t, got, http.StatusOK)
		default:
			t.Error("it still waits")
		}
	})
}
