package widget

import (
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// maxAnswer is how much may be added to the text of a question.
const maxAnswer = 256

// Question is asked in the last line, such as for a filter.
type Question struct {
	Label string
	Text  string
	// Changed gets the text at each key, and what was there before if the question is
	// dropped.
	Changed func(string)
	// Answered gets the text at the end, and may return a notice; nil if changed was all.
	Answered func(string) (notice string)
}

// Prompt is a question in the last line, while it is answered.
type Prompt struct {
	*Question
	before string
	input  textinput.Model
}

// NewPrompt asks a Question.
func NewPrompt(q *Question) *Prompt {
	input := textinput.New()
	input.CharLimit = len(q.Text) + maxAnswer
	input.SetValue(q.Text)
	input.CursorEnd()
	input.Focus() // The command it returns makes a cursor blink; ours does not.
	return &Prompt{Question: q, before: q.Text, input: input}
}

// Key edits the answer. At the end, it returns true, and what there is to say about the answer.
func (p *Prompt) Key(k tea.KeyPressMsg) (done bool, notice string) {
	switch k.String() {
	case "esc":
		p.change(p.before)
		return true, ""
	case "enter":
		if p.Answered != nil {
			notice = p.Answered(p.input.Value())
		}
		return true, notice
	}
	p.input, _ = p.input.Update(k)
	p.change(p.input.Value())
	return false, ""
}

// Value is the text.
func (p *Prompt) Value() string { return p.input.Value() }

// Insert puts a text where the cursor is.
func (p *Prompt) Insert(text string) {
	before, behind := p.halves()
	p.input.SetValue(before + text + behind)
	p.input.SetCursor(len([]rune(before)) + len([]rune(text)))
	p.change(p.input.Value())
}

// halves are the text before the cursor, and the rest.
func (p *Prompt) halves() (before, behind string) {
	text := []rune(p.input.Value())
	at := min(p.input.Position(), len(text))
	return string(text[:at]), string(text[at:])
}

func (p *Prompt) change(text string) {
	if p.Changed != nil {
		p.Changed(text)
	}
}

// Line is the question with a block for the cursor, which is always on the screen: the
// start of a long answer is left out.
func (p *Prompt) Line(width int, ellipsis string) layout.Line {
	before, behind := p.halves()
	under, rest := " ", ""
	if behind != "" {
		_, size := utf8.DecodeRuneInString(behind)
		under, rest = behind[:size], behind[size:]
	}
	label, cursor := layout.Text(layout.Accent|layout.Bold, p.Label), layout.Text(layout.Reverse, under)
	room := width - layout.Of(label, cursor).Width()
	if runes := []rune(before); len(runes) > width {
		before = string(runes[len(runes)-width:]) // The rest is never on the screen.
	}
	shown := layout.Text(layout.Plain, before)
	for len(before) > 0 && layout.Of(shown).Width() > room {
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
		shown = layout.Text(layout.Plain, ellipsis+before)
	}
	return layout.Of(label, shown, cursor, layout.Text(layout.Plain, rest))
}
