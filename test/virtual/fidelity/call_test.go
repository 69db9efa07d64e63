package fidelity

import (
	"fmt"
	"strings"
)

// call is one API call, as a line of text: "status job1 active=-1 condition=Failed:True".
type call struct {
	verb, object string
	args         []arg
}

// arg is an argument of a call; several may have the same key.
type arg struct{ key, value string }

func (c call) String() string {
	words := []string{c.verb, c.object}
	for _, a := range c.args {
		words = append(words, a.key+"="+a.value)
	}
	return strings.Join(words, " ")
}

// has reports whether one of the arguments is key=value.
func (c call) has(key, value string) bool {
	for _, a := range c.args {
		if a == (arg{key, value}) {
			return true
		}
	}
	return false
}

// parseCalls is the inverse of String, with one call per line. It skips empty lines and lines that begin with #.
func parseCalls(text string) ([]call, error) {
	var calls []call
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("%q: want a verb, an object and arguments", line)
		}
		c := call{verb: words[0], object: words[1]}
		for _, word := range words[2:] {
			key, value, found := strings.Cut(word, "=")
			if !found {
				return nil, fmt.Errorf("%q: %q is not key=value", line, word)
			}
			c.args = append(c.args, arg{key, value})
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func format(calls []call) string {
	var text strings.Builder
	for _, c := range calls {
		fmt.Fprintln(&text, c)
	}
	return text.String()
}
