package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6: the map in every size and look, small and huge.
func TestMapFitsEverySize(t *testing.T) {
	goldens(t, "indexes.every-state", withIndexes(t, everyState()), nil, "2", "n")
	goldens(t, "indexes.huge", withIndexes(t, huge()), nil, "2", "n")
	goldens(t, "indexes.zoomed", withIndexes(t, huge()), nil, "2", "n", "enter", "enter", "enter", "enter", "down")
}

// withIndexes returns a running Job with these indexes.
func withIndexes(t testing.TB, x *explain.Indexes) *snapshot.Snapshot {
	s := load(t, "running-success-policy")
	r := s.Job.Report
	r.Indexes, r.Pods, r.SuccessPolicy = x, nil, nil
	r.Job.Completions, r.Counts = &x.Total, explain.Counts{}
	return s
}

func everyState() *explain.Indexes {
	return &explain.Indexes{
		Total: 300, Completed: "0-99,110-119", Failed: "105,231", Active: "120-139", Ready: "125-135", Terminating: "140-144", BackingOff: "150,152",
		Unknown: "160,161", OutOfRange: "310-312", Pending: "100-104,106-109,145-149,151,153-159,162-230,232-299",
		Details: []explain.IndexInfo{{Index: 105, State: explain.IndexFailed, Attempt: 3, Attempts: 3, Failures: 3, Ignored: 1, Pod: "train-105-abcde", Cause: "container main exited with code 1"}},
	}
}

// huge returns 100,000 indexes: a third completed, a few with problems.
func huge() *explain.Indexes {
	return &explain.Indexes{
		Total: 100_000, Completed: "0-7,9-32999,34000-34999", CompletedCount: 33_999, Failed: "8,52100", Active: "33000-33099", BackingOff: "33500",
		Pending: "33100-33499,33501-33999,35000-52099,52101-99999",
	}
}

// at returns the index or indexes under the cursor.
func (b *testbed) at() string {
	b.t.Helper()
	for line := range strings.SplitSeq(b.picture(), "\n") {
		if strings.HasPrefix(line, "Index ") || strings.HasPrefix(line, "Indexes ") {
			words := strings.Fields(line)
			if words[0] == "Indexes" {
				return words[1] + "-" + words[3]
			}
			return words[1]
		}
	}
	b.t.Fatalf("no cursor:\n%s", b.picture())
	return ""
}

// Issue 6: the cursor moves by arrows, hjkl and page keys, and stays on the map.
func TestCursorStaysOnTheMap(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"", "0"}, {"right", "1"}, {"l l", "2"}, {"l l h", "1"}, {"l left left left", "0"},
		// 80 columns have room for 30 indexes with spaces between them.
		{"down", "30"}, {"j j", "60"}, {"j j k", "30"}, {"up", "0"}, {"l down up", "1"},
		{"G", "312"}, {"end", "312"}, {"G g", "0"}, {"G home", "0"}, {"G right", "312"}, {"G left left left", "299"},
		{"pgdown", "310"}, {"f f", "312"}, {"G pgup", "2"}, {"G b b", "0"},
		{"n", "105"}, {"n n", "140"}, {"n n n n n n n", "150"}, {"N", "312"}, {"N N N N", "231"}, {"n N", "312"},
		{"G a", "312"}, {"/ 4 2 enter", "42"}, {"/ 3 1 0 enter", "310"}, {"/ 4 2 esc", "0"}, {"/ enter", "0"}, {"/ space 7 enter", "7"},
		{"+", "0"}, {"-", "0"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			b := open(t, withIndexes(t, everyState()), size{80, 24}, nil, "2")
			b.press(strings.Fields(c.keys)...)
			assert.Equalf(t, b.at(), c.want, "the cursor in %s", b.picture())
		})
	}
}

// Issue 6: zooming in shows fewer indexes per cell, around the cursor; enter does the same until the cell is a single index,
// which it opens.
func TestZoomKeepsTheCursor(t *testing.T) {
	b := open(t, withIndexes(t, huge()), size{80, 24}, nil, "2")
	shows(b, "100,000 indexes  200 indexes per cell", "■ 33,999 completed", "▪ partly completed")
	b.press("/", "5", "2", "1", "0", "0", "enter")
	assert.Equal(t, b.at(), "52000-52199")
	shows(b, "✗ 1 failed", "failed        52100")
	for _, want := range []struct{ key, at, per string }{
		{"+", "52100-52199", "100 indexes per cell"}, {"-", "52000-52199", "200 indexes per cell"}, {"-", "52000-52199", "200 indexes per cell"},
		{"enter", "52100-52199", "100 indexes per cell"}, {"=", "52100-52149", "50 indexes"}, {"+", "52100-52119", "20 indexes"}, {"+", "52100-52109", "10 indexes"},
		{"+", "52100-52104", "5 indexes"}, {"enter", "52100-52101", "2 indexes"}, {"enter", "52100", "1 index per cell"}, {"+", "52100", "1 index per cell"},
		{"_", "52100-52101", "2 indexes per cell"}, {"a", "52000-52199", "200 indexes per cell"},
	} {
		b.press(want.key)
		assert.Equalf(t, b.at(), want.at, "%s: the cursor is at", want.key)
		shows(b, want.per)
	}
	b.press("+", "+", "+", "+", "+", "+", "+")
	shows(b, "rows ")
	b.press("enter")
	if f := b.focus.looked; f.Job.Name == "" && len(b.screens.open) < 2 {
		t.Error("enter opened nothing")
	}
	assert.Equal(t, len(b.screens.open), 2, "screens")
}

