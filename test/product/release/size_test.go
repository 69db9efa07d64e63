//go:build release

package release

import (
	"strconv"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// ADR 0021: the binary may not grow by more than 5 % without a documented reason. `go tool nm -size -sort size` shows
// the large symbols, and `go build -ldflags=-dumpdep` why they are kept. Record a new size with the change that explains
// it.
func TestBinaryStaysSmall(t *testing.T) {
	linux := platform{"linux", "amd64"}
	recorded, err := strconv.Atoi(strings.TrimSpace(contents(t, "test/product/release/testdata/size.txt")))
	assert.NoError(t, err)
	size := len(unpacked(t, linux)[linux.binary()].data)
	switch change := float64(size)/float64(recorded) - 1; {
	case change > 0.05:
		t.Errorf("the binary has %d bytes, %.1f %% more than the recorded %d", size, change*100, recorded)
	case change < -0.05:
		t.Errorf("the binary has %d bytes, %.1f %% less than the recorded %d: write %[1]d into testdata/size.txt, so that it stays that small", size, -change*100, recorded)
	}
}
