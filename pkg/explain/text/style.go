package text

// Style is how a piece of text looks: the parameters of a terminal's SGR sequence, of the 16
// colours that each theme makes readable on its own background, or "" for none.
type Style string

// The styles, few as they are.
const (
	Plain Style = ""
	// Strong is for sentences that must be read, and for titles.
	Strong Style = "1"
	// Faint is for what explains something else.
	Faint Style = "2"
	Good  Style = "32"
	Bad   Style = "31"
	Warn  Style = "33"
	// Accent is for names, such as those of rules.
	Accent     Style = "36"
	GoodStrong Style = "1;32"
	BadStrong  Style = "1;31"
	WarnStrong Style = "1;33"
	// Command is for what can be typed.
	Command Style = "36"
)

const (
	sgrStart = "\x1b["
	sgrEnd   = "m"
	sgrReset = "\x1b[m"
)

// Render puts text, which must be safe for a terminal already, into the style.
func (s Style) Render(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return sgrStart + string(s) + sgrEnd + text + sgrReset
}

// Glyphs are the marks that stand beside words.
type Glyphs struct {
	Good, Bad, Warn, Running, Paused, Ending string
	// Decided marks the line that decided the rest.
	Decided string
	// Branch leads to the next link of a chain, Quote stands before quoted lines.
	Branch, Quote string
	Ellipsis      string
	BarFull       string
	BarEmpty      string
	// Dot stands between parts of a line.
	Dot string
}

// NewGlyphs returns those that a terminal can show.
func NewGlyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{
			Good: "+", Bad: "x", Warn: "!", Running: ">", Paused: "=", Ending: "~", Decided: "<",
			Branch: "`- ", Quote: "| ", Ellipsis: "...", BarFull: "#", BarEmpty: ".", Dot: "-",
		}
	}
	return Glyphs{
		Good: "✓", Bad: "✗", Warn: "!", Running: "▶", Paused: "‖", Ending: "…", Decided: "◀",
		Branch: "└─ ", Quote: "│ ", Ellipsis: "…", BarFull: "█", BarEmpty: "░", Dot: "·",
	}
}