// The cursor stays on its index when a Snapshot arrives and when the terminal is resized.
func TestIndexesCursorStays(t *testing.T) {
	s := withIndexes(t, everyState())
	b := open(t, s, size{80, 24}, nil, "2", "/", "2", "3", "1", "enter")
	for _, at := range append([]size{{20, 4}, {200, 60}, {33, 9}}, sizes...) {
		b.send(tea.WindowSizeMsg{Width: at.width, Height: at.height})
		checkFrame(t, b, at)
	}
	assert.Equal(t, b.at(), "231")
	next := withIndexes(t, &explain.Indexes{Total: 5000, Completed: "0-230", Failed: "231"})
	b.news(next, nil)
	b.send(tea.WindowSizeMsg{Width: 160, Height: 50})
	if b.at() != "231" && b.at() != "230-231" {
		t.Error(b.at())
	}
	b.news(withIndexes(t, &explain.Indexes{Total: 10}), nil)
	assert.Equal(t, b.at(), "9", "the Job was scaled down, and the cursor is at")
	b.news(withIndexes(t, everyState()), nil)
	assert.Equal(t, b.at(), "231", "the Job was scaled up again, and the cursor is at")
}

// The wheel scrolls the map without the cursor; the next key scrolls back to the cursor.
func TestWheelScrollsTheMap(t *testing.T) {
	b := open(t, withIndexes(t, huge()), size{80, 24}, nil, "2", "+", "+")
	shows(b, "rows 1 to 1")
	wheel := func(button tea.MouseButton) { b.send(tea.MouseWheelMsg{Button: button}) }
	wheel(tea.MouseWheelDown)
	shows(b, "rows 4 to 1")
	assert.Equal(t, b.at(), "0-49")
	wheel(tea.MouseWheelUp)
	wheel(tea.MouseWheelUp)
	shows(b, "rows 1 to 1")
	for range 50 {
		wheel(tea.MouseWheelDown)
	}
	shows(b, "of 34")
	b.press("right")
	shows(b, "rows 1 to 1")
}

// The last line explains an action that is not possible, and gives the valid values.
func TestLastLineExplainsImpossibleActions(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"/ 9 9 9 enter", `"999" is not on the map: type an index from 0 to 312`},
		{"/ x enter", `"x" is not on the map: type an index from 0 to 312`},
		{"/ - 1 enter", `"-1" is not on the map`},
		{"/ 3 0 5 enter", `"305" is not on the map`},
		{"N n", "continued from the first index"},
		{"n N", "continued from the last index"},
	} {
		b := open(t, withIndexes(t, everyState()), size{80, 24}, nil, "2")
		b.press(strings.Fields(c.keys)...)
		shows(b, c.want)
	}
	b := open(t, withIndexes(t, &explain.Indexes{Total: 5, Completed: "0-4"}), size{80, 24}, nil, "2", "n")
	shows(b, "no index is failed, in back-off, terminating or unknown")
	b = open(t, withIndexes(t, &explain.Indexes{Total: 5, Failed: "3"}), size{80, 24}, nil, "2", "n", "n")
	shows(b, "no other cell needs attention")
}

// Issue 6: the detail of an index has its state, attempt, failures, back-off, pod and cause.
func TestIndexDetailHasStateAndCause(t *testing.T) {
	b := open(t, load(t, "index-backoff"), size{80, 24}, nil, "2", "n")
	shows(b, "Index 2  ↻ in back-off  attempt 1 of 4", "1 against the limit · next pod in 8s", "index-backoff-2-gpfq2 · Error", "last failure  Container main exited with code 1")
	b.later(3e9)
	shows(b, "next pod in 5s")
	b = open(t, withIndexes(t, everyState()), size{80, 24}, nil, "2", "n")
	shows(b, "Index 105  ✗ failed  attempt 3 of 3", "3 against the limit · 1 ignored", "train-105-abcde")
	b.press("g")
	shows(b, "Index 0  ■ completed", "pod           none")
}

