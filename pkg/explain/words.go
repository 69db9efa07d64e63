package explain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// age is a duration in at most two units: "1m20s", "3d4h".
func age(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d.Truncate(time.Second), 0) // clocks differ
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return inUnits(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return inUnits(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	}
	return inUnits(d/day, "d", d%day/time.Hour, "h")
}

// inUnits leaves out a second unit of 0.
func inUnits(n time.Duration, unit string, rest time.Duration, smaller string) string {
	if rest == 0 {
		return fmt.Sprintf("%d%s", n, unit)
	}
	return fmt.Sprintf("%d%s%d%s", n, unit, rest, smaller)
}

func seconds(n int64) string { return age(time.Duration(n) * time.Second) }

// times is "1 pod" or "2 pods".
func times(n int32, one, many string) string {
	return fmt.Sprintf("%d %s", n, plural(int(n), one, many))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// enumerate is "1, 2 or 3".
func enumerate(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}

// joined leaves out empty parts.
func joined(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// quoted puts a text of the cluster into a sentence.
func quoted(text string) string { return "“" + strings.TrimSpace(text) + "”" }

// upperFirst begins a sentence with text.
func upperFirst(text string) string { return withFirst(text, unicode.ToUpper) }

// lowerFirst puts a sentence behind a semicolon.
func lowerFirst(text string) string { return withFirst(text, unicode.ToLower) }

func withFirst(text string, change func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 || r == utf8.RuneError {
		return text
	}
	return string(change(r)) + text[size:]
}
