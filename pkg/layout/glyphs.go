package layout

import "strings"

// Glyphs are the symbols that accompany words and colors.
type Glyphs struct {
	Good, Bad, Warn, Running, Paused, Ending string
	// Decided marks the decision that determined the outcome of a Job, Cursor the selected line.
	Decided, Cursor string
	// Branch leads to the next link of a chain, Quote marks quoted lines.
	Branch, Quote     string
	BarFull, BarEmpty string
	Rule, Separate    string
	Dot, Into         string
	Up, Down          string
	// Ellipsis marks truncated text, in as few columns as possible; More marks omitted parts of a text.
	Ellipsis, More string
}

// NewGlyphs returns the symbols for a terminal with or without Unicode.
func NewGlyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{
			Good: "+", Bad: "x", Warn: "!", Running: "*", Paused: "=", Ending: "~", Decided: "<", Cursor: ">",
			Branch: "`- ", Quote: "|", BarFull: "#", BarEmpty: ".", Rule: "-", Separate: "|", Dot: "-", Into: ">", Up: "^", Down: "v",
			Ellipsis: "..", More: "...",
		}
	}
	return Glyphs{
		Good: "✓", Bad: "✗", Warn: "!", Running: "▶", Paused: "‖", Ending: "…", Decided: "◀", Cursor: "▌",
		Branch: "└─ ", Quote: "│", BarFull: "█", BarEmpty: "░", Rule: "─", Separate: "│", Dot: "·", Into: "›", Up: "▲", Down: "▼",
		Ellipsis: "…", More: "…",
	}
}

// ToASCII replaces typographic quotes, the ellipsis, × and ·.
func ToASCII(l Line) Line {
	out := make(Line, len(l))
	for i, s := range l {
		out[i] = s
		if !isASCII(s.text) {
			out[i] = Text(s.style, asciiMarks.Replace(s.text))
		}
	}
	return out
}

var asciiMarks = strings.NewReplacer("“", `"`, "”", `"`, "…", "...", "×", "x", "·", "-")
