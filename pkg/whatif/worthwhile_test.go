package whatif

import "testing"

// Requirements: CLI-42
func TestSavingsOfLessThanASecondAreNotQuoted(t *testing.T) {
	for saved, want := range map[float64]bool{0.3: false, 0.9: false, 1.3: true} {
		if got := isWorthwhile(saved, 3); got != want {
			t.Errorf("%vs of 3s: %t", saved, got)
		}
	}
}
