//go:build measure

package reconcile

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// REG-24: ten times as many fragments take about ten times as long, not a hundred. Both are timed over the same amount
// of work, so that a busy machine slows both down.
func TestFragmentedIndexesAreQuick(t *testing.T) {
	for _, perIndex := range []bool{false, true} {
		took := func(completions int32, times int) time.Duration {
			o, _ := fragmented(completions, perIndex)
			best := time.Hour
			for range 10 {
				begin := time.Now()
				for range times {
					Compute(o, DefaultConfig())
				}
				best = min(best, time.Since(begin))
			}
			return best
		}
		small, large := took(hugeCompletions/10, 10), took(hugeCompletions, 1)
		measure.AtMost(t, large, 5*small, "for a decision, five times as long as for ten of a tenth of the size")
	}
}
