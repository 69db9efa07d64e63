package section

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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
		assert.Equalf(t, f.Bar(tc.have, tc.total, 4, layout.Plain).String(), tc.want, "bar(%d, %d)", tc.have, tc.total)
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
