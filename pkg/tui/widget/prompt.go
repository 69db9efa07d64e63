package widget

import (
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// maxAnswer is the maximum length of an answer, in characters.
const maxAnswer = 256

// Question is a prompt in the last line, such as for a filter.
type Question struct {
	Label string
	Text  string
	// Changed is called with the text after each key, and with the original text if the prompt is canceled.
	Changed func(string)
	// Answered is called with the final text, and may return a notice; nil if Changed suffices.
	Answered func(string) (notice string)
}

// Prompt is a Question that is being answered.
type Prompt struct {
	*Question
	before string
	input  textinput.Model
}

// NewPrompt returns a Prompt for a Question.
func NewPrompt(q *Question) *Prompt {
	input := textinput.New()
	input.CharLimit = maxAnswer
	input.SetValue(q.Text)
	input.CursorEnd()
	input.Focus() // The command that it returns makes the cursor blink; ours does not.
	return &Prompt{Question: q, before: q.Text, input: input}
}

// Key edits the answer. At the end, it returns true, and a notice about the answer, if any.
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

// Insert inserts a text at the cursor.
func (p *Prompt) Insert(text string) {
	before, behind := p.halves()
	p.input.SetValue(before + text + behind)
	p.input.SetCursor(len([]rune(before)) + len([]rune(text)))
	p.change(p.input.Value())
}

// halves returns the text before the cursor, and the rest.
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

// Line returns the prompt with a block cursor, which is always visible: the start of a long answer is cut.
func (p *Prompt) Line(width int, ellipsis string) layout.Line {
	before, behind := p.halves()
	under, rest := " ", ""
	if behind != "" {
		_, size := utf8.DecodeRuneInString(behind)
		under, rest = behind[:size], behind[size:]
	}
	label, cursor := layout.Text(layout.Accent|layout.Bold, p.Label), layout.Text(layout.Reverse, under)
	room := width - layout.Of(label, cursor).Width()
	shown := layout.Text(layout.Plain, before)
	for len(before) > 0 && layout.Of(shown).Width() > room {
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
		shown = layout.Text(layout.Plain, ellipsis+before)
	}
	return layout.Of(label, shown, cursor, layout.Text(layout.Plain, rest))
}
