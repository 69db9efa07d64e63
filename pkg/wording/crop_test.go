package wording

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// CLI-02: lists are cut after a comma, as kubectl describe cuts them.
func TestListsAreCutAtAComma(t *testing.T) {
	for _, tc := range []struct {
		list  string
		limit int
		want  string
	}{
		{"1-3,5", 50, "1-3,5"},
		{"", 0, ""},
		{"1-25,28,30-32,40", 14, "1-25,28,30-32,40"},
		{"1-25,28,30-32,40", 13, "1-25,28,30-32,…"},
		{"1-25,28,30-32,40", 5, "1-25,28,…"},
		{"1-25,28,30-32,40", 0, "1-25,…"},
		{"1000000-2000000", 3, "1000000-2000000"},
		{"1,2", 1, "1,…"},
	} {
		assert.Equalf(t, Crop(tc.list, tc.limit, "…"), tc.want, "%q at %d", tc.list, tc.limit)
	}
}