// A Job without indexes has no map, and the keys of the map do nothing.
func TestJobWithoutIndexesHasNoMap(t *testing.T) {
	for _, s := range []*snapshot.Snapshot{load(t, "work-queue"), withIndexes(t, &explain.Indexes{})} {
		b := open(t, s, size{80, 24}, nil, "2")
		shows(b, "This Job has no indexes")
		hides(b, "zoom")
		before, _, _ := strings.Cut(b.picture(), "e explain")
		for _, key := range strings.Fields("n N + - 0 / enter up down g G pgup pgdown") {
			b.press(key)
			if got := b.picture(); !strings.HasPrefix(got, before) {
				t.Fatalf("%s changes the screen:\n%s", key, got)
			}
		}
		b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	}
	b := open(t, load(t, "work-queue"), size{80, 24}, nil, "2")
	shows(b, "completionMode NonIndexed", "3  Succeeded")
}

// Issue 17: the map distinguishes why indexes have no pod, in the words of the report.
func TestMapNamesWhyIndexesWait(t *testing.T) {
	waits := &explain.Indexes{Total: 3, Completed: "0", CompletedCount: 1, Pending: "1-2", PendingCount: 2, Retrying: "1", RetryingCount: 1, NotStarted: "2", NotStartedCount: 1}
	ends := &explain.Indexes{Total: 3, Completed: "0", CompletedCount: 1, Pending: "1-2", PendingCount: 2, WillNotComplete: "1-2", WillNotCompleteCount: 2}
	shows(open(t, withIndexes(t, waits), size{80, 24}, nil), "■ 1 completed", "· 1 not started", "↺ 1 waiting to retry", "0 ■ ↺ ·")
	shows(open(t, withIndexes(t, ends), size{80, 24}, nil), "· 2 will not complete")
	shows(open(t, withIndexes(t, waits), size{80, 24}, func(o *Options) { o.ASCII = true }), ". 1 not started", "r 1 waiting to retry", "0 # r .")
	for state := range indexmap.States {
		for other := range state {
			for _, ascii := range []bool{false, true} {
				if indexmap.Mark(state).Glyph(ascii) == indexmap.Mark(other).Glyph(ascii) {
					t.Errorf("%s and %s look the same", state.Word(), other.Word())
				}
			}
		}
	}
}

// The number of indexes on the map is limited, and the map says so.
func TestMapCountsTheIndexesNotOnIt(t *testing.T) {
	b := open(t, withIndexes(t, &explain.Indexes{Total: 1<<31 - 1, PendingCount: 1<<31 - 1}), size{80, 24}, nil)
	shows(b, "The first 1,048,576 of 2,147,483,647 indexes", "2,147,483,647 not started")
	b.press("2", "G")
	shows(b, "The first 1,048,576 of 2,147,483,647 indexes", "Indexes 1048000 to 1048575  576 in this cell")
}

// Issue 6.2: the heading counts the indexes of the Job, and separately those out of range.
func TestIndexesHeadingCountsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		x    explain.Indexes
		want string
	}{
		{explain.Indexes{Total: 12, OutOfRange: "12-29"}, "12 indexes, 18 out of range  1 index per cell"},
		{explain.Indexes{Total: 1, OutOfRange: "3"}, "1 index, 1 out of range"},
		{explain.Indexes{Total: 1}, "1 index  1 index per cell"},
		{explain.Indexes{Total: 0, OutOfRange: "3-4"}, "0 indexes, 2 out of range"},
	} {
		b := open(t, withIndexes(t, &c.x), size{80, 24}, nil, "2")
		shows(b, c.want)
	}
}

// Issue 6.2: at the limits of zooming, the last line says why nothing changes.
func TestZoomOfIndexesExplainsItsLimits(t *testing.T) {
	b := open(t, withIndexes(t, huge()), size{80, 24}, nil)
	const closest, all = "each cell is one index already: enter opens it", "all indexes are on the screen already"
	b.press("2", "-")
	shows(b, all, "200 indexes per cell")
	b.press("+")
	hides(b, all, closest)
	b.press("-")
	hides(b, all)
	b.press("+", "+", "+", "+", "+", "+", "+")
	hides(b, closest)
	shows(b, "1 index per cell")
	b.press("+")
	shows(b, closest)
	b.press("-")
	shows(b, "2 indexes per cell")
}

// Issue 6.2: the table says how to see the indexes that do not fit.
func TestIndexesTableNamesTheKeyForTheRest(t *testing.T) {
	x := &explain.Indexes{Total: 40, Failed: "0-19", FailedCount: 20}
	for i := range int32(20) {
		x.Details = append(x.Details, explain.IndexInfo{Index: i, State: explain.IndexFailed, Failures: 1})
	}
	b := open(t, withIndexes(t, x), size{80, 24}, nil, "2")
	shows(b, " of 20 indexes: n shows the next")
	b = open(t, withIndexes(t, x), size{80, 60}, nil, "2")
	shows(b, "20 indexes")
	hides(b, "shows the next")
}
