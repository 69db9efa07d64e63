package widget

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Table shows items as rows that can be filtered and sorted, with a cursor on one of them.
type Table struct {
	Filter  Filter
	Sorting Sorting
	list    List
	// rows are the indexes of the visible items, in order.
	rows []int32
	// arranged is the input from which rows were computed.
	arranged struct {
		items any
		order order
	}
	// Hidden reports whether an item has no row, independently of the filter; nil if no item is hidden. Hiding identifies the
	// behavior of Hidden, so that rows are computed again when it changes.
	Hidden func(item int32) bool
	Hiding string
	keep   Keep
	places places
}

// order is the user's choice.
type order struct {
	filter   string
	hiding   string
	by       int
	reversed bool
}

// Key handles the keys that filter, sort, or move the cursor. It returns false for other keys.
func (t *Table) Key(k tea.KeyPressMsg) (*Question, bool) {
	if q, known := t.Filter.Key(k); known {
		return q, true
	}
	return nil, t.Sorting.key(k, &t.list)
}

// Wheel moves the cursor.
func (t *Table) Wheel(lines int) { t.Sorting.wheel(lines, &t.list) }

// Keys returns the given keys for a row, and the keys that filter, sort, and copy.
func (t *Table) Keys(row ...Binding) []Binding {
	return append(append(row, t.Filter.Keys()...), KeySort, KeyReverse, KeyCopy)
}

// Arrange filters and sorts n items, unless the rows are up to date for items, a pointer that identifies their source.
// compare returns the comparison for the chosen order, or nil to keep the order of the items.
func (t *Table) Arrange(items any, n int, matches func(item int32) bool, compare func() func(a, b int32) int) {
	now := t.arranged
	now.items, now.order = items, order{filter: t.Filter.Text, hiding: t.Hiding, by: t.Sorting.By, reversed: t.Sorting.Reversed}
	if now == t.arranged {
		return
	}
	t.arranged = now
	t.rows = make([]int32, 0, n)
	for i := range int32(n) {
		if (t.Hidden == nil || !t.Hidden(i)) && (!t.Filter.IsSet() || matches(i)) {
			t.rows = append(t.rows, i)
		}
	}
	t.Sorting.sort(t.rows, compare())
	t.places.settle(t.rows, now.order, &t.keep)
}

// Select moves the cursor to the item with this key, once it exists.
func (t *Table) Select(key string) { t.list.key = key }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Chosen returns the item under the cursor, or -1 if there is none.
func (t *Table) Chosen() int32 {
	if t.list.Cursor >= len(t.rows) {
		return -1
	}
	return t.rows[t.list.Cursor]
}

// Lines returns the header and as many rows as fit. keyOf returns the key of an item, so that the cursor stays on it.
func (t *Table) Lines(p *Paint, columns []layout.Column, keyOf func(item int32) string, cells func(item int32) []layout.Line) []layout.Line {
	t.list.Resize(len(t.rows), p.Height-1, func(row int) string { return keyOf(t.rows[row]) })
	first, end := Rows(len(t.rows), t.list.Top, t.list.Height)
	all := make([][]layout.Line, 0, end-first)
	for _, item := range t.rows[first:end] {
		all = append(all, cells(item))
	}
	header, lines := layout.Table(columns, all, p.Width-CursorWidth, p.Glyphs.Ellipsis)
	out := []layout.Line{header.Indent(CursorWidth)}
	for i, l := range lines {
		out = append(out, Row(p, l, first+i == t.list.Cursor))
	}
	return out
}

// Present returns the columns, or the cells of a row, for which has returns true.
func Present[T any](all []T, has func(column int) bool) []T {
	out := all[:0]
	for i, c := range all {
		if has(i) {
			out = append(out, c)
		}
	}
	return out
}
