package widget

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Keep configures how long the rows of a table keep their places, whatever the sort order.
type Keep struct {
	// Key returns the key of an item, Now is the current time, and For is how long rows keep their places; 0 sorts at once.
	Key func(item int32) string
	Now time.Time
	For time.Duration
}

// Keep sets how long rows keep their places. It applies to the next call of Arrange.
func (t *Table) Keep(k Keep) { t.keep = k }

// places are the places of rows by key, as of the last sort.
type places struct {
	of    map[string]int
	order order
	at    time.Time
}

// settle moves sorted rows to their previous places, and new rows to the end, until For has passed or the user chooses
// another order.
func (l *places) settle(rows []int32, chosen order, keep *Keep) {
	if keep.For <= 0 {
		return
	}
	if since := keep.Now.Sub(l.at); l.of != nil && l.order == chosen && since >= 0 && since < keep.For {
		slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(l.place(keep.Key(a)), l.place(keep.Key(b))) })
		return
	}
	l.order, l.at, l.of = chosen, keep.Now, make(map[string]int, len(rows))
	for i, item := range rows {
		l.of[keep.Key(item)] = i
	}
}

// place returns the previous place of a row; new rows come last.
func (l *places) place(name string) int {
	if i, known := l.of[name]; known {
		return i
	}
	return math.MaxInt
}
