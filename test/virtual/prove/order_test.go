package prove

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// TestOrderOfTimes: times of one kind are the same unless a time of the other kind is between them.
// Requirements: PRV-04
func TestOrderOfTimes(t *testing.T) {
	at := func(second int64, isMoment bool) comparedTime { return comparedTime{time.Unix(second, 0), isMoment} }
	for _, c := range []struct {
		all  []comparedTime
		want []int64
	}{
		{nil, []int64{}},
		{[]comparedTime{at(3, true), at(1, true), at(2, true)}, []int64{0, 0, 0}},
		{[]comparedTime{at(3, true), at(1, true), at(2, false)}, []int64{2, 0, 1}},
		{[]comparedTime{at(3, false), at(1, true), at(2, false)}, []int64{1, 0, 1}},
		{[]comparedTime{at(1, false), at(1, true)}, []int64{1, 0}},
	} {
		assert.SlicesEqual(t, ranksOf(c.all), c.want, c.all)
	}
}

// TestOrderOfVersions: versions are compared within a process and with the store, not with another process.
// Requirements: PRV-04
func TestOrderOfVersions(t *testing.T) {
	all := []writtenVersion{
		{5, "a", podVersions, inStore},
		{3, "a", podVersions, 0},
		{5, "a", podVersions, 0},
		{4, "a", podVersions, 1},
		{2, "", podVersions, 0},
		{4, "b", podVersions, 0},
		{9, "", jobVersions, 0},
	}
	want := [][4]int64{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}, {}, {}, {0, 0, 0, 1}, {}}
	for i, v := range all {
		assert.Equal(t, v.among(all), want[i], v)
	}
}
