package widget

import tea "charm.land/bubbletea/v2"

// List is a cursor in a list of rows, some of which are visible.
type List struct {
	Cursor, Top int
	Len, Height int
	// key is the key of the chosen row, so that the cursor stays on it when rows are inserted or removed.
	key string
}

// Resize sets the number of rows, and the number that fits on the screen. keyOf returns the key of a row.
func (l *List) Resize(n, height int, keyOf func(int) string) {
	l.Len, l.Height = n, max(1, height)
	if l.key != "" && keyOf != nil && (l.Cursor >= n || keyOf(l.Cursor) != l.key) {
		for i := range n {
			if keyOf(i) == l.key {
				l.Cursor = i
				break
			}
		}
	}
	l.clamp()
	if keyOf != nil && n > 0 {
		l.key = keyOf(l.Cursor)
	}
}

// Move moves the cursor down by the given number of rows, and resets the key of the row.
func (l *List) Move(by int) {
	l.Cursor += by
	l.key = ""
	l.clamp()
}

func (l *List) clamp() {
	l.Cursor = max(0, min(l.Cursor, l.Len-1))
	switch {
	case l.Cursor < l.Top:
		l.Top = l.Cursor
	case l.Cursor >= l.Top+l.Height:
		l.Top = l.Cursor - l.Height + 1
	}
	l.Top = max(0, min(l.Top, l.Len-l.Height))
}

// Key handles the keys that move the cursor. It returns false for other keys.
func (l *List) Key(k tea.KeyPressMsg) bool {
	by, known := StepOf(k, l.Len, l.Height)
	if known {
		l.Move(by)
	}
	return known
}

// StepOf returns by how many of n rows a key moves down, if height rows are visible.
func StepOf(k tea.KeyPressMsg, n, height int) (by int, known bool) {
	page := max(1, height-1)
	switch {
	case Matches(k, KeyUp):
		return -1, true
	case Matches(k, KeyDown):
		return 1, true
	case Matches(k, KeyPageUp):
		return -page, true
	case Matches(k, KeyPageDown):
		return page, true
	case Matches(k, KeyTop):
		return -n, true
	case Matches(k, KeyBottom):
		return n, true
	}
	return 0, false
}
