package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// maxAnswer is how long an answer may be.
const maxAnswer = 256

// prompt is a question in the last line, while it is answered.
type prompt struct {
	*question
	before string
	input  textinput.Model
}

func newPrompt(q *question) *prompt {
	input := textinput.New()
	input.CharLimit = maxAnswer
	input.SetValue(q.text)
	input.CursorEnd()
	input.Focus() // The command it returns makes a cursor blink; ours does not.
	return &prompt{question: q, before: q.text, input: input}
}

// answer gives a key to the question.
func (m *Model) answer(k tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	switch k.String() {
	case "esc":
		p.change(p.before)
		m.prompt = nil
		return nil
	case "enter":
		m.prompt = nil
		if p.answered != nil {
			return m.act(p.answered(p.input.Value()))
		}
		return nil
	}
	p.input, _ = p.input.Update(k)
	p.change(p.input.Value())
	return nil
}

func (p *prompt) insert(text string) {
	p.input.SetValue(p.input.Value() + text)
	p.input.CursorEnd()
	p.change(p.input.Value())
}

func (p *prompt) change(text string) {
	if p.changed != nil {
		p.changed(text)
	}
}

// line is the question with a block for the cursor.
func (p *prompt) line() canvas.Line {
	text := []rune(p.input.Value())
	at := min(p.input.Position(), len(text))
	l := canvas.Of(canvas.Text(styleAccent|bold, p.label), canvas.Text(stylePlain, string(text[:at])))
	under, rest := " ", ""
	if at < len(text) {
		under, rest = string(text[at]), string(text[at+1:])
	}
	return append(l, canvas.Text(reverse, under), canvas.Text(stylePlain, rest))
}
