package tui

import (
	tea "charm.land/bubbletea/v2"
)

// list is a cursor in n rows, of which some are on the screen.
type list struct {
	cursor, top int
	n, height   int
	// key names the chosen row, so that the cursor stays with it when rows come and go.
	key string
}

// resize says how many rows there are, and how many fit on the screen. keyOf names a row.
func (l *list) resize(n, height int, keyOf func(int) string) {
	l.n, l.height = n, max(1, height)
	if l.key != "" && keyOf != nil && (l.cursor >= n || keyOf(l.cursor) != l.key) {
		for i := range n {
			if keyOf(i) == l.key {
				l.cursor = i
				break
			}
		}
	}
	l.clamp()
	if keyOf != nil && n > 0 {
		l.key = keyOf(l.cursor)
	}
}

// move goes so many rows down, and forgets the name of the row.
func (l *list) move(by int) {
	l.cursor += by
	l.key = ""
	l.clamp()
}

func (l *list) clamp() {
	l.cursor = max(0, min(l.cursor, l.n-1))
	switch {
	case l.cursor < l.top:
		l.top = l.cursor
	case l.cursor >= l.top+l.height:
		l.top = l.cursor - l.height + 1
	}
	l.top = max(0, min(l.top, l.n-l.height))
}

// handle moves by the keys of lists, and says whether it was one.
func (l *list) handle(k tea.KeyPressMsg) bool {
	by, known := stepOf(k, l.n, l.height)
	if known {
		l.move(by)
	}
	return known
}

// stepOf is how many of n rows a key goes down, where height of them are on the screen.
func stepOf(k tea.KeyPressMsg, n, height int) (by int, known bool) {
	page := max(1, height-1)
	switch {
	case matches(k, keyUp):
		return -1, true
	case matches(k, keyDown):
		return 1, true
	case matches(k, keyPageUp):
		return -page, true
	case matches(k, keyPageDown):
		return page, true
	case matches(k, keyTop):
		return -n, true
	case matches(k, keyBottom):
		return n, true
	}
	return 0, false
}
