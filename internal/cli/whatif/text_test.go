package whatif

import (
	"bytes"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A replay that gave up is not reported as an unfinished Job.
// Requirements: WIF-06
func TestReplayThatGaveUpIsMarked(t *testing.T) {
	for _, gaveUp := range []bool{false, true} {
		var out bytes.Buffer
		c := whatif.Comparison{Name: "train", New: whatif.Result{GaveUp: gaveUp, PodsStarted: 16_001}}
		assert.NoError(t, write(&out, &c))
		for text, want := range map[string]bool{"gave up\n": gaveUp, "not finished\n": !gaveUp, "with the new policies gave up after 16,001 pods": gaveUp, "actual policies gave up": false} {
			assert.Equal(t, strings.Contains(out.String(), text), want, gaveUp, text, &out)
		}
	}
}
