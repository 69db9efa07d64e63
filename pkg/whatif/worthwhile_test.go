package whatif

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-42
func TestSavingsOfLessThanASecondAreNotQuoted(t *testing.T) {
	for saved, want := range map[float64]bool{0.3: false, 0.9: false, 1.3: true} {
		assert.Equalf(t, isWorthwhile(saved, 3), want, "%vs of 3s", saved)
	}
}
