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

// colors are the colors of a role by background.
type colors struct{ dark, light, unknown color.Color }

func colorOf(b Background, role Style) color.Color {
	c := colorsOf(role)
	switch b {
	case Dark:
		return c.dark
	case Light:
		return c.light
	case Unknown:
		return c.unknown
	}
	return nil
}

func colorsOf(role Style) colors {
	switch role {
	case Muted: // faint if the background is unknown
		return colors{lipgloss.Color("#8b949e"), lipgloss.Color("#57606a"), nil}
	case Good:
		return colors{lipgloss.Color("#3fb950"), lipgloss.Color("#116329"), lipgloss.Green}
	case Bad:
		return colors{lipgloss.Color("#ff7b72"), lipgloss.Color("#cf222e"), lipgloss.Red}
	case Warn:
		return colors{lipgloss.Color("#e3b341"), lipgloss.Color("#7d4e00"), lipgloss.Yellow}
	case Accent:
		return colors{lipgloss.Color("#56d4dd"), lipgloss.Color("#0b6e75"), lipgloss.Cyan}
	case Info:
		return colors{lipgloss.Color("#79c0ff"), lipgloss.Color("#0550ae"), lipgloss.Blue}
	case Special:
		return colors{lipgloss.Color("#d2a8ff"), lipgloss.Color("#8250df"), lipgloss.Magenta}
	}
	return colors{}
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
