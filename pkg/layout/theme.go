package layout

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Style is a role, which gives the colour, with attributes.
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

// Background says what the terminal's looks like.
type Background uint8

// The backgrounds. Colourless is for terminals without colours: attributes remain.
const (
	Dark Background = iota
	Light
	Colourless
)

// Theme is how styles look.
type Theme struct {
	// open are the sequences that begin a style; each ends with reset.
	open map[Style]string
}

// reset ends every style.
const reset = "\x1b[m"

// NewTheme returns that for a background. The colours are chosen for a contrast of at least
// 4.5 to 1 against black or white; a terminal with fewer colours shows the nearest it has.
func NewTheme(b Background) *Theme {
	t := &Theme{open: map[Style]string{}}
	for role := range roles {
		for attributes := Style(0); attributes < attributeEnd; attributes += Bold {
			t.open[role|attributes] = opening(look(b, role, attributes))
		}
	}
	return t
}

// opening is what Lip Gloss puts before a text.
func opening(s lipgloss.Style) string {
	const text = "x"
	before, _, _ := strings.Cut(s.Render(text), text)
	return before
}

func look(b Background, role, attributes Style) lipgloss.Style {
	s := lipgloss.NewStyle()
	if c := colourOf(b, role); c != nil {
		s = s.Foreground(c)
	}
	if b == Colourless {
		switch role {
		case Muted:
			s = s.Faint(true)
		case Bad:
			s = s.Bold(true)
		}
	}
	if attributes&Bold != 0 {
		s = s.Bold(true)
	}
	if attributes&Reverse != 0 {
		s = s.Reverse(true)
	}
	if attributes&Underline != 0 {
		s = s.Underline(true)
	}
	return s
}

func colourOf(b Background, role Style) color.Color {
	var dark, light string
	switch role {
	case Muted:
		dark, light = "#8b949e", "#57606a"
	case Good:
		dark, light = "#3fb950", "#116329"
	case Bad:
		dark, light = "#ff7b72", "#cf222e"
	case Warn:
		dark, light = "#e3b341", "#7d4e00"
	case Accent:
		dark, light = "#56d4dd", "#0b6e75"
	case Info:
		dark, light = "#79c0ff", "#0550ae"
	case Special:
		dark, light = "#d2a8ff", "#8250df"
	}
	switch {
	case dark == "" || b == Colourless:
		return nil
	case b == Light:
		return lipgloss.Color(light)
	}
	return lipgloss.Color(dark)
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

// render writes neighbours of one style as one.
func (t *Theme) render(b *strings.Builder, l Line) {
	for i := 0; i < len(l); {
		style := l[i].style
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
