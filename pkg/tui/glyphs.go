package tui

import "github.com/batchjob-dev/kubectl-batchjob/pkg/explain"

// glyphs are the marks that stand beside words and colours.
type glyphs struct {
	good, bad, warn, running, paused, ending string
	// decided marks what decided the Job's fate, cursor the chosen line.
	decided, cursor    string
	barFull, barEmpty  string
	rule, ellipsis     string
	dot, into, quote   string
	up, down, separate string
	more               string
}

func newGlyphs(ascii bool) glyphs {
	if ascii {
		return glyphs{
			good: "+", bad: "x", warn: "!", running: ">", paused: "=", ending: "~", decided: "<", cursor: ">",
			barFull: "#", barEmpty: ".", rule: "-", ellipsis: "..", dot: "-", into: ">", quote: "|", up: "^", down: "v", separate: "|", more: "...",
		}
	}
	return glyphs{
		good: "✓", bad: "✗", warn: "!", running: "▶", paused: "‖", ending: "…", decided: "◀", cursor: "▌",
		barFull: "█", barEmpty: "░", rule: "─", ellipsis: "…", dot: "·", into: "›", quote: "│", up: "▲", down: "▼", separate: "│", more: "…",
	}
}

// fate is the mark and the style of a Job's state.
func (g *glyphs) fate(f explain.Fate, stalled, suspended bool) (mark string, style styleOf) {
	switch {
	case f == explain.FateComplete:
		return g.good, styleGood
	case f == explain.FateFailed:
		return g.bad, styleBad
	case f == explain.FateFailing:
		return g.ending, styleBad
	case f == explain.FateSucceeding:
		return g.ending, styleGood
	case suspended:
		return g.paused, styleWarn
	case stalled:
		return g.warn, styleWarn
	}
	return g.running, styleInfo
}
