// Package wording puts numbers, times and counts into words, and shortens messages, for both plain text and screens.
package wording

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// beyond stands for the maximum Duration, which is how a difference of times of 292 years or more is represented.
const beyond = "292y+"

// Duration formats d in at most two units: 1m20s, 3h4m, 2d3h.
func Duration(d time.Duration) string {
	switch d {
	case math.MaxInt64:
		return beyond
	case math.MinInt64:
		return "-" + beyond
	}
	return Seconds(int64(d / time.Second))
}

// Seconds is like Duration, for a number of seconds that may exceed a time.Duration.
func Seconds(n int64) string {
	sign, positive := "", uint64(n)
	if n < 0 {
		sign, positive = "-", -positive // The negation of MinInt64 overflows.
	}
	count, unit, rest, smaller := units(positive)
	if rest == 0 {
		return fmt.Sprintf("%s%d%s", sign, count, unit)
	}
	return fmt.Sprintf("%s%d%s%d%s", sign, count, unit, rest, smaller)
}

// Age is Duration for a time that has passed: a negative one counts as 0, since clocks differ.
func Age(d time.Duration) string { return Duration(max(d, 0)) }

// ShortAge is Age in one unit: 1m, 3h, 2d.
func ShortAge(d time.Duration) string {
	if d == math.MaxInt64 {
		return beyond
	}
	n, unit, _, _ := units(uint64(max(0, d) / time.Second))
	return fmt.Sprintf("%d%s", n, unit)
}

// units returns the count of the largest unit in seconds, and the rest in the next smaller unit.
func units(seconds uint64) (n uint64, unit string, rest uint64, smaller string) {
	switch {
	case seconds < 60:
		return seconds, "s", 0, ""
	case seconds < 60*60:
		return seconds / 60, "m", seconds % 60, "s"
	case seconds < 24*60*60:
		return seconds / 3600, "h", seconds % 3600 / 60, "m"
	default:
		return seconds / 86400, "d", seconds % 86400 / 3600, "h"
	}
}

// Clock formats the time of day, with the date if it differs from now's.
func Clock(t, now time.Time, in *time.Location) string {
	t, now = t.In(in), now.In(in)
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Fill returns how many of width marks of a progress bar are full. It is at least 1 if have is positive, and width only if
// have reaches total.
func Fill(have, total int64, width int) int {
	if total <= 0 || have <= 0 || width <= 0 {
		return 0
	}
	full := int(min(have, total) * int64(width) / total)
	if full == 0 {
		full = 1
	}
	if full == width && have < total {
		full = width - 1
	}
	return full
}

// Percent formats have/total as a rounded percentage. Only zero is "0%", only a complete total is "100%", and less than half
// of 1% is "<1%".
func Percent(have, total int64) string {
	switch {
	case have <= 0 || total <= 0:
		return "0%"
	case have >= total:
		return "100%"
	case have*200 < total:
		return "<1%"
	}
	return fmt.Sprintf("%d%%", min(99, (have*100+total/2)/total))
}

// Plural formats a count with its noun: "1 pod" or "2 pods".
func Plural[T integer](n T, one, many string) string { return Count(n, Form(n, one, many)) }

// Form returns the form of a noun, a verb or a clause that agrees with a count.
func Form[T integer](n T, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Count formats a count with a word: "3 failed" or "2,000 failed".
func Count[T integer](n T, what string) string { return Thousands(n) + " " + what }

// Of formats a part of a total: "3 of 2,000".
func Of[T integer](n, all T) string { return Thousands(n) + " of " + Thousands(all) }

// Join joins the parts that are not empty.
func Join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "" }), separator)
}

// Sentence capitalizes the first letter, unless the text starts with a name such as backoffLimit.
func Sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || strings.IndexFunc(strings.TrimRight(first, ",:;"), func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

type integer interface{ ~int | ~int32 | ~int64 }

// Thousands formats a count with commas: 100,000. Numbers that identify an object, such as an index, are formatted without
// commas.
func Thousands[T integer](n T) string { return string(AppendThousands(nil, n)) }

// AppendThousands appends the result of Thousands to text.
func AppendThousands[T integer](text []byte, n T) []byte {
	from := len(text)
	text = strconv.AppendInt(text, int64(n), 10)
	for at := len(text) - 3; at > from && text[at-1] != '-'; at -= 3 {
		text = slices.Insert(text, at, ',')
	}
	return text
}

// Enumerate returns "1, 2 or 3".
func Enumerate(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}

// EnumerateFew returns "1, 2 and 3"; of more than four words, the first three and the number of others.
func EnumerateFew(words []string) string {
	if len(words) > 4 {
		words = append(slices.Clone(words[:3]), strconv.Itoa(len(words)-3)+" more")
	}
	return Enumerate(words, "and")
}

// Quoted puts a text from the cluster in quotes, unless it is empty.
func Quoted(text string) string { return around("“", strings.TrimSpace(text), "”") }

// InBrackets returns " (text)", or "" for an empty text.
func InBrackets(text string) string { return around(" (", text, ")") }

func around(start, text, end string) string {
	if text == "" {
		return ""
	}
	return start + text + end
}

// Insert replaces keys of a template, such as {name}, by values: pairs are a key and its value each. Values may contain anything, also
// keys.
func Insert(template string, pairs ...string) string {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		template = template[len(before):]
		for i := 0; ; i += 2 {
			if i == len(pairs) {
				b.WriteByte('{')
				template = template[1:]
				break
			}
			if rest, ok := strings.CutPrefix(template, pairs[i]); ok {
				b.WriteString(pairs[i+1])
				template = rest
				break
			}
		}
	}
}
