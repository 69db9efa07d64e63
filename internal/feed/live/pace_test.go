package live

import (
	"testing"
	"time"
)

// Issue 6: at most ten Snapshots a second, and reports use at most an eighth of the time.
func TestSnapshotsKeepTheirPace(t *testing.T) {
	at := func(ms int) time.Time { return testNow().Add(time.Duration(ms) * time.Millisecond) }
	made := func(reported, took int) pace {
		return pace{made: at(0), reported: at(reported), took: time.Duration(took) * time.Millisecond}
	}
	for _, c := range []struct {
		name string
		pace pace
		need need
		want time.Time
	}{
		{"the first is made at once", pace{}, need{}, time.Time{}},
		{"nothing to do", made(0, 1), need{}, at(30_000)},
		{"a list with Jobs that run", made(0, 1), need{ticks: true}, at(1000)},
		{"a line of a log", made(0, 500), need{view: true}, at(100)},
		{"the first report waits for nothing", made(-10, 500), need{first: true}, at(100)},
		{"a cheap report, after a change", made(0, 1), need{facts: true}, at(100)},
		{"a report of 50 ms, after a change", made(0, 50), need{facts: true}, at(400)},
		{"a report of 500 ms, after a change", made(-20, 500), need{facts: true}, at(3980)},
		{"and a line of a log meanwhile", made(-20, 500), need{facts: true, view: true}, at(100)},
		{"only time passes", made(0, 1), need{clock: true}, at(1000)},
		{"only time passes, since a part of a second", made(300, 1), need{clock: true}, at(1000)},
		{"only time passes, a report of 500 ms", made(0, 500), need{clock: true}, at(10_000)},
	} {
		if got := c.pace.due(c.need); !got.Equal(c.want) {
			t.Errorf("%s: after %s, want %s", c.name, got.Sub(at(0)), c.want.Sub(at(0)))
		}
	}
}
