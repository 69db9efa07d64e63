// Package phrase has the building blocks of the messages of all checks: lists of words, and parts of a manifest.
package phrase

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Or returns "A", "A or B", "A, B or C".
func Or(words []string) string { return list(words, "or") }

// And returns "A", "A and B", "A, B and C"; of more than four words, the first three and the number of others.
func And(words []string) string {
	if len(words) > 4 {
		words = append(slices.Clone(words[:3]), strconv.Itoa(len(words)-3)+" more")
	}
	return list(words, "and")
}

func list(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Shorten returns at most the first characters of a text, up to most, with an ellipsis if it is cut.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Last returns the last name in a path, with its index.
func Last(path *field.Path) string {
	text := path.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}
