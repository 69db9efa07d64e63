package widget

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Filter selects rows or lines that contain all of its words, ignoring case, and none of the words after "!".
type Filter struct {
	Text       string
	have, lack []string
	// ByRegexp makes the text a regular expression, which ignores case: the filter selects what matches it, or after "!" what
	// does not. problem is why the text is none; then the filter selects everything.
	ByRegexp bool
	pattern  *regexp.Regexp
	inverted bool
	problem  string
}

// Set sets the filter to the words of a text, or to its regular expression.
func (f *Filter) Set(text string) {
	*f = Filter{Text: text, ByRegexp: f.ByRegexp}
	if f.ByRegexp {
		f.compile(text)
		return
	}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		switch inverted, is := strings.CutPrefix(word, "!"); {
		case !is:
			f.have = append(f.have, word)
		case inverted != "":
			f.lack = append(f.lack, inverted)
		}
	}
}

// compile sets the pattern, or the problem.
func (f *Filter) compile(text string) {
	expression, inverted := strings.CutPrefix(text, "!")
	if expression == "" {
		return
	}
	pattern, err := regexp.Compile("(?i)" + expression)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		f.problem = wrong.Code.String()
		return
	}
	f.pattern, f.inverted = pattern, inverted
}

// IsSet reports whether there are words, or a regular expression.
func (f *Filter) IsSet() bool { return len(f.have)+len(f.lack) > 0 || f.pattern != nil }

// Matches reports whether a row with these texts matches: each word may be in any of the texts.
func (f *Filter) Matches(texts ...string) bool {
	if f.pattern != nil {
		return slices.ContainsFunc(texts, f.pattern.MatchString) != f.inverted
	}
	isAbsent := func(word string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return hasFolded(text, word) })
	}
	isPresent := func(word string) bool { return !isAbsent(word) }
	return !slices.ContainsFunc(f.have, isAbsent) && !slices.ContainsFunc(f.lack, isPresent)
}

// hasFolded reports whether a text contains a lower-case word, ignoring case. It is called for thousands of rows in a frame,
// so it does not copy ASCII.
func hasFolded(text, word string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			return strings.Contains(strings.ToLower(text), word)
		case len(text)-i < len(word):
			continue // Only checks whether the rest is ASCII: a capital letter may be longer than its small letter.
		case strings.EqualFold(text[i:i+len(word)], word):
			return true
		}
	}
	return word == ""
}

// Key returns a Question for the filter, or clears the filter.
func (f *Filter) Key(k tea.KeyPressMsg) (*Question, bool) {
	switch {
	case Matches(k, KeyFilter):
		return &Question{Label: "/", Text: f.Text, Changed: f.Set}, true
	case Matches(k, keyClear) && f.Text != "":
		f.Set("")
		return nil, true
	}
	return nil, false
}

// Keys returns the keys that the filter uses now.
func (f *Filter) Keys() []Binding {
	if f.Text == "" {
		return []Binding{KeyFilter}
	}
	return []Binding{KeyFilter, keyClear}
}

// Line returns the filter, and how many of all rows it shows; nil without a filter.
func (f *Filter) Line(p *Paint, shown, all int, what string) layout.Line {
	return f.Note(p, layout.Text(layout.Plain, wording.Of(shown, all)+" "+what), layout.Text(layout.Muted, "  esc shows all"))
}

// Note returns the filter with a note, or the problem of its regular expression; nil without a filter.
func (f *Filter) Note(p *Paint, note ...layout.Span) layout.Line {
	if f.Text == "" {
		return nil
	}
	if f.problem != "" {
		note = layout.Of(layout.Text(layout.Warn, "no regular expression: "+f.problem))
	}
	return p.Cut(append(layout.Of(layout.Text(layout.Accent|layout.Bold, "/"+f.Text), layout.Blank(2)), note...), p.Width)
}

// Highlight returns a text with the words of the filter, or the matches of its regular expression, in reverse video.
func (f *Filter) Highlight(text string, style layout.Style) layout.Line {
	var l layout.Line
	from := 0
	for _, match := range f.find(text) {
		if match[0] > from {
			l = append(l, layout.Text(style, text[from:match[0]]))
		}
		if match[1] > match[0] {
			l = append(l, layout.Text(style|layout.Reverse, text[match[0]:match[1]]))
		}
		from = match[1]
	}
	if from < len(text) || l == nil {
		l = append(l, layout.Text(style, text[from:]))
	}
	return l
}

// find returns the begins and ends of what the filter highlights.
func (f *Filter) find(text string) (found [][]int) {
	if f.pattern != nil && !f.inverted {
		return f.pattern.FindAllStringIndex(text, -1)
	}
	lower := strings.ToLower(text)
	if len(f.have) == 0 || len(lower) != len(text) {
		return nil
	}
	for from := 0; from < len(text); {
		at, n := nextWord(lower[from:], f.have)
		if at < 0 {
			break
		}
		found = append(found, []int{from + at, from + at + n})
		from += at + n
	}
	return found
}

// nextWord returns the position and length of the first of the words in the text; -1 if there is none.
func nextWord(text string, words []string) (at, length int) {
	at = -1
	for _, word := range words {
		if i := strings.Index(text, word); i >= 0 && (at < 0 || i < at || i == at && len(word) > length) {
			at, length = i, len(word)
		}
	}
	return at, length
}
