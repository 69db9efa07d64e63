package layout

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Style is a role, which determines the color, combined with attributes.
type Style uint16

// The roles.
const (
	Plain Style = iota
	// Muted is for text that explains other text.
	Muted
	Good
	Bad
	Warn
	// Accent is for names, such as names of rules, and Info for pods and Jobs that run.
	Accent
	Info
	// Special is for unusual states, such as terminating pods, retries and replays.
	Special
	roles
)

// The attributes, to combine with a role.
const (
	Bold Style = 1 << (8 + iota)
	Reverse
	Underline
	attributeEnd
)

// Background is the background of the terminal.
type Background uint8

// The backgrounds. Unknown uses the 16 colors that a terminal makes readable on its own background. Colorless is for
// terminals without colors: only attributes remain.
const (
	Dark Background = iota
	Light
	Unknown
	Colorless
)

// Theme maps styles to terminal sequences; the zero Theme has no sequences.
type Theme struct {
	// open maps each style to the sequence that begins it; reset ends it.
	open map[Style]string
}

// reset ends every style.
const reset = "\x1b[m"

// NewTheme returns the Theme for a background. The colors have a contrast of at least 4.5 to 1 against black or white;
// a terminal with fewer colors shows the nearest ones.
func NewTheme(b Background) *Theme {
	t := &Theme{open: map[Style]string{}}
	for role := range roles {
		for attributes := Style(0); attributes < attributeEnd; attributes += Bold {
			t.open[role|attributes] = opening(look(b, role, attributes))
		}
	}
	return t
}

// opening returns the sequence that Lip Gloss writes before a text.
func opening(s lipgloss.Style) string {
	const text = "x"
	before, _, _ := strings.Cut(s.Render(text), text)
	return before
}

func look(b Background, role, attributes Style) lipgloss.Style {
	s := lipgloss.NewStyle().
		Bold(attributes&Bold != 0 || role == Bad && b == Colorless).
		Faint(role == Muted && (b == Colorless || b == Unknown)).
		Reverse(attributes&Reverse != 0).
		Underline(attributes&Underline != 0)
	if c := colorOf(b, role); c != nil {
		s = s.Foreground(c)
	}
	return s
}

// colorOf returns the color of a role, nil for none.
func colorOf(b Background, role Style) color.Color {
	if b == Colorless {
		return nil
	}
	hex := lipgloss.Color
	return [roles][Colorless]color.Color{
		Plain:   {},
		Muted:   {Dark: hex("#8b949e"), Light: hex("#57606a")}, // faint if the background is unknown
		Good:    {Dark: hex("#3fb950"), Light: hex("#116329"), Unknown: lipgloss.Green},
		Bad:     {Dark: hex("#ff7b72"), Light: hex("#cf222e"), Unknown: lipgloss.Red},
		Warn:    {Dark: hex("#e3b341"), Light: hex("#7d4e00"), Unknown: lipgloss.Yellow},
		Accent:  {Dark: hex("#56d4dd"), Light: hex("#0b6e75"), Unknown: lipgloss.Cyan},
		Info:    {Dark: hex("#79c0ff"), Light: hex("#0550ae"), Unknown: lipgloss.Blue},
		Special: {Dark: hex("#d2a8ff"), Light: hex("#8250df"), Unknown: lipgloss.Magenta},
	}[role][b]
}

// Render returns the line with the terminal sequences of its styles.
func (t *Theme) Render(l Line) string {
	var b strings.Builder
	t.render(&b, l)
	return b.String()
}

// RenderAll renders lines, separated by newlines.
func (t *Theme) RenderAll(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.render(&b, l)
	}
	return b.String()
}

// render writes adjacent spans of the same style with one sequence.
func (t *Theme) render(b *strings.Builder, l Line) {
	for i := 0; i < len(l); {
		style := l[i].style
		if l[i].text == "" {
			i++
			continue
		}
		open := t.open[style]
		b.WriteString(open)
		for ; i < len(l) && l[i].style == style; i++ {
			b.WriteString(l[i].text)
		}
		if open != "" {
			b.WriteString(reset)
		}
	}
}
