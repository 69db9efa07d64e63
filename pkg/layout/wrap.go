package layout

import (
	"strings"
	"unicode/utf8"
)

// widest is how many columns a character takes at most.
const widest = 2

// Wrap breaks a line at spaces so that no part is wider than width; parts after the first
// are indented by hang. A word that is wider than a line is broken anywhere between
// characters. Nothing but spaces is left out. A width below 2, which not every character
// fits, is taken for 2.
func Wrap(line Line, width, hang int) []Line {
	width = max(width, widest)
	if hang < 0 || hang > width-widest {
		hang = 0
	}
	w := wrapper{width: width, hang: hang}
	for _, s := range line {
		for rest := s.text; rest != ""; {
			word := nextWord(rest)
			rest = rest[len(word):]
			w.put(Span{text: word, style: s.style, width: Width(word)})
		}
	}
	return w.end()
}

// nextWord is the text up to the end of its first word, or its leading spaces.
func nextWord(text string) string {
	inSpaces := isSpace(text, 0)
	for i := range len(text) {
		if isSpace(text, i) != inSpaces {
			return text[:i]
		}
	}
	return text
}

// isSpace says that a space stands at i, which no mark behind it has made a character.
func isSpace(text string, i int) bool {
	return text[i] == ' ' && (i+1 == len(text) || text[i+1] < utf8.RuneSelf || !joinsBefore(text[i+1:]))
}

type wrapper struct {
	width, hang int
	out         []Line
	line        Line
	used        int
	// word are the pieces of a word that goes on without a space; they stay together.
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

// flush places the collected word.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	if w.used+w.wordWidth > w.room() && w.used > 0 {
		w.next()
	}
	for _, s := range w.word {
		w.place(s)
	}
	w.word, w.wordWidth = nil, 0
}

// place puts a piece on the line, and breaks it where it must.
func (w *wrapper) place(s Span) {
	for w.used+s.width > w.room() {
		var head Span
		head, s = s.split(w.room() - w.used)
		if head.text == "" && w.used == 0 {
			break // A character that fits no line.
		}
		if head.text != "" {
			w.line, w.used = append(w.line, head), w.used+head.width
		}
		w.next()
	}
	w.line, w.used = append(w.line, s), w.used+s.width
}

func (w *wrapper) room() int {
	if len(w.out) == 0 {
		return w.width
	}
	return w.width - w.hang
}

func (w *wrapper) next() {
	w.out = append(w.out, w.finished())
	w.line, w.used = nil, 0
}

// finished is the line without spaces at its end, indented.
func (w *wrapper) finished() Line {
	l := w.line
	for len(l) > 0 && strings.TrimRight(l[len(l)-1].text, " ") == "" {
		l = l[:len(l)-1]
	}
	if len(w.out) == 0 {
		return l
	}
	return l.Indent(w.hang)
}

func (w *wrapper) end() []Line {
	w.flush()
	if len(w.line) > 0 || len(w.out) == 0 {
		w.out = append(w.out, w.finished())
	}
	return w.out
}
