package cmdutil

import (
	"strings"
	"testing"
)

func TestServerWarningsAreShownSafely(t *testing.T) {
	var b strings.Builder
	w := printWarnings(&b)
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(199, "-", "other")
	if got := b.String(); got != "Warning: old\\x1b[2J\n" {
		t.Errorf("%q", got)
	}
}
