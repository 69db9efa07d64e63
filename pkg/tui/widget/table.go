package widget

import (
	"cmp"
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Table shows items as rows that can be filtered and sorted, with a cursor on one of them.
type Table[T any] struct {
	Filter Filter
	// KeepFor is the time for which rows keep their places, so that they do not jump while the user reads them. Keys that
	// change the order or the filter sort at once.
	KeepFor time.Duration

	key    func(*T) string
	orders []layout.Sort[T]
	chosen order
	list   List
	// moved is set when the user has chosen a row other than the first, which then stays chosen in every order.
	moved bool

	// rows are the positions of the visible items, in order. They were computed from source for the order arranged.
	items    []T
	rows     []int32
	source   any
	arranged order
	// places are the places of rows by key since they were sorted for an order.
	places   map[string]int
	placedBy order
	placedAt time.Time
}

// order is the user's choice of rows; by is an index into orders.
type order struct {
	filter   string
	by       int
	reversed bool
}

// NewTable returns a table that can be sorted by these orders and by the columns. The order with the lowest Turn is the first.
// key returns the key of an item, so that the cursor stays on it.
func NewTable[T any](key func(*T) string, columns []layout.Column[T], orders ...layout.Sort[T]) Table[T] {
	for i := range columns {
		if columns[i].Sort.Name != "" {
			orders = append(orders, columns[i].Sort)
		}
	}
	slices.SortStableFunc(orders, func(a, b layout.Sort[T]) int { return cmp.Compare(a.Turn, b.Turn) })
	return Table[T]{key: key, orders: orders}
}

// Key handles the keys that filter, sort, or move the cursor. It returns false for other keys. Unless the user has chosen a
// row, the cursor moves to the first row after a change of the order.
func (t *Table[T]) Key(k tea.KeyPressMsg) (*Question, bool) {
	if q, known := t.Filter.Key(k); known {
		return q, true
	}
	switch {
	case t.list.Key(k):
		t.moved = t.list.Cursor > 0
		return nil, true
	case Matches(k, KeySort):
		t.chosen.by, t.chosen.reversed = (t.chosen.by+1)%len(t.orders), false
	case Matches(k, KeyReverse):
		t.chosen.reversed = !t.chosen.reversed
	default:
		return nil, false
	}
	if !t.moved {
		t.list = List{Len: t.list.Len, Height: t.list.Height}
	}
	return nil, true
}

// Wheel moves the cursor.
func (t *Table[T]) Wheel(lines int) {
	t.list.Move(lines)
	t.moved = t.list.Cursor > 0
}

// Keys returns the given keys for a row, and the keys that filter, sort, and copy.
func (t *Table[T]) Keys(row ...Binding) []Binding {
	return append(append(row, t.Filter.Keys()...), KeySort, KeyReverse, KeyCopy)
}

// Reset has the next call of Arrange sort all rows.
func (t *Table[T]) Reset() { t.source, t.places = nil, nil }

// Arrange filters and sorts the items, unless the rows are up to date for their source, a pointer. shown reports whether an
// item has a row, given the filter. The cursor follows its row.
func (t *Table[T]) Arrange(source any, items []T, now time.Time, shown func(item int32) bool) {
	t.chosen.filter = t.Filter.Text
	if t.source == source && t.arranged == t.chosen {
		return
	}
	t.source, t.arranged, t.items = source, t.chosen, items
	t.rows = make([]int32, 0, len(items))
	for i := range int32(len(items)) { // lists are not that long
		if shown(i) {
			t.rows = append(t.rows, i)
		}
	}

	t.sort(now)
	if t.KeepFor > 0 {
		t.settle(now)
	}
	if t.list.Height > 0 { // It was drawn.
		t.resize(t.list.Height)
	}
}

func (t *Table[T]) resize(height int) {
	t.list.Resize(len(t.rows), height, func(row int) string { return t.key(&t.items[t.rows[row]]) })
}

// sort sorts the rows by the chosen order; among equal items, the first one comes first.
func (t *Table[T]) sort(now time.Time) {
	by, descending := &t.orders[t.chosen.by], t.isDescending()
	if by.Value == nil && by.Compare == nil {
		if t.chosen.reversed {
			slices.Reverse(t.rows)
		}
		return
	}
	values := make([]int64, len(t.items))
	if by.Value != nil {
		for i := range t.items {
			values[i] = by.Value(&t.items[i], now)
		}
	}
	slices.SortFunc(t.rows, func(a, b int32) int {
		c := cmp.Compare(values[a], values[b])
		if c == 0 && by.Compare != nil {
			c = by.Compare(&t.items[a], &t.items[b])
		}
		if descending {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
}

// settle moves sorted rows to their previous places, and new rows to the end, until KeepFor has passed or the user chooses
// another order.
func (t *Table[T]) settle(now time.Time) {
	if since := now.Sub(t.placedAt); t.places != nil && t.placedBy == t.chosen && since >= 0 && since < t.KeepFor {
		place := make([]int, len(t.items))
		for _, i := range t.rows {
			place[i] = math.MaxInt
			if at, known := t.places[t.key(&t.items[i])]; known {
				place[i] = at
			}
		}
		slices.SortStableFunc(t.rows, func(a, b int32) int { return cmp.Compare(place[a], place[b]) })
		return
	}
	t.placedBy, t.placedAt, t.places = t.chosen, now, make(map[string]int, len(t.rows))
	for at, i := range t.rows {
		t.places[t.key(&t.items[i])] = at
	}
}

// Select moves the cursor to the item with this key, once it exists.
func (t *Table[T]) Select(key string) { t.list.key = key }

// Len returns the number of rows.
func (t *Table[T]) Len() int { return len(t.rows) }

// Chosen returns the item under the cursor, or nil if there is none.
func (t *Table[T]) Chosen() *T {
	if t.list.Cursor >= len(t.rows) {
		return nil
	}
	return &t.items[t.rows[t.list.Cursor]]
}

// isDescending reports whether the highest row comes first.
func (t *Table[T]) isDescending() bool { return t.orders[t.chosen.by].Descending != t.chosen.reversed }

// mark returns the mark of the direction: up or down.
func (t *Table[T]) mark(p *Paint) string {
	if t.isDescending() {
		return p.Glyphs.Down
	}
	return p.Glyphs.Up
}

// Marked adds a mark to the header of the column by which the table is sorted.
func (t *Table[T]) Marked(p *Paint, columns []layout.Column[T]) []layout.Column[T] {
	for i := range columns {
		if len(t.orders) > 0 && columns[i].Sort.Name == t.orders[t.chosen.by].Name {
			columns[i].Header += " " + t.mark(p)
		}
	}
	return columns
}

// Title returns a title with counts and the sort order. If there is no room for the counts, they follow on separate lines;
// otherwise, colon separates them from the title.
func (t *Table[T]) Title(p *Paint, title layout.Line, colon string, counts layout.Line) []layout.Line {
	parts := make([]layout.Line, len(counts))
	for i := range counts {
		parts[i] = counts[i : i+1]
	}
	by := layout.Of(layout.Text(layout.Muted, "  by "+t.orders[t.chosen.by].Name+" "+t.mark(p))) // The column may be hidden.
	rows := layout.Flow(parts, p.Width, 2)
	if len(rows) == 1 && title.Width()+len(colon)+rows[0].Width()+by.Width() <= p.Width {
		title = append(append(title, layout.Text(layout.Muted, colon)), rows[0]...)
		rows = nil
	}
	return append([]layout.Line{layout.Spread(p.Width, title, by, p.Glyphs.Ellipsis)}, rows...)
}

// Lines returns the header and as many rows as fit.
func (t *Table[T]) Lines(p *Paint, columns []layout.Column[T]) []layout.Line {
	t.resize(p.Height - 1)
	first, end := Rows(len(t.rows), t.list.Top, t.list.Height)
	header, lines := layout.TableAt(columns, t.items, t.rows[first:end]).Lines(p.Width-CursorWidth, p.Glyphs.Ellipsis)
	out := []layout.Line{header.Indent(CursorWidth)}
	for i, l := range lines {
		out = append(out, Row(p, l, first+i == t.list.Cursor))
	}
	return out
}

// CursorWidth is the width of the cursor before rows.
const CursorWidth = 2

// Row prepends the cursor to a row of a table, or blanks of the same width.
func Row(p *Paint, l layout.Line, chosen bool) layout.Line {
	if !chosen {
		return l.Indent(CursorWidth)
	}
	return append(layout.Of(layout.Text(layout.Accent|layout.Bold, p.Glyphs.Cursor), layout.Blank(1)), l.With(layout.Bold)...)
}
