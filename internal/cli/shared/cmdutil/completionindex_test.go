package cmdutil

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// Exactly the indexes that begin with the typed digits are offered.
func TestIndexesBeginWithWhatWasTyped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{0,4}`).Draw(t, "digits")
		index := rapid.Int32Range(0, 200_000).Draw(t, "index")
		if got, want := beginningWith(digits).Contains(index), strings.HasPrefix(strconv.Itoa(int(index)), digits); got != want {
			t.Fatalf("%d and %q: %v, want %v", index, digits, got, want)
		}
	})
}

// Completion does not try each of 2^31 indexes.
// Requirements: CLI-12
func TestIndexesOfAHugeJobAreCompleted(t *testing.T) {
	job := &batchv1.Job{}
	job.Spec.Completions, job.Status.FailedIndexes = ptr.To[int32](math.MaxInt32), ptr.To("99,214748364")
	got := indexCandidates(job, "5,", "5,214748364", 5)
	if want := []string{"5,214748364", "5,2147483640", "5,2147483641"}; len(got) != 8 || !slices.Equal(got[:3], want) {
		t.Errorf("%q", got)
	}
}
