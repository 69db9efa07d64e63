package cmdutil

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestServerWarningsAreShownSafely(t *testing.T) {
	var b strings.Builder
	w := printWarnings(&b)
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(199, "-", "other")
	assert.Equal(t, b.String(), "Warning: old\\x1b[2J\n")
}
