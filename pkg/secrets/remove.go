// Package secrets finds credentials in texts, such as logs, by their known forms and by the names before them.
package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// Kinds of secrets.
const (
	// OfCommand is an argument of a known program.
	OfCommand = "password of a command"
	// ofName is a value after the name of a secret.
	ofName = "named secret"
)

// Remove returns a text of a program with a mark in place of each secret. It keeps words after a name that ends a sentence, such as
// "cannot find the revision identified by 'a1'": they may be the cause.
func Remove(text string) string {
	spans := slices.DeleteFunc(In(text), func(s Span) bool { return s.What == ofName && !isAssigned(text[:s.From]) })
	return Replace(text, spans, func(s Span) string { return Mark(s.What) })
}

// isAssigned reports whether a value follows "=", or the name of a field of JSON.
func isAssigned(before string) bool {
	bare := strings.TrimRight(before, `\"'`)
	return strings.HasSuffix(bare, "=") || bare != before && strings.HasSuffix(strings.TrimRight(bare, " "), ":")
}

// RemoveFromLines returns lines of a log with a mark in place of each secret.
func RemoveFromLines(lines []string) []string {
	text := strings.Join(lines, "\n")
	if clean := Remove(text); clean != text {
		return strings.Split(clean, "\n")
	}
	return lines
}

// Mark returns what stands in place of a secret.
func Mark(what string) string { return "[removed: " + what + "]" }

// In returns the positions of known forms of secrets.
func In(text string) (spans []Span) {
	lower := strings.ToLower(text)
	for i := range secrets {
		spans = append(spans, secrets[i].find(text, lower)...)
	}
	spans = append(spans, inCommands(text, lower)...)
	if strings.Contains(text, "\n") {
		spans = append(spans, wrapped(text)...)
	}
	return spans
}

// Replace replaces spans of a text by marks. If spans overlap, the first one in the list determines the description.
func Replace(text string, spans []Span, mark func(Span) string) string {
	order := make([]int, len(spans)) // positions in spans, by where these begin
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spans[a].From, spans[b].From) })
	var merged []Span
	first := 0 // the position in spans of the description of the last of merged
	for _, i := range order {
		s, last := spans[i], len(merged)-1
		switch {
		case s.From == s.To:
		case last < 0 || merged[last].To <= s.From:
			merged, first = append(merged, s), i
		default:
			if i < first {
				first, merged[last].What, merged[last].Aliased = i, s.What, s.Aliased
			}
			merged[last].To = max(merged[last].To, s.To)
		}
	}
	var out strings.Builder
	end := 0
	for _, s := range merged {
		out.WriteString(text[end:s.From])
		out.WriteString(mark(s))
		end = s.To
	}
	return out.String() + text[end:]
}

// wrapped returns the positions of secrets that are broken across lines.
func wrapped(text string) (spans []Span) {
	joined := strings.ReplaceAll(text, "\n", "")
	lower := strings.ToLower(joined)
	var ends []int // positions in joined at which lines end
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i-len(ends))
		}
	}
	for i := range secrets {
		if !secrets[i].wraps {
			continue
		}
		for _, m := range secrets[i].find(joined, lower) {
			first, _ := slices.BinarySearch(ends, m.From+1) // the number of lines that end before it
			last, _ := slices.BinarySearch(ends, m.To)
			if first < last {
				spans = append(spans, Span{From: m.From + first, To: m.To + last, What: m.What})
			}
		}
	}
	return spans
}
