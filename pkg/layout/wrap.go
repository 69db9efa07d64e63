package layout

import "strings"

// widest is the maximum number of columns of a character.
const widest = 2

// Wrap breaks a line at spaces so that no part is wider than width; parts after the first are indented by hang. A word
// that is wider than a line is broken after a comma if possible, otherwise between any two characters. Only spaces are
// removed. A width below 2, too narrow for some characters, counts as 2.
func Wrap(line Line, width, hang int) []Line {
	width = max(width, widest)
	if hang < 0 || hang > width-widest {
		hang = 0
	}
	lines := wrap(line, width, width-hang)
	for i := 1; i < len(lines); i++ {
		lines[i] = lines[i].Indent(hang)
	}
	return lines
}

// wrap breaks a line into a first part of at most first columns, and further parts of at most rest columns.
func wrap(line Line, first, rest int) []Line {
	w := wrapper{room: first, rest: rest}
	for _, s := range line {
		for text := s.text; text != ""; {
			word := nextWord(text)
			text = text[len(word):]
			w.put(Span{text: word, style: s.style, width: Width(word)})
		}
	}
	w.flush()
	return append(w.out, w.finished())
}

// nextWord returns the leading spaces of text, or its first word.
func nextWord(text string) string {
	inSpaces := isSpace(text, 0)
	for i := range len(text) {
		if isSpace(text, i) != inSpaces {
			return text[:i]
		}
	}
	return text
}

// isSpace reports whether there is a space at i that is not the base of a combining mark.
func isSpace(text string, i int) bool { return text[i] == ' ' && !joinsBefore(text[i+1:]) }

type wrapper struct {
	// room is the width of the current line, rest the width of the following ones.
	room, rest int
	out        []Line
	line       Line
	used       int
	// word holds the spans of a word so far, which stay together.
	word      Line
	wordWidth int
}

func (w *wrapper) put(s Span) {
	if !isSpace(s.text, 0) {
		w.word, w.wordWidth = append(w.word, s), w.wordWidth+s.width
		return
	}
	w.flush()
	w.line, w.used = append(w.line, s), w.used+s.width
}

// flush writes the collected word, on the next line if it fits only there. A word that must be broken starts on this
// line if more than half of the line is free.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	fits := w.used+w.wordWidth <= w.room
	if !fits && w.used > 0 && (w.wordWidth <= w.rest || w.used+w.rest/2 >= w.room) {
		w.next()
	}
	for _, s := range w.word {
		w.place(s)
	}
	w.word, w.wordWidth = nil, 0
}

// place writes a span, broken as often as needed.
func (w *wrapper) place(s Span) {
	for w.used+s.width > w.room {
		head, tail := s.split(w.room - w.used)
		if head.text == "" && w.used == 0 {
			break // A character that is wider than any line.
		}
		if comma := strings.LastIndexByte(head.text, ',') + 1; comma > 0 && !joinsBefore(s.text[comma:]) {
			head, tail = s.at(comma)
		}
		if head.text != "" {
			w.line = append(w.line, head)
		}
		s = tail
		w.next()
	}
	w.line, w.used = append(w.line, s), w.used+s.width
}

func (w *wrapper) next() {
	w.out = append(w.out, w.finished())
	w.line, w.used, w.room = nil, 0, w.rest
}

// finished returns the line without trailing spaces.
func (w *wrapper) finished() Line { return w.line.trimRight() }
