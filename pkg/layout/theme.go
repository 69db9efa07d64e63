package layout

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Style is a role, which gives the color, with attributes.
type Style uint16

// The roles.
const (
	Plain Style = iota
	// Muted is for what explains something else.
	Muted
	Good
	Bad
	Warn
	// Accent is for names, such as those of rules, and Info for what runs.
	Accent
	Info
	// Special is for what happens to pods from outside: terminating.
	Special
	roles
)

// The attributes, which are added to a role.
const (
	Bold Style = 1 << (8 + iota)
	Reverse
	Underline
	attributeEnd
)

// Background is what the terminal's looks like.
type Background uint8

// The backgrounds. Unknown uses the 16 colors that a terminal makes readable on its own
// background. Colorless is for terminals without colors: only attributes remain.
const (
	Dark Background = iota
	Light
	Unknown
	Colorless
)

// Theme is how styles look; the zero Theme has none.
type Theme struct {
	// open are the sequences that begin a style; each ends with reset.
	open map[Style]string
}

// reset ends every style.
const reset = "\x1b[m"

// NewTheme returns that for a background. The colors are chosen for a contrast of at least
// 4.5 to 1 against black or white; a terminal with fewer colors shows the nearest it has.
func NewTheme(b Background) *Theme {
	t := &Theme{open: map[Style]string{}}
	for role := range roles {
		for attributes := Style(0); attributes < attributeEnd; attributes += Bold {
			t.open[role|attributes] = opening(look(b, role, attributes))
		}
	}
	return t
}

// opening is the sequence that Lip Gloss puts before a text.
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

// colors are those of a role on the backgrounds that have colors.
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
	case Muted: // which is faint where the background is not known
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

// Render is the line with the sequences of its styles.
func (t *Theme) Render(l Line) string {
	var b strings.Builder
	t.render(&b, l)
	return b.String()
}

// RenderAll joins lines by newlines.
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

// render writes neighbors of one style as one.
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
