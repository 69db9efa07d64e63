package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// filter chooses rows or lines by words: all of them must occur, whatever their case, and
// those after "!" must not.
type filter struct {
	text       string
	have, lack []string
}

var (
	//nolint:gochecknoglobals // constants, as those of the key map
	keyClear = bind("esc", "clear the filter", "esc")
)

func (f *filter) set(text string) {
	*f = filter{text: text}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		switch inverted, is := strings.CutPrefix(word, "!"); {
		case !is:
			f.have = append(f.have, word)
		case inverted != "":
			f.lack = append(f.lack, inverted)
		}
	}
}

// on says that it chooses at all.
func (f *filter) on() bool { return len(f.have)+len(f.lack) > 0 }

// chooses says that the texts of a row are chosen: each word is looked for in each of them.
func (f *filter) chooses(texts ...string) bool {
	for _, word := range f.have {
		if !oneHas(texts, word) {
			return false
		}
	}
	for _, word := range f.lack {
		if oneHas(texts, word) {
			return false
		}
	}
	return true
}

func oneHas(texts []string, word string) bool {
	for _, text := range texts {
		if hasFolded(text, word) {
			return true
		}
	}
	return false
}

// hasFolded says that a word in lower case occurs in a text, whatever its case. Thousands of
// rows are asked for each frame, so that ASCII is not copied.
func hasFolded(text, word string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			return strings.Contains(strings.ToLower(text), word)
		case len(text)-i < len(word):
			continue // Only to see whether all is ASCII: a capital may be longer than its small letter.
		case foldedPrefix(text[i:], word):
			return true
		}
	}
	return word == ""
}

// foldedPrefix says that a text begins with a word in lower case.
func foldedPrefix(text, word string) bool {
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// handle asks for a filter, or clears it.
func (f *filter) handle(k tea.KeyPressMsg) (*question, bool) {
	switch {
	case matches(k, keyFilter):
		return &question{label: "/", text: f.text, changed: f.set}, true
	case matches(k, keyClear) && f.text != "":
		f.set("")
		return nil, true
	}
	return nil, false
}

// keys are those it knows now.
func (f *filter) keys() []binding {
	if f.text == "" {
		return []binding{keyFilter}
	}
	return []binding{keyFilter, keyClear}
}

// line tells what is chosen; nil without a filter.
func (f *filter) line(p *paint, shown, all int, what string) layout.Line {
	if f.text == "" {
		return nil
	}
	l := layout.Of(
		layout.Text(layout.Accent|layout.Bold, "/"+f.text), layout.Textf(layout.Plain, "  %d of %d %s", shown, all, what),
		layout.Text(layout.Muted, "  esc shows all"),
	)
	return p.Cut(l, p.Width)
}

// marked is a text with the words of the filter made visible.
func (f *filter) marked(text string, style layout.Style) layout.Line {
	lower := strings.ToLower(text)
	if len(f.have) == 0 || len(lower) != len(text) {
		return layout.Of(layout.Text(style, text))
	}
	var l layout.Line
	for from := 0; from < len(text); {
		at, n := nextWord(lower[from:], f.have)
		if at < 0 {
			return append(l, layout.Text(style, text[from:]))
		}
		if at > 0 {
			l = append(l, layout.Text(style, text[from:from+at]))
		}
		l = append(l, layout.Text(style|layout.Reverse, text[from+at:from+at+n]))
		from += at + n
	}
	return l
}

// nextWord is where the first of the words begins, and how long it is; -1 for nowhere.
func nextWord(text string, words []string) (at, length int) {
	at = -1
	for _, word := range words {
		if i := strings.Index(text, word); i >= 0 && (at < 0 || i < at || i == at && len(word) > length) {
			at, length = i, len(word)
		}
	}
	return at, length
}
