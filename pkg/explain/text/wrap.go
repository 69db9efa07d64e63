package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// word is what is not broken unless it is wider than a line: spans without spaces, behind
// so many spaces.
type word struct {
	spans  line
	width  int
	spaces int
}

// wrap breaks spans into lines of at most first and then rest columns; 0 is one line. What
// it returns is safe.
func (p *page) wrap(spans []span, first, rest int) []line {
	clean := make(line, len(spans))
	for i, s := range spans {
		clean[i] = span{text: p.clean(s.text), style: s.style}
	}
	if rest == 0 {
		return []line{clean}
	}
	w := wrapper{room: first, rest: rest}
	for _, word := range words(clean) {
		w.add(word)
	}
	return append(w.lines, w.line)
}

// wrapper fills lines with words.
type wrapper struct {
	lines      []line
	line       line
	used       int
	room, rest int
}

func (w *wrapper) add(next word) {
	// Spaces are kept at the beginning of the first line only: there they are an indent.
	begins := w.used == 0 && len(w.lines) > 0
	if begins {
		next.spaces = 0
	}
	switch {
	case w.used+next.spaces+next.width <= w.room:
		w.put(next)
	case next.width <= w.rest && w.used > 0:
		w.newLine()
		w.add(next)
	default:
		w.addLong(next)
	}
}

// addLong breaks a word that fits on no line, after a comma if it has one.
func (w *wrapper) addLong(next word) {
	if w.used > 0 && w.used+next.spaces+w.rest/2 > w.room {
		w.newLine()
		next.spaces = 0
	}
	next.spaces = min(next.spaces, w.room/2)
	w.line = append(w.line, plain(strings.Repeat(" ", next.spaces)))
	w.used += next.spaces
	for _, s := range next.spans {
		for s.text != "" {
			if w.used >= w.room {
				w.newLine()
			}
			head, tail := cut(s.text, w.room-w.used)
			w.line = append(w.line, span{text: head, style: s.style})
			w.used += columns(head)
			s.text = tail
			if tail != "" {
				w.newLine()
			}
		}
	}
}

func (w *wrapper) put(next word) {
	if next.spaces > 0 {
		w.line = append(w.line, span{text: strings.Repeat(" ", next.spaces), style: w.spaceStyle(next)})
	}
	w.line = append(w.line, next.spans...)
	w.used += next.spaces + next.width
}

// spaceStyle lets words of one style be one span.
func (w *wrapper) spaceStyle(next word) Style {
	if len(w.line) > 0 && len(next.spans) > 0 && w.line[len(w.line)-1].style == next.spans[0].style {
		return next.spans[0].style
	}
	return Plain
}

func (w *wrapper) newLine() {
	w.lines = append(w.lines, w.line)
	w.line, w.used, w.room = nil, 0, w.rest
}

// words splits safe spans at spaces.
func words(spans line) []word {
	var all []word
	current := word{}
	for _, s := range spans {
		for s.text != "" {
			space := strings.IndexByte(s.text, ' ')
			if space == 0 {
				if len(current.spans) > 0 {
					all = append(all, current)
					current = word{}
				}
				current.spaces++
				s.text = s.text[1:]
				continue
			}
			if space < 0 {
				space = len(s.text)
			}
			piece := s.text[:space]
			current.spans = append(current.spans, span{text: piece, style: s.style})
			current.width += columns(piece)
			s.text = s.text[space:]
		}
	}
	if len(current.spans) > 0 {
		all = append(all, current)
	}
	return all
}

// cut takes as much of s as fits into room, at least one rune, up to its last comma there.
func cut(s string, room int) (head, tail string) {
	end, used, comma := 0, 0, 0
	for end < len(s) {
		cluster, width := character(s[end:])
		if used+width > room && end > 0 {
			if comma > 0 {
				end = comma
			}
			return s[:end], s[end:]
		}
		end += len(cluster)
		used += width
		if cluster == "," {
			comma = end
		}
	}
	return s, ""
}

// characterLimit is the most bytes that are taken for one character with its marks.
const characterLimit = 64

// character is the first one of s, with its marks, and its width.
func character(s string) (first string, width int) {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return s[:1], 1 // marks are not ASCII
	}
	if len(s) > characterLimit {
		end := characterLimit
		for end > characterLimit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
}

// columns is how wide safe text is.
func columns(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// crop cuts safe text to so many columns, with a mark at its end.
func crop(s string, width int, mark string) string {
	if columns(s) <= width {
		return s
	}
	head, _ := cutPlain(s, width-columns(mark))
	return head + mark
}

// cropMiddle keeps the end too: names of pods differ there.
func cropMiddle(s string, width int, mark string) string {
	total := columns(s)
	if total <= width || width < 2*columns(mark)+4 {
		return crop(s, width, mark)
	}
	right := (width - columns(mark)) / 2
	head, _ := cutPlain(s, width-columns(mark)-right)
	_, tail := cutPlain(s, total-right)
	return head + mark + tail
}

// cutPlain is cut without a liking for commas.
func cutPlain(s string, room int) (head, tail string) {
	end, used := 0, 0
	for end < len(s) {
		cluster, width := character(s[end:])
		if used+width > room {
			break
		}
		end += len(cluster)
		used += width
	}
	return s[:end], s[end:]
}
