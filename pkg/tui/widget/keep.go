package widget

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Keep keeps the rows of a table in their places for a while, whatever is sorted by.
type Keep struct {
	// Key names an item, Now is the present, and For is how long rows stay where they are; 0 sorts at once.
	Key func(item int32) string
	Now time.Time
	For time.Duration
}

// Keep sets how long rows stay in their places. It is for the next call of Arrange.
func (t *Table) Keep(k Keep) { t.keep = k }

// places are the places of rows by their names, as they were sorted at a time.
type places struct {
	of    map[string]int
	order order
	at    time.Time
}

// settle puts sorted rows where they were, and new ones behind them, until it is time to sort again or the user chooses
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

// place is where a row was, behind all others for a new one.
func (l *places) place(name string) int {
	if i, known := l.of[name]; known {
		return i
	}
	return math.MaxInt
}
