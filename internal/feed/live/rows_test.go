package live

import (
	"fmt"
	"testing"
)

// Rows are found by name whatever was removed.
func TestRowsAreFoundAfterRemovals(t *testing.T) {
	rows := newRows[int]()
	for i := range 10 {
		rows.put(fmt.Sprint(i), i)
	}
	for _, name := range []string{"0", "9", "4", "4", "none"} {
		rows.remove(name)
	}
	rows.put("5", 50)
	for i, want := range []int{-1, 1, 2, 3, -1, 50, 6, 7, 8, -1} {
		if got, known := rows.get(fmt.Sprint(i)); known != (want >= 0) || known && got != want {
			t.Errorf("%d: %v, want %d", i, got, want)
		}
	}
	if len(rows.rows) != 7 || len(rows.names) != 7 || len(rows.at) != 7 {
		t.Errorf("%d rows", len(rows.rows))
	}
}
