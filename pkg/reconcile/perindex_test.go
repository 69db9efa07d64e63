package reconcile

import (
	"testing"
	"time"
)

// BLI-04: a counted failure raises the first annotation of the next pod, an ignored one
// the second.
func TestSuccessorCounts_BLI_04(t *testing.T) {
	ignoreTwo := failurePolicy(onExit("Ignore", 2))
	observeJob(indexed(2, 2), perIndex(5), ignoreTwo).
		with("p0", index(0), failedPod(1, time.Hour), counts(1, 1)).
		with("p1", index(1), failedPod(2, time.Hour), counts(1, 0)).
		want(t, "create 0(2,1); create 1(1,1)")
}
