package canvas

import "strings"

// Wrap breaks a line at spaces so that no part is wider than width; parts after the first
// are indented by hang. A word that is wider than a line is broken anywhere.
func Wrap(line Line, width, hang int) []Line {
	width = max(width, 1)
	if hang >= width {
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
	if text[0] == ' ' {
		return text[:len(text)-len(strings.TrimLeft(text, " "))]
	}
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i]
	}
	return text
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
	if s.text[0] != ' ' {
		w.word, w.wordWidth = append(w.word, s), w.wordWidth+s.width
		return
	}
	w.flush()
	if w.used == 0 && len(w.out) > 0 {
		return // Spaces at a break are dropped.
	}
	w.line, w.used = append(w.line, s), w.used+s.width
}

// flush places the collected word.
func (w *wrapper) flush() {
	if w.wordWidth == 0 {
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
		if head.width == 0 && w.used == 0 {
			break // A rune wider than the line.
		}
		w.line, w.used = append(w.line, head), w.used+head.width
		w.next()
	}
	w.line, w.used = append(w.line, s), w.used+s.width
}

// split cuts after at most width columns.
func (s Span) split(width int) (head, rest Span) {
	columns := 0
	for i, r := range s.text {
		n := Width(string(r))
		if columns+n > width {
			head = Span{text: s.text[:i], style: s.style, width: columns}
			return head, Span{text: s.text[i:], style: s.style, width: Width(s.text[i:])}
		}
		columns += n
	}
	return s, Span{style: s.style}
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
	if w.used > 0 || len(w.out) == 0 {
		w.out = append(w.out, w.finished())
	}
	return w.out
}
