package joblist

import "testing"

// Issue 6, 1: the bar has its width, a part that is there has a column, and only what is all
// fills it.
func TestBarHasAColumnForEachPart(t *testing.T) {
	counts := []int64{0, 1, 3, 99, 100_000}
	for n := range 5 * 5 * 5 * 5 * 5 {
		var of [parts]int64
		present := 0
		for i, rest := 0, n; i < parts; i, rest = i+1, rest/5 {
			if of[i] = counts[rest%5]; of[i] > 0 {
				present++
			}
		}
		for _, width := range []int{8, 12} {
			cells, sum := share(of, width), 0
			for i, c := range cells {
				sum += c
				if of[i] > 0 && c < 1 || c == width && present > 1 {
					t.Fatalf("%v in %d: %v", of, width, cells)
				}
			}
			if sum != width {
				t.Fatalf("%v in %d: %v", of, width, cells)
			}
		}
	}
}
