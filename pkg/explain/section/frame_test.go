package section

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// A bar is empty only at zero, and full only at the total.
func TestBarNeverLies(t *testing.T) {
	f := &Frame{Glyphs: layout.NewGlyphs(true)}
	for _, tc := range []struct {
		have, total int64
		want        string
	}{
		{0, 1000, "...."}, {1, 1000, "#..."}, {500, 1000, "##.."}, {1, 1, "####"}, {999, 1000, "###."}, {9, 5, "####"}, {-1, 5, "...."}, {0, 0, "...."},
	} {
		if got := f.Bar(tc.have, tc.total, 4, layout.Plain).String(); got != tc.want {
			t.Errorf("bar(%d, %d) = %s, want %s", tc.have, tc.total, got, tc.want)
		}
	}
	for _, have := range []int64{1, 2, 99, 999} {
		if got := f.Bar(have, 1000, 4, layout.Plain).String(); got == "####" || got == "...." {
			t.Errorf("bar(%d, 1000) = %s", have, got)
		}
	}
	if got := f.Bar(1, 2, 1, layout.Plain).String(); got == "#" {
		t.Error("a bar of one mark is full half way")
	}
}
